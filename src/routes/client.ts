/** The client of a request, as limits count it; and the objects that count. */
import type { Context } from 'hono';
import type { Guard } from '../durable/guard.ts';
import type { RateWindow } from '../durable/rate-window.ts';
import type { AppEnv, Env } from '../env.ts';
import { clientNetwork, siteOf } from '../identity/client-address.ts';
import { type ClientUse, keyedHash } from '../identity/keyed-hash.ts';
import { serviceSecret } from '../identity/service-secret.ts';

export interface Client {
  /** Address, or network of addresses. In memory only, and never in a log. */
  readonly network: string;
  /**
   * The only form in which it is kept, another one for each use.
   * @param context within the use: what is counted for one is not to be matched with another, either.
   */
  hash(use: ClientUse, context?: string): string;
  /** The same of all networks that one subscriber may hold. */
  siteHash(use: ClientUse, context?: string): string;
}

/** Rejects when the key of the hash cannot be read. */
export async function clientOf(c: Context<AppEnv>): Promise<Client> {
  const { clientIpHeader, identitySecret } = c.var.config;
  const network = clientNetwork(c.req.raw, clientIpHeader);
  const secret = await serviceSecret(c.env, identitySecret);
  const hashOf =
    (addresses: string) =>
    (use: ClientUse, context = '') =>
      keyedHash(secret, use, `${context} ${addresses}`);
  return { network, hash: hashOf(network), siteHash: hashOf(siteOf(network)) };
}

export function rateWindowOf(env: Env, client: Client): DurableObjectStub<RateWindow> {
  return env.RATE_WINDOWS.get(env.RATE_WINDOWS.idFromName(client.hash('window')));
}

/** There is one: whoever shows a badge in a page has all of the page's readers ask for it. */
export function badgeWindowOf(env: Env): DurableObjectStub<RateWindow> {
  return env.RATE_WINDOWS.get(env.RATE_WINDOWS.idFromName('badges'));
}

/** There is one. */
export function guardOf(env: Env): DurableObjectStub<Guard> {
  return env.GUARD.get(env.GUARD.idFromName('guard'));
}
