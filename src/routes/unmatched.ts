/** Answers requests without a route: an unknown path, or a method that the path does not accept (RFC 9110, 15.5.6). */
import type { Context, Hono } from 'hono';
import type { AppEnv } from '../env.ts';
import { answerRefused, refused } from './request/refused.ts';
import { prefersPage } from './request/repository.ts';

const NOT_FOUND = {
  ...refused(404, 'not found'),
  title: 'There is no such page',
  explanation: 'Correct the address, or begin at the front page: the name above leads there.',
};

export const unmatched =
  (app: Hono<AppEnv>) =>
  (c: Context<AppEnv>): Response | Promise<Response> => {
    const { path, method } = c.req;
    const allowed = [
      ...(takes(app, 'GET', path) ? ['GET', 'HEAD'] : []),
      ...(takes(app, 'POST', path) ? ['POST'] : []),
    ];
    const form = prefersPage(c) ? 'page' : 'json';
    if (allowed.length === 0 || allowed.includes(method)) {
      const shorter = path.replace(/(?<!\/)\/+$/, '');
      const isTooLong = form === 'page' && method === 'GET' && shorter !== path && takes(app, 'GET', shorter);
      return isTooLong ? c.redirect(shorter, 302) : answerRefused(c, NOT_FOUND, form);
    }
    const methods = allowed.join(', ');
    const error = `method not allowed; this path accepts ${methods}`;
    return answerRefused(c, refused(405, error, { Allow: methods }), form);
  };

/** Middleware is registered for every method, a route for one. */
function takes(app: Hono<AppEnv>, method: 'GET' | 'POST', path: string): boolean {
  const [matches] = app.router.match(method, path);
  return matches.some(([[, route]]) => route.method === method);
}
