/**
 * Headers that make browsers careful, on every answer. Programs such as Git do not look at them.
 *
 * What a route has set itself stays: pages know best what they load.
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
  // Each header costs a request a microsecond. These do nothing in today's browsers, or nothing for what is served here.
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
  contentSecurityPolicy: NOTHING,
  // Not `no-referrer`: forms would lose their origin, by which a page of ours knows its own.
  referrerPolicy: 'same-origin',
  // Without subdomains: they are not the service's to decide on.
  strictTransportSecurity: 'max-age=31536000',
  xFrameOptions: 'DENY',
} as const;

const everywhere = secureHeaders(careful);

/** Badges stand in pages of others. As images they run nothing; they bring their own style. */
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

/** Headers of answers that come from a cache or from another server cannot be changed; those of a copy can. */
function makeWritable(c: Context<AppEnv>): void {
  try {
    c.res.headers.delete('X-Powered-By');
  } catch {
    c.res = new Response(c.res.body, c.res);
  }
}
