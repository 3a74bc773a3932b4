/**
 * Answers requests without a route: an unknown path, or a method that the path does not accept (RFC
 * 9110, 15.5.6).
 */
import type { Context, Hono } from 'hono';
import type { Config } from '../config/config.ts';
import { hostNameOf } from '../config/hosts.ts';
import type { AppEnv } from '../env.ts';
import { parseRepositoryText, usualHost } from '../pages/commands.ts';
import { answerRefused, type Refused, refused } from './request/refused.ts';
import { prefersPage, unknownHost } from './request/repository.ts';

function notFound({ operatorContact, hosts }: Config, path: string): Refused {
  const report =
    operatorContact === null
      ? ''
      : ` If a link of this service led you here, tell the operator: ${operatorContact.text}`;
  const isRepository = parseRepositoryText(hostNameOf(hosts[0]) + path, hosts, '') !== null;
  return {
    ...refused(404, 'not found'),
    title: 'There is no such page',
    explanation: `Check the address, or start from the front page.${report}`,
    onward: isRepository ? `/v1/${usualHost(hosts).key}${path}` : null,
  };
}

export const unmatched =
  (app: Hono<AppEnv>) =>
  (c: Context<AppEnv>): Response | Promise<Response> => {
    const { path, method } = c.req;
    const allowed = takes(app, 'GET', path) ? ['GET', 'HEAD'] : [];
    if (takes(app, 'POST', path)) allowed.push('POST');
    const form = prefersPage(c) ? 'page' : 'json';
    // Somebody clones or pushes, and has left out `/v1/<host>` before the repository.
    if (allowed.length === 0 && path.endsWith('/info/refs')) return answerRefused(c, unknownHost(c), 'text');
    if (allowed.length === 0 || allowed.includes(method)) {
      const shorter = path.replace(/(?<!\/)\/+$/, '');
      const isTooLong = form === 'page' && method === 'GET' && shorter !== path && takes(app, 'GET', shorter);
      return isTooLong ? c.redirect(shorter, 302) : answerRefused(c, notFound(c.var.config, path), form);
    }
    const methods = allowed.join(', ');
    const error = `method not allowed; this path accepts ${methods}`;
    return answerRefused(c, refused(405, error, { Allow: methods }), form);
  };

/**
 * Answers whether a route has the path: middleware is registered for every method, a route for one.
 */
function takes(app: Hono<AppEnv>, method: 'GET' | 'POST', path: string): boolean {
  const [matches] = app.router.match(method, path);
  return matches.some(([[, route]]) => route.method === method);
}
