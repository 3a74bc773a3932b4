/**
 * Counts every request, by the pattern of its route and never by its path.
 * Proved by test/routes/service/metrics.test.ts and test/e2e/host/metrics.test.ts.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { AppEnv } from '../../env.ts';
import { isolate } from '../../metrics/isolate.ts';
import { count } from '../../metrics/tally.ts';

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
  count('gitveil_http_requests_total', { method, route, status: String(status) });
}
