/**
 * Sets headers for browsers. Each costs a microsecond for every request, so there is none without
 * an effect: X-Frame-Options has one in browsers that do not know frame-ancestors.
 * Proved by test/routes/headers.test.ts and test/e2e/people/service-name.test.ts.
 */
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { AppEnv } from '../../env.ts';
import { REPOSITORY_PATH } from '../../config/hosts.ts';

const POLICY = 'Content-Security-Policy';
const NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** The policy of badges, which other sites embed as images. They contain their own style. */
const EMBEDDABLE = `${NOTHING}; style-src 'unsafe-inline'`;

const EVERYWHERE = Object.entries({
  'Cross-Origin-Opener-Policy': 'same-origin',
  // With `no-referrer`, forms would send no origin, and the service would not recognise its pages.
  'Referrer-Policy': 'same-origin',
  // `includeSubDomains` is left out, because the service must not decide for them.
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
});

/** Sets headers of every answer, but keeps a policy that a page has set for itself. */
export const securityHeaders: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const isBadge = /^\/badges?\//.test(c.req.path);
  try {
    setHeaders(c.res.headers, isBadge);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Headers of an answer that came from a cache or another server are immutable; a copy's are
    // not.
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
 * Tells Tor Browser of the onion service (`Onion-Location`, Tor Project) on pages at SERVICE_URL,
 * but not on those of the onion service itself.
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
  '/v1/pr/*',
  ...['panic', 'pardon', 'rollback', 'drain'].map((action) => `/admin/${action}`),
  // The last three are for Git clients in web pages.
  ...['issues/*', 'pulls/*', 'security/anonymous', 'info/refs', 'git-upload-pack', 'git-receive-pack'].map(
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
 * Answers CORS requests: pages of any site may read what the JSON endpoints and the Git remote
 * answer, which use no cookies, and some endpoints of the operator, such as those that buttons of
 * alerts call. Reports and appeals are not among them, because a page must not report in the name
 * of the people who open it.
 */
export const crossOrigin = new Hono<AppEnv>();

for (const path of SHARED_PATHS) {
  crossOrigin.use(path, async (c, next) => {
    if (c.req.method === 'OPTIONS') return preflight(c, next);
    // This does what `cors` does, which would first create an answer of its own and then merge
    // both.
    await next();
    c.res.headers.set('Access-Control-Allow-Origin', '*');
    // Headers that pages may read besides the usual ones.
    c.res.headers.set('Access-Control-Expose-Headers', 'Retry-After, X-Bundle, X-Error-Code, X-Panic-Stored');
  });
}
