/**
 * Opens the client of the requests to others that a request causes.
 * Proved by test/routes/request/limits.test.ts.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { clientNetwork } from '../../limits/client.ts';
import { ChargedHttp, type RequestKind } from '../../service/charged-http.ts';
import { isForOtherSite } from './scope.ts';

/** A discovery belongs to a push, or to a fetch, which asks Git. */
const DISCOVERY = /\/info\/refs$/;

/** Sends every request to others that a request causes. */
export function openHttpFor(c: Context<AppEnv>): ChargedHttp {
  const { config, logger } = c.var;
  const network = clientNetwork(c.req.raw, config.clientIpHeader);
  return new ChargedHttp({ env: c.env, config, logger, network }, kindOf(c));
}

function kindOf(c: Context<AppEnv>): RequestKind {
  const { method, path } = c.req;
  if (method !== 'GET' && method !== 'HEAD') return 'write';
  if (!DISCOVERY.test(path)) return 'page';
  return isForOtherSite(c) ? 'foreign-discovery' : 'discovery';
}
