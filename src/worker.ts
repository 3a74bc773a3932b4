/**
 * The Worker: connects the parts, and does nothing else.
 *
 * The configuration is read once per isolate. If it is invalid, no request is served: defaults in place of the
 * operator's settings could cost a contributor their anonymity.
 */
import { Hono } from 'hono';
import { type Config, type ConfigResult, parseConfig } from './config.ts';
import type { AppEnv, Env } from './env.ts';
import { createLogger, type Logger } from './log.ts';
import { crossOrigin } from './middleware/cross-origin.ts';
import { measure } from './middleware/measure.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { serviceKey } from './middleware/service-key.ts';
import type { HostConfig } from './config/hosts.ts';
import { hostAccountOf } from './durable/host-access.ts';
import { feedName } from './durable/notification-feed.ts';
import { HttpClient } from './outgoing/http-client.ts';
import { admin } from './routes/moderation/admin.ts';
import { appeals } from './routes/moderation/appeals.ts';
import { comments } from './routes/threads/comments.ts';
import { badges } from './routes/service/badges.ts';
import { frontPage } from './routes/pages/front-page.ts';
import { docs } from './routes/pages/docs.ts';
import { forms } from './routes/forms/forms.ts';
import { git } from './routes/git/git.ts';
import { RememberingRouter } from './routes/remembering-router.ts';
import { health } from './routes/service/health.ts';
import { issues } from './routes/threads/issues.ts';
import { bodyRefusal } from './routes/request/json-body.ts';
import { metrics } from './routes/service/metrics.ts';
import { moderation } from './routes/moderation/moderation.ts';
import { openapi } from './routes/service/openapi.ts';
import { prStatus } from './routes/service/pr-status.ts';
import { pullRequestPage } from './routes/pages/pull-request-page.ts';
import { stats } from './routes/service/stats.ts';
import { status } from './routes/service/status.ts';
import { unmatched } from './routes/unmatched.ts';
import { BodyError } from './streams.ts';

const results = new WeakMap<Env, ConfigResult>();

const writeLine = (line: string): void => console.log(line);

/** The configuration of this isolate; its problems are logged when it is first read. */
function configOf(env: Env): ConfigResult {
  const known = results.get(env);
  if (known) return known;
  const result = parseConfig({ ...env });
  results.set(env, result);
  if (result.kind === 'invalid') {
    const logger = createLogger('json', writeLine);
    for (const { variable } of result.problems) logger.error('configuration is invalid', { variable });
  } else {
    const logger = loggerOf(result.config);
    for (const { variable } of result.warnings) logger.warn('configuration is incomplete', { variable });
  }
  return result;
}

const loggers = new WeakMap<Config, Logger>();

function loggerOf(config: Config): Logger {
  const logger = loggers.get(config) ?? createLogger(config.logFormat, writeLine);
  loggers.set(config, logger);
  return logger;
}

const app = new Hono<AppEnv>({ router: new RememberingRouter() });

app.use(measure);
app.use(securityHeaders);

app.use(async (c, next) => {
  const result = configOf(c.env);
  if (result.kind === 'invalid') {
    const problems = result.problems.map(({ variable, rule }) => `${variable} ${rule}`);
    return c.json({ error: `the service is not configured: ${problems.join('; ')}` }, 500);
  }
  c.set('config', result.config);
  c.set('logger', loggerOf(result.config));
  c.set('http', new HttpClient(result.config.outgoingFetchHosts));
  return next();
});

app.route('/', crossOrigin);
app.route('/', serviceKey);
app.route('/', health);
app.route('/', metrics);
app.route('/', openapi);
app.route('/', docs);
app.route('/', stats);
app.route('/', status);
app.route('/', admin);
app.route('/', prStatus);
app.route('/', pullRequestPage);
app.route('/', badges);
app.route('/', comments);
app.route('/', issues);
app.route('/', moderation);
app.route('/', appeals);
app.route('/', frontPage);
app.route('/', forms);
app.route('/', git);

app.notFound(unmatched(app));

app.onError((error, c) => {
  if (error instanceof BodyError) return bodyRefusal(c, error);
  c.var.logger.error('request failed', { error });
  return c.json({ error: 'internal server error' }, 500);
});

/** The configurations for which the service has looked for a secret of its own. */
const checkedForSecret = new WeakSet<Config>();

/** All pseudonyms depend on the secret, and the operator may not know that it has changed. */
async function warnOfTwoSecrets(env: Env, config: Config): Promise<void> {
  if (config.identitySecret === null || checkedForSecret.has(config)) return;
  const secret = env.SERVICE_SECRET.get(env.SERVICE_SECRET.idFromName('secret'));
  // If the object cannot be reached now, the next run asks again.
  const hasOwn = await secret.isMade().catch(() => null);
  if (hasOwn === null) return;
  checkedForSecret.add(config);
  if (hasOwn) loggerOf(config).warn(TWO_SECRETS, { variable: 'IDENTITY_SECRET' });
}

const TWO_SECRETS =
  'IDENTITY_SECRET is set, so the secret that the service created earlier is no longer used';

/** Runs on every cron trigger. */
async function scheduled({ scheduledTime }: ScheduledController, env: Env): Promise<void> {
  const result = configOf(env);
  if (result.kind === 'invalid') return;
  const { config } = result;
  await warnOfTwoSecrets(env, config);
  await Promise.all(config.hosts.map((host) => lookAfter(env, config, host, scheduledTime)));
}

/** One host that does not answer keeps no other one waiting. Without a bot account there is no feed to read. */
async function lookAfter(env: Env, config: Config, host: HostConfig, scheduledTime: number): Promise<void> {
  const feed = env.NOTIFICATION_FEED.get(env.NOTIFICATION_FEED.idFromName(feedName(host.key)));
  const work = [
    hostAccountOf(env, host).check(host.key),
    ...(host.token === null ? [] : [feed.run(host.key, scheduledTime)]),
  ];
  for (const done of await Promise.allSettled(work)) {
    if (done.status === 'fulfilled') continue;
    loggerOf(config).error('a code host could not be looked after', { error: done.reason });
  }
}

export { Guard } from './durable/guard.ts';
export { HostAccount } from './durable/host-account.ts';
export { Identity } from './durable/identity.ts';
export { NotificationFeed } from './durable/notification-feed.ts';
export { PendingPush } from './durable/pending-push.ts';
export { PullRequest } from './durable/pull-request.ts';
export { RateWindow } from './durable/rate-window.ts';
export { ServiceSecret } from './durable/service-secret.ts';
export { Tally } from './durable/tally.ts';
export default { fetch: app.fetch, scheduled } satisfies ExportedHandler<Env>;
