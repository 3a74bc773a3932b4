/** Answers requests without a route: an unknown path, or a method that the path does not accept (RFC 9110, 15.5.6). */
import type { Context, Hono } from 'hono';
import type { AppEnv } from '../env.ts';
import { answerRefused, refused } from './request/refused.ts';

export const unmatched =
  (app: Hono<AppEnv>) =>
  (c: Context<AppEnv>): Response | Promise<Response> => {
    const allowed = [
      ...(takes(app, 'GET', c.req.path) ? ['GET', 'HEAD'] : []),
      ...(takes(app, 'POST', c.req.path) ? ['POST'] : []),
    ];
    if (allowed.length === 0 || allowed.includes(c.req.method)) {
      return answerRefused(c, refused(404, 'not found'));
    }
    const methods = allowed.join(', ');
    const error = `method not allowed; this path accepts ${methods}`;
    return answerRefused(c, refused(405, error, { Allow: methods }));
  };

/** Middleware is registered for every method, a route for one. */
function takes(app: Hono<AppEnv>, method: 'GET' | 'POST', path: string): boolean {
  const [matches] = app.router.match(method, path);
  return matches.some(([[, route]]) => route.method === method);
}
