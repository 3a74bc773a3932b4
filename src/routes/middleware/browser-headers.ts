/**
 * Headers for browsers. Each costs a microsecond for every request, so none is here without an
 * effect.
 * Proved by test/routes/headers.test.ts.
 */
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { AppEnv } from '../../env.ts';
import { REPOSITORY_PATH } from '../../config/hosts.ts';

const POLICY = 'Content-Security-Policy';
const NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** Badges: other sites embed them as images, which run no scripts. They contain their own style. */
const EMBEDDABLE = `${NOTHING}; style-src 'unsafe-inline'`;

const EVERYWHERE = Object.entries({
  'Cross-Origin-Opener-Policy': 'same-origin',
  // Not `no-referrer`: forms would then send no origin, and the service could not recognise its own
  // pages.
  'Referrer-Policy': 'same-origin',
  // Without subdomains: the service must not decide for them.
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
});

/** On every answer. A policy that a route has set itself stays: a page knows best what it loads. */
export const securityHeaders: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const isBadge = /^\/badges?\//.test(c.req.path);
  try {
    setHeaders(c.res.headers, isBadge);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The headers of an answer from a cache or another server cannot be changed, so this changes a
    // copy.
    c.res = new Response(c.res.body, c.res);
    setHeaders((c as Context).res.headers, isBadge);
  }
};

function setHeaders(headers: Headers, isBadge: boolean): void {
  headers.set('Cross-Origin-Resource-Policy', isBadge ? 'cross-origin' : 'same-origin');
  for (const [name, value] of EVERYWHERE) headers.set(name, value);
  if (!headers.has(POLICY)) headers.set(POLICY, isBadge ? EMBEDDABLE : NOTHING);
}

/**
 * Tells Tor Browser of the onion service (`Onion-Location`, Tor Project), on pages at SERVICE_URL,
 * not on its own.
 */
export const onionLocation: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const { onionUrl, serviceUrl } = c.var.config;
  if (onionUrl === null || !c.res.headers.get('Content-Type')?.startsWith('text/html')) return;
  const { hostname, pathname, search } = new URL(c.req.url);
  if (hostname === new URL(serviceUrl).hostname) c.header('Onion-Location', onionUrl + pathname + search);
};

const SHARED_PATHS = [
  '/health',
  '/metrics',
  '/openapi.json',
  '/api/*',
  ...['panic', 'pardon', 'rollback', 'drain'].map((action) => `/admin/${action}`),
  // The last three: a Git client in a web page.
  ...['issues/*', 'pulls/*', 'info/refs', 'git-upload-pack', 'git-receive-pack'].map(
    (path) => `${REPOSITORY_PATH}/${path}`,
  ),
];

const preflight = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST'],
  allowHeaders: ['Content-Type', 'Git-Protocol', 'Idempotency-Key', 'X-Service-Key'],
  maxAge: 86_400,
});

/**
 * CORS: pages anywhere may call the JSON endpoints and the Git remote, which know no cookies; and
 * the operator's endpoints, for the buttons of alerts. Not reports: a page must not report in the
 * name of the people who open it.
 */
export const crossOrigin = new Hono<AppEnv>();

for (const path of SHARED_PATHS) {
  crossOrigin.use(path, async (c, next) => {
    if (c.req.method === 'OPTIONS') return preflight(c, next);
    // Does what `cors` does, but on the existing answer. `cors` would create one first, and then
    // merge the two.
    await next();
    c.res.headers.set('Access-Control-Allow-Origin', '*');
    // What a front end may read besides the usual ones.
    c.res.headers.set('Access-Control-Expose-Headers', 'Retry-After, X-Bundle, X-Error-Code, X-Panic-Stored');
  });
}
