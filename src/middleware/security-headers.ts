/**
 * Security headers for browsers, on every answer. Programs such as Git ignore them.
 *
 * A policy that a route has set itself stays, because a page knows best what it loads. Each header costs a
 * microsecond or more for every request, so those are left out that have no effect in today's browsers or on these
 * answers, and nothing is asked that is known.
 */
import type { Context, MiddlewareHandler } from 'hono';
import type { AppEnv } from '../env.ts';

const POLICY = 'Content-Security-Policy';
const NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const EVERYWHERE: readonly (readonly [name: string, value: string])[] = [
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  // Not `no-referrer`: forms would then send no origin, and the service could not recognise its own pages.
  ['Referrer-Policy', 'same-origin'],
  // Without subdomains: the service must not decide for them.
  ['Strict-Transport-Security', 'max-age=31536000'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
];

interface Embedding {
  readonly policy: string;
  /** Who may embed the answer. */
  readonly resources: 'same-origin' | 'cross-origin';
}

const USUAL: Embedding = { policy: NOTHING, resources: 'same-origin' };
/** Other sites embed badges. As images they run no scripts; they contain their own style. */
const EMBEDDABLE: Embedding = { policy: `${NOTHING}; style-src 'unsafe-inline'`, resources: 'cross-origin' };

export const securityHeaders: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const embedding = /^\/badges?\//.test(c.req.path) ? EMBEDDABLE : USUAL;
  try {
    setHeaders(c.res.headers, embedding);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The headers of an answer from a cache or another server cannot be changed, so this changes a copy.
    c.res = new Response(c.res.body, c.res);
    setHeaders((c as Context).res.headers, embedding);
  }
};

function setHeaders(headers: Headers, { policy, resources }: Embedding): void {
  headers.set('Cross-Origin-Resource-Policy', resources);
  for (const [name, value] of EVERYWHERE) headers.set(name, value);
  if (!headers.has(POLICY)) headers.set(POLICY, policy);
}
