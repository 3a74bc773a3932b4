/**
 * Security headers for browsers, on every answer. Programs such as Git ignore them.
 *
 * A header that a route has set itself stays, because a page knows best what it loads.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { AppEnv } from '../env.ts';

const NOTHING = {
  defaultSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

const careful = {
  overwrite: false,
  removePoweredBy: false,
  // Headers that are left out, because each costs a microsecond for every request, and these have no effect in today's
  // browsers or on these answers.
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
  contentSecurityPolicy: NOTHING,
  // Not `no-referrer`: forms would then send no origin, and the service could not recognise its own pages.
  referrerPolicy: 'same-origin',
  // Without subdomains: the service must not decide for them.
  strictTransportSecurity: 'max-age=31536000',
  xFrameOptions: 'DENY',
} as const;

const everywhere = secureHeaders(careful);

/** Other sites embed badges. As images they run no scripts; they contain their own style. */
const embeddable = secureHeaders({
  ...careful,
  contentSecurityPolicy: { ...NOTHING, styleSrc: ["'unsafe-inline'"] },
  crossOriginResourcePolicy: 'cross-origin',
});

export const securityHeaders: MiddlewareHandler<AppEnv> = (c, next) => {
  const add = /^\/badges?\//.test(c.req.path) ? embeddable : everywhere;
  return add(c, async () => {
    await next();
    makeWritable(c);
  });
};

/** The headers of an answer from a cache or another server cannot be changed, so this changes a copy. */
function makeWritable(c: Context<AppEnv>): void {
  try {
    c.res.headers.delete('X-Powered-By');
  } catch {
    c.res = new Response(c.res.body, c.res);
  }
}
