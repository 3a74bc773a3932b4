/**
 * CORS: web front ends anywhere may call the JSON endpoints and read the answers. That gives nobody more than they have
 * anyway: there are no cookies and no sessions, and whatever is secret must be sent by the caller itself.
 *
 * The operator's endpoints are among them for the buttons of alerts, which the notification service's web page presses.
 * Reports are not: a page that others open must not report in their names and read how it went.
 */
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import type { AppEnv } from '../env.ts';

const SHARED_PATHS = [
  '/health',
  '/metrics',
  '/openapi.json',
  '/api/*',
  '/admin/*',
  '/v1/gh/:owner/:repo/issues/*',
  '/v1/gh/:owner/:repo/pulls/*',
];

const preflight = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST'],
  allowHeaders: ['Content-Type', 'X-Service-Key'],
  maxAge: 86_400,
});

export const crossOrigin = new Hono<AppEnv>();

for (const path of SHARED_PATHS) {
  crossOrigin.use(path, async (c, next) => {
    if (c.req.method === 'OPTIONS') return preflight(c, next);
    // As `cors` does it, but on the answer that there is: it would make one first, and then merge the two.
    await next();
    c.res.headers.set('Access-Control-Allow-Origin', '*');
    if (c.res.headers.has('Retry-After')) c.res.headers.set('Access-Control-Expose-Headers', 'Retry-After');
  });
}
