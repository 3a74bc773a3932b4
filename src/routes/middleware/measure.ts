/**
 * Counts every request, by the pattern of its route and never by its path.
 * Proved by test/routes/service/metrics.test.ts and test/e2e/host/metrics.test.ts.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { isolate } from '../../metrics/isolate.ts';
import { count } from '../../metrics/tally.ts';
import { SECURITY_FORM } from '../../pages/remote-paths.ts';

/**
 * Paths about private reports. Their number and time are nobody's business, not even in a sum: few
 * are sent.
 */
const UNCOUNTED = REPOSITORY_PATH + SECURITY_FORM;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS']);

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
  if (route.startsWith(UNCOUNTED)) return;
  count('gitveil_http_requests_total', { method, route, status: String(status) });
}
