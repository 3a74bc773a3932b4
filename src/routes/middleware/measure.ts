/**
 * Counts every request, by the pattern of its route and never by its path.
 * Proved by test/routes/service/metrics.test.ts and test/e2e/host/metrics.test.ts.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { AppEnv } from '../../env.ts';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import { isolate } from '../../metrics/isolate.ts';
import { count } from '../../metrics/tally.ts';

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS']);

type ActCounter = 'gitveil_comments_total' | 'gitveil_issues_total' | 'gitveil_reports_total';

/** What people do besides pushing, by route. */
const ACTS: Readonly<Record<string, ActCounter>> = {
  [`${REPOSITORY_PATH}/issues/:number/comments/anonymous`]: 'gitveil_comments_total',
  [`${REPOSITORY_PATH}/pulls/:number/comments/anonymous`]: 'gitveil_comments_total',
  [`${REPOSITORY_PATH}/issues/anonymous`]: 'gitveil_issues_total',
  '/v1/moderation/report': 'gitveil_reports_total',
};

export const measure: MiddlewareHandler<AppEnv> = async (c, next) => {
  isolate.requestStarted(Date.now());
  try {
    await next();
  } finally {
    isolate.requestEnded();
    countRequest(c);
  }
};

function countRequest(c: Context<AppEnv>): void {
  const { status } = c.res;
  const method = METHODS.has(c.req.method) ? c.req.method : 'other';
  const matched = routePath(c, -1);
  // Only middleware matched: the path or its method does not exist.
  const route = matched.endsWith('*') ? 'none' : matched;
  count('gitveil_http_requests_total', { method, route, status: String(status) });
  const act = ACTS[route];
  if (act !== undefined && method === 'POST') countAct(c, act, status);
}

/** Counts what a form has done; its other steps do nothing, and what is repeated was counted. */
export function countAct(c: Context<AppEnv>, act: ActCounter, status: number): void {
  const failure = status < 500 ? 'refused' : 'failed';
  if (!c.var.isRepeat) count(act, { outcome: status < 400 ? 'accepted' : failure });
}
