/**
 * Connects the parts of the Worker. An invalid configuration serves nothing, because a default
 * could cost a contributor their anonymity.
 * Proved by test/routes/service/health.test.ts and test/routes/unmatched.test.ts.
 */
import { Hono } from 'hono';
import { configOf } from './config/configured.ts';
import type { AppEnv, Env } from './env.ts';
import { loggerOf } from './log.ts';
import { measure } from './routes/middleware/measure.ts';
import { crossOrigin, onionLocation, securityHeaders } from './routes/middleware/browser-headers.ts';
import { refusePrefetch } from './routes/middleware/prefetch.ts';
import { admin } from './routes/moderation/admin.ts';
import { delayedReview } from './routes/moderation/delayed.ts';
import { appeals } from './routes/moderation/appeals.ts';
import { comments } from './routes/threads/comments.ts';
import { issues } from './routes/threads/issues.ts';
import { badges } from './routes/service/badges.ts';
import { delayedPageRoutes } from './routes/pages/delayed-page.ts';
import { documents } from './routes/pages/documents.ts';
import { frontPageRoute } from './routes/pages/front-page.ts';
import { forms } from './routes/forms/forms.ts';
import { releaseDelayed } from './routes/git/release-delayed.ts';
import { doors } from './routes/git/doors.ts';
import { git } from './routes/git/git.ts';
import { githubHook } from './routes/service/github-hook.ts';
import { health } from './routes/service/health.ts';
import { bodyRefused } from './routes/request/payload.ts';
import { openHttpFor } from './routes/request/outgoing.ts';
import { fewOpenBodies } from './routes/request/open-bodies.ts';
import { answerRefused, CANNOT_WRITE, refused } from './routes/request/refused.ts';
import { security } from './routes/security/report.ts';
import { metrics } from './routes/service/metrics.ts';
import { moderation } from './routes/moderation/moderation.ts';
import { operatorPageRoutes } from './routes/moderation/operator-page.ts';
import { openapi } from './routes/service/openapi.ts';
import { pullRequestPageRoute } from './routes/pages/pull-request-page.ts';
import { api, serviceKey } from './routes/service/api.ts';
import { unmatched } from './routes/unmatched.ts';
import { securityTxt } from './routes/service/security-txt.ts';
import { signingKey } from './routes/service/signing-key.ts';
import { scheduled } from './scheduled.ts';
import { isStorageFailure } from './storage-failure.ts';
import { BodyError } from './streams/body-error.ts';

const app = new Hono<AppEnv>();

app.use(measure);
app.use(securityHeaders);

app.use(async (c, next) => {
  const result = configOf(c.env);
  if (result.kind === 'invalid') {
    const problems = result.problems.map(({ variable, rule }) => `${variable} ${rule}`);
    return answerRefused(c, refused(500, `the service is not configured: ${problems.join('; ')}`));
  }
  // The client chooses the host of the address (RFC 9112, 3.2). Check it before the code below
  // parses the address.
  if (!URL.canParse(c.req.url)) return answerRefused(c, refused(400, 'the Host header is not valid'));
  c.set('config', result.config);
  c.set('logger', loggerOf(result.config));
  c.set('http', openHttpFor(c));
  return next();
});

app.use(refusePrefetch);
app.use(onionLocation);
app.use(fewOpenBodies);
app.route('/', crossOrigin);
app.route('/', serviceKey);
// In the order of the API's description.
mount(
  releaseDelayed,
  git,
  doors,
  comments,
  issues,
  security,
  moderation,
  appeals,
  api,
  badges,
  health,
  metrics,
);
mount(
  pullRequestPageRoute,
  delayedPageRoutes,
  frontPageRoute,
  documents,
  securityTxt,
  signingKey,
  githubHook,
  openapi(app),
);
mount(admin, operatorPageRoutes, delayedReview, forms);

function mount(...parts: readonly Hono<AppEnv>[]): void {
  for (const part of parts) app.route('/', part);
}

app.notFound(unmatched(app));

app.onError((error, c) => {
  if (error instanceof BodyError) return answerRefused(c, bodyRefused(error));
  c.var.logger.error('request failed', { error });
  if (isStorageFailure(error)) return answerRefused(c, CANNOT_WRITE);
  return answerRefused(c, refused(500, 'internal server error'));
});

export { ClientWindows } from './durable/clients/client-windows.ts';
export { DelayedPushes } from './durable/delayed-pushes/delayed-pushes.ts';
export { Guard } from './durable/guard/guard.ts';
export { HostAccount } from './durable/host-account/host-account.ts';
export { Identity } from './durable/identity/identity.ts';
export { NotificationFeed } from './durable/notification-feed/notification-feed.ts';
export { PendingPush } from './durable/pending-push/pending-push.ts';
export { PullRequest } from './durable/pull-request/pull-request.ts';
export { ServiceSecret } from './durable/service-secret.ts';
export { Spool } from './durable/spool/spool.ts';
export { Tally } from './durable/totals.ts';
export default { fetch: app.fetch, scheduled } satisfies ExportedHandler<Env>;
