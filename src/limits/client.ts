/**
 * What counts as one client, and the names under which it is counted. A client is an IPv4 address, or the /64 of an IPv6
 * address, because one connection usually gets a /64. Of an onion service's clients, each circuit counts as one, if Tor
 * tells the circuits.
 *
 * The address is taken from the one header that the platform sets and a client cannot (`CLIENT_IP_HEADER`); other
 * claims of a client are ignored. The address is used only for counting and hashing, and never stored.
 */
import { type ClientUse, keyedHash } from '../secret/keyed-hash.ts';

/** Cloudflare's edge sets it. */
export const DEFAULT_CLIENT_IP_HEADER = 'CF-Connecting-IP';

/**
 * The /64 in which Tor numbers the circuits of an onion service (tor(1), `HiddenServiceExportCircuitID haproxy`). It is
 * of unique local addresses (RFC 4193), which nobody has on the public Internet.
 */
const CIRCUITS = 'fc00:dead:beef:4dad';

/** All clients without a known address count as one. Otherwise hiding the address would avoid the limit. */
const UNKNOWN = 'unknown';

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

/**
 * The network of the client that sent `request`, in one spelling: `192.0.2.1`, `2001:db8:0:1::/64`, a circuit such as
 * `fc00:dead:beef:4dad:0:0:0:2a`, or `unknown`.
 * @param headerName of the header that holds the address. Without it, workerd's own word for the peer of the connection
 *   counts: on one machine there may be no proxy in front.
 */
export function clientNetwork(request: Request, headerName: string): string {
  const claimed = request.headers.get(headerName) ?? peerOf(request);
  return claimed === null ? UNKNOWN : networkOf(claimed.trim());
}

/** Whether the header that the operator has named gives no address: then all clients may count as one. */
export function lacksAddress(request: Request, headerName: string): boolean {
  const claimed = request.headers.get(headerName);
  if (claimed !== null) return networkOf(claimed.trim()) === UNKNOWN;
  // On one machine there may be no proxy in front that sets the usual one.
  return headerName !== DEFAULT_CLIENT_IP_HEADER || peerOf(request) === null;
}

/** workerd writes it with its port: `127.0.0.1:51234`, `[::1]:51234`. */
function peerOf(request: Request): string | null {
  const { clientIp } = (request.cf ?? {}) as { clientIp?: unknown };
  const [, address = null] = /^\[?(.+?)\]?:\d+$/.exec(typeof clientIp === 'string' ? clientIp : '') ?? [];
  return address;
}

/** @param address as text. Anything that is not an address gives `unknown`. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address;
  const groups = ipv6Groups(address);
  if (groups === null) return UNKNOWN;
  const [mapped, high, low] = [groups.slice(0, 6), groups[6] as number, groups[7] as number];
  if (mapped.every((group, index) => group === (index === 5 ? 0xffff : 0))) {
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  const spelt = groups.map((group) => group.toString(16));
  const prefix = spelt.slice(0, 4).join(':');
  return prefix === CIRCUITS ? spelt.join(':') : `${prefix}::/64`;
}

/**
 * What one subscriber may hold of addresses: an IPv4 address, or the /48 around a /64, which a free tunnel gives to
 * anybody. All circuits of an onion service lie in one /48, because anybody may open as many as they like. @param network as `networkOf` spells it.
 */
export function siteOf(network: string): string {
  const [site] = /^(?:[0-9a-f]+:){3}/.exec(network) ?? [];
  return site === undefined ? network : `${site}:/48`;
}

function isIPv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

/** The eight groups of an IPv6 address (RFC 4291, 2.2); null if the text is not one. */
function ipv6Groups(text: string): number[] | null {
  const halves = withoutDottedEnd(text.replace(/%.*$/s, '')).split('::');
  if (halves.length > 2) return null;
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  if (![...head, ...tail].every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const zeros = Array.from({ length: missing }, () => '0');
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}

/** Writes an IPv4 address at the end as two groups. */
function withoutDottedEnd(text: string): string {
  const dotted = text.slice(text.lastIndexOf(':') + 1);
  if (!isIPv4(dotted)) return text;
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  return `${text.slice(0, -dotted.length)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
