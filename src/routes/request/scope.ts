/**
 * Makes the scope of a request of Hono, for everything below the routes.
 * Proved by test/service/scope.test.ts and test/e2e/people/service-name.test.ts.
 */
import type { Context } from 'hono';
import type { HostConfig } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { gitClientOf } from '../../git/wire/git-client.ts';
import { onForget } from '../../isolate/recent.ts';
import { clientNetwork, lacksAddress } from '../../limits/client.ts';
import type { HostScope, Scope } from '../../service/scope.ts';
import { isCrossSite, isEmbedded } from './payload.ts';
import { publishedAddress, publishedOrigin, shownOrigin } from './public-origin.ts';

/** Logged once, because a misconfigured proxy causes it with every request. */
let isLackLogged = false;
onForget(() => (isLackLogged = false));

/** A request has one scope, whose addresses are parsed once. */
const scopes = new WeakMap<Request, Scope>();

export function scopeOf(c: Context<AppEnv>): Scope {
  const known = scopes.get(c.req.raw);
  if (known !== undefined) return known;
  const scope = newScope(c);
  scopes.set(c.req.raw, scope);
  return scope;
}

function newScope(c: Context<AppEnv>): Scope {
  const { config, logger, http } = c.var;
  const { raw } = c.req;
  const { clientIpHeader } = config;
  if (!isLackLogged && lacksAddress(raw, clientIpHeader)) {
    isLackLogged = true;
    const message =
      'the header of the client address contains no address, so limits count all such clients as one';
    logger.warn(message, { variable: 'CLIENT_IP_HEADER' });
  }
  return {
    env: c.env,
    config,
    logger,
    http,
    network: clientNetwork(raw, clientIpHeader),
    gitClient: gitClientOf(c.req.header('User-Agent') ?? ''),
    isForeign: isForeign(c),
    addresses: {
      shown: shownOrigin(raw, config),
      published: publishedOrigin(raw, config),
      frontPage: publishedAddress(raw, config),
    },
    later: (work) => c.executionCtx.waitUntil(work),
  };
}

function isForeign({ req, var: { config } }: Context<AppEnv>): boolean {
  return isCrossSite(req.raw) && config.allowedOrigins?.includes(req.header('Origin') ?? '') !== true;
}

/**
 * True for what a page of another site reads by script, or loads into itself. It is asked before
 * the request has a scope.
 */
export function isForOtherSite(c: Context<AppEnv>): boolean {
  return isForeign(c) && isEmbedded(c.req.raw);
}

/**
 * Gives the scope for one code host.
 * @param host that of the path, if the path names one (`onRepository`).
 */
export function hostScopeOf(c: Context<AppEnv>, host: HostConfig = c.var.host): HostScope {
  return { ...scopeOf(c), host };
}
