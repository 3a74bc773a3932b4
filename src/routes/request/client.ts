/** The client of a request as the limits count it, and the objects that count. */
import type { Context } from 'hono';
import type { Guard } from '../../durable/guard.ts';
import type { RateWindow } from '../../durable/rate-window.ts';
import type { AppEnv, Env } from '../../env.ts';
import { clientNetwork, lacksAddress, siteOf } from '../../identity/client-address.ts';
import { type ClientUse, keyedHash } from '../../identity/keyed-hash.ts';
import { serviceSecret } from '../../identity/service-secret.ts';

export interface Client {
  /** Address, or network of addresses. In memory only, and never in a log. */
  readonly network: string;
  /**
   * The only stored form of the client; different for each use.
   * @param context within the use, so that records of one context cannot be matched with those of another.
   */
  hash(use: ClientUse, context?: string): string;
  /** All networks that one subscriber may hold: an IPv6 /48, or the address itself. */
  readonly site: string;
  /** The hash of the site. */
  siteHash(use: ClientUse, context?: string): string;
}

/** Logged once, because a misconfigured proxy causes it with every request. */
let isLackLogged = false;

/** Rejects if the key of the hash cannot be read. */
export async function clientOf(c: Context<AppEnv>): Promise<Client> {
  const { clientIpHeader, identitySecret } = c.var.config;
  const network = clientNetwork(c.req.raw, clientIpHeader);
  if (!isLackLogged && lacksAddress(c.req.raw, clientIpHeader)) {
    isLackLogged = true;
    c.var.logger.warn(
      'the header of the client address contains no address, so limits count all such clients as one',
      {
        variable: 'CLIENT_IP_HEADER',
      },
    );
  }
  const secret = await serviceSecret(c.env, identitySecret);
  const hashOf =
    (addresses: string) =>
    (use: ClientUse, context = '') =>
      keyedHash(secret, use, `${context} ${addresses}`);
  const site = siteOf(network);
  return { network, hash: hashOf(network), site, siteHash: hashOf(site) };
}

export function rateWindowOf(env: Env, client: Client): DurableObjectStub<RateWindow> {
  return env.RATE_WINDOWS.get(env.RATE_WINDOWS.idFromName(client.hash('window')));
}

/** Of all clients of an IPv6 /48 together; of any other client its own. */
export function siteWindowOf(env: Env, client: Client): DurableObjectStub<RateWindow> {
  return env.RATE_WINDOWS.get(env.RATE_WINDOWS.idFromName(client.siteHash('window')));
}

/** One object for all clients: all readers of a page with a badge request that badge. */
export function badgeWindowOf(env: Env): DurableObjectStub<RateWindow> {
  return env.RATE_WINDOWS.get(env.RATE_WINDOWS.idFromName('badges'));
}

/** There is one. */
export function guardOf(env: Env): DurableObjectStub<Guard> {
  return env.GUARD.get(env.GUARD.idFromName('guard'));
}
