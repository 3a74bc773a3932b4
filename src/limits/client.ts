/**
 * A client: an IPv4 address, or the /64 of an IPv6 address, because one connection usually gets a
 * /64; at an onion service a circuit, if Tor tells the circuits. The address is in the one header
 * that the platform sets and a client cannot (`CLIENT_IP_HEADER`). It is only counted and hashed,
 * and never stored.
 */
import { isIPv4 } from 'node:net';
import { type ClientUse, keyedHash } from '../secret/keyed-hash.ts';

export const DEFAULT_CLIENT_IP_HEADER = 'CF-Connecting-IP';

/**
 * The local addresses (RFC 4193) by which Tor numbers the circuits of an onion service (tor(1),
 * `HiddenServiceExportCircuitID`).
 */
const CIRCUITS = 'fc00:dead:beef:4dad';

/**
 * All clients without a known address count as one. Otherwise hiding the address would avoid the
 * limit.
 */
const UNKNOWN = 'unknown';

export interface Client {
  /** Address, or network of addresses. In memory only, and never in a log. */
  readonly network: string;
  /** The network around it, as `prefixOf` has it. */
  readonly prefix: string;
  /**
   * The only trace of a client that is stored. Hashes with another use, or another context within
   * it, cannot be matched with each other.
   */
  hash(use: ClientUse, context?: string): string;
  prefixHash(use: ClientUse, context?: string): string;
}

/**
 * @param network from `clientNetwork`.
 * @param secret of all hashes of personal data.
 */
export function clientIn(network: string, secret: string): Client {
  const prefix = prefixOf(network);
  const hash = (addresses: string, use: ClientUse, context = '') =>
    keyedHash(secret, use, `${context} ${addresses}`);
  return { network, hash: hash.bind(null, network), prefix, prefixHash: hash.bind(null, prefix) };
}

/** The time for which a network has one name in what is stored. */
const EPOCH_MS = 6 * 60 * 60_000;

/** The names that one network has had in what is stored. No row tells the time of its name. */
export interface Names {
  readonly now: string;
  /** Newest first. */
  readonly earlier: readonly string[];
}

/**
 * Names a network anew every six hours, so that rows written further apart do not tell that they
 * are the same network's. A row that is kept keeps its name.
 * @param nameIn the name in an epoch.
 * @param lifeMs how long a row is kept. No row has an older name.
 */
export function namesOf(nameIn: (epoch: string) => string, lifeMs: number, now: number): Names {
  const [first, last] = [Math.floor((now - lifeMs) / EPOCH_MS), Math.floor(now / EPOCH_MS)];
  const earlier = Array.from({ length: last - first }, (_, ago) => nameIn(String(last - 1 - ago)));
  return { now: nameIn(String(last)), earlier };
}

/**
 * Names a client, or its prefix, for a day: days cannot be matched, and at midnight (UTC) all begin
 * anew.
 */
export function windowKey(client: Client, isOfPrefix: boolean): string {
  const today = new Date().toISOString().slice(0, 10);
  return isOfPrefix ? client.prefixHash('window', today) : client.hash('window', today);
}

/**
 * The client's network: `192.0.2.1`, `2001:db8:0:1::/64`, a circuit, or `unknown`. Without the
 * header, the peer's.
 */
export function clientNetwork(request: Request, headerName: string): string {
  const claimed = request.headers.get(headerName) ?? peerOf(request);
  return claimed === null ? UNKNOWN : networkOf(claimed.trim());
}

/**
 * True if the header that the operator has named gives no address: then all clients may count as
 * one.
 */
export function lacksAddress(request: Request, headerName: string): boolean {
  // On one machine, no proxy need set the usual one.
  const isMissed = !request.headers.has(headerName) && headerName !== DEFAULT_CLIENT_IP_HEADER;
  return isMissed || clientNetwork(request, headerName) === UNKNOWN;
}

/** workerd writes it with its port: `127.0.0.1:51234`, `[::1]:51234`. */
function peerOf(request: Request): string | null {
  const { clientIp } = (request.cf ?? {}) as { clientIp?: unknown };
  const [, address = null] = /^\[?(.+?)\]?:\d+$/.exec(typeof clientIp === 'string' ? clientIp : '') ?? [];
  return address;
}

/** True for a circuit of an onion service. Anybody can make many; all have one prefix. */
export function isCircuit({ network }: Pick<Client, 'network'>): boolean {
  return network.startsWith(`${CIRCUITS}:`);
}

/** The client's network that holds an address; `unknown` for a text that is none. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address;
  const groups = ipv6Groups(address);
  if (groups === null) return UNKNOWN;
  // An IPv4 address (RFC 4291, 2.5.5.2).
  if (groups.slice(0, 6).join() === '0,0,0,0,0,65535') {
    const bytes = groups.slice(6).flatMap((group) => [group >> 8, group & 255]);
    return bytes.join('.');
  }
  const spelt = groups.map((group) => group.toString(16));
  const prefix = spelt.slice(0, 4).join(':');
  return prefix === CIRCUITS ? spelt.join(':') : `${prefix}::/64`;
}

/**
 * The addresses that one subscriber may hold: an IPv4 address, or the /48 around a /64. All
 * circuits of an onion service lie in one /48.
 */
export function prefixOf(network: string): string {
  const [prefix] = /^(?:[0-9a-f]+:){3}/.exec(network) ?? [];
  return prefix === undefined ? network : `${prefix}:/48`;
}

/** The eight groups of an IPv6 address (RFC 4291, 2.2); null if the text is not one. */
function ipv6Groups(text: string): number[] | null {
  const [address = ''] = text.split('%');
  if (!/^[\da-f:.]+$/i.test(address) || !URL.canParse(`http://[${address}]`)) return null;
  const halves = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [head = [], tail = []] = halves.map((half) => half.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
