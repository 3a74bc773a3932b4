/** Answers requests without a route: an unknown path, or a method that the path does not accept (RFC 9110, 15.5.6). */
import type { Context, Hono } from 'hono';
import type { AppEnv } from '../env.ts';

export const unmatched =
  (app: Hono<AppEnv>) =>
  (c: Context<AppEnv>): Response => {
    const allowed = [
      ...(takes(app, 'GET', c.req.path) ? ['GET', 'HEAD'] : []),
      ...(takes(app, 'POST', c.req.path) ? ['POST'] : []),
    ];
    if (allowed.length === 0 || allowed.includes(c.req.method)) return c.json({ error: 'not found' }, 404);
    const methods = allowed.join(', ');
    return c.json({ error: `method not allowed; this path accepts ${methods}` }, 405, { Allow: methods });
  };

/** Middleware is registered for every method, a route for one. */
function takes(app: Hono<AppEnv>, method: 'GET' | 'POST', path: string): boolean {
  const [matches] = app.router.match(method, path);
  return matches.some(([[, route]]) => route.method === method);
}
