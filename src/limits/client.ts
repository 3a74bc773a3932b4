/** A client as the limits count it, and the names under which it is counted. */
import { type ClientUse, keyedHash } from '../secret/keyed-hash.ts';
import { siteOf } from './client-address.ts';

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

/** @param network from `clientNetwork`. @param secret of all hashes of personal data. */
export function clientIn(network: string, secret: string): Client {
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

/** Names a client among today's windows: days cannot be matched, and at midnight (UTC) everybody begins anew. */
export function windowKey(client: Client): string {
  return client.hash('window', today());
}

/** Of all clients of an IPv6 /48 together; of any other client its own. */
export function siteWindowKey(client: Client): string {
  return client.siteHash('window', today());
}

const today = (): string => new Date().toISOString().slice(0, 10);
