/**
 * CORS: web pages anywhere may call the JSON endpoints and the Git remote, and read the answers. These know no cookies: the
 * caller must send every secret. The operator's endpoints are among them, because the notification service's page calls
 * them for the buttons of alerts. Reports are not: a page must not report in the name of the people who open it.
 */
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import type { AppEnv } from '../env.ts';
import { REPOSITORY_PATH } from '../config/hosts.ts';

const SHARED_PATHS = [
  '/health',
  '/metrics',
  '/openapi.json',
  '/api/*',
  '/admin/panic',
  '/admin/pardon',
  '/admin/rollback',
  '/admin/drain',
  `${REPOSITORY_PATH}/issues/*`,
  `${REPOSITORY_PATH}/pulls/*`,
  // A Git client in a web page.
  `${REPOSITORY_PATH}/info/refs`,
  `${REPOSITORY_PATH}/git-upload-pack`,
  `${REPOSITORY_PATH}/git-receive-pack`,
];

/** What a front end may read besides the usual ones. */
const EXPOSED = 'Retry-After, X-Bundle, X-Error-Code';

const preflight = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST'],
  allowHeaders: ['Content-Type', 'Git-Protocol', 'Idempotency-Key', 'X-Service-Key'],
  maxAge: 86_400,
});

export const crossOrigin = new Hono<AppEnv>();

for (const path of SHARED_PATHS) {
  crossOrigin.use(path, async (c, next) => {
    if (c.req.method === 'OPTIONS') return preflight(c, next);
    // Does what `cors` does, but on the existing answer. `cors` would create one first, and then merge the two.
    await next();
    c.res.headers.set('Access-Control-Allow-Origin', '*');
    c.res.headers.set('Access-Control-Expose-Headers', EXPOSED);
  });
}
