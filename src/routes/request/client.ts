/** The client of a request as the limits count it, and the names under which it is counted. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { onForget } from '../../isolate/recent.ts';
import { clientNetwork, lacksAddress, siteOf } from '../../limits/client-address.ts';
import { type ClientUse, keyedHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';

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
onForget(() => (isLackLogged = false));

/** A request asks for its client, and for the same hashes, several times. */
const clients = new WeakMap<Request, Client>();

/** Rejects if the key of the hash cannot be read. */
export async function clientOf(c: Context<AppEnv>): Promise<Client> {
  const client = clients.get(c.req.raw) ?? (await newClient(c));
  clients.set(c.req.raw, client);
  return client;
}

async function newClient(c: Context<AppEnv>): Promise<Client> {
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
  const hashes = new Map<string, string>();
  const hashOf =
    (addresses: string) =>
    (use: ClientUse, context = '') => {
      const text = `${context} ${addresses}`;
      const known = hashes.get(`${use}:${text}`) ?? keyedHash(secret, use, text);
      hashes.set(`${use}:${text}`, known);
      return known;
    };
  const site = siteOf(network);
  return { network, hash: hashOf(network), site, siteHash: hashOf(site) };
}

/** The badges of all clients together: all readers of a page with a badge request that badge. No hash of a client. */
export const ALL_CLIENTS = '0'.repeat(64);

/**
 * Names a client among the windows of today. Records of different days cannot be matched. The price: limits
 * start again at midnight (UTC), so once a day a client can have twice as much within one window.
 */
export function windowKey(client: Client): string {
  return client.hash('window', today());
}

/** Of all clients of an IPv6 /48 together; of any other client its own. */
export function siteWindowKey(client: Client): string {
  return client.siteHash('window', today());
}

const today = (): string => new Date().toISOString().slice(0, 10);
