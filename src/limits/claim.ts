/**
 * What a write asks of the account, and its answer: all windows or none. Keys are keyed hashes: no
 * address or name.
 */
import { keyedHash } from '../secret/keyed-hash.ts';
import { type Client, isCircuit, type Names, namesOf } from './client.ts';
import type { Claimant } from './fairness.ts';
import { FORKS, ONION_PULL_REQUESTS, PREFIX_PULL_REQUESTS, PULL_REQUESTS } from './limits.ts';
import type { Limit, Wait } from './sliding-window.ts';

/**
 * `address` and `prefix` (an IPv6 /48): pull requests of one network, as are `forks` and the
 * operator's `alert`.
 */
type WindowKind =
  'address' | 'prefix' | 'forks' | 'repository' | 'comments' | 'thread' | 'openings' | 'account' | 'alert';

/** What the account may create. */
export interface AccountLimits {
  readonly creations: readonly Limit[];
  /**
   * Of these, pull requests and issues. Empty: the host limits them no further, and its creations
   * are not spaced.
   */
  readonly openings: readonly Limit[];
}

/** A repository or a thread, and what all clients together may create there. */
export interface Target {
  /** A keyed hash; empty for the account. */
  readonly key: string;
  readonly limits: readonly Limit[];
}

export interface ClaimedWindow extends Target {
  readonly kind: WindowKind;
  /** Of one network: its keys before this one. */
  readonly earlier?: readonly string[];
}

/** What something that is to be created counts in. */
export interface Claim extends Claimant {
  /** The first that has no room refuses. Empty: nothing is created. */
  readonly windows: readonly ClaimedWindow[];
  /** Of a pull request or a fork: the same again counts only where it does not count yet. */
  readonly push: {
    /** A keyed hash. */
    readonly key: string;
    /** Where the network is in it: those before this one. */
    readonly earlier?: readonly string[];
    /** It was answered before and opens another pull request: it counts once more. */
    readonly isAnother: boolean;
  } | null;
  /** It waits for a second of its own. What creates nothing never does. */
  readonly isSpaced?: boolean;
}

/** A window of one network that has no room for another pull request. */
export interface FullWindow {
  readonly name: string;
  /** The keys of the pushes that count there. */
  readonly holders: readonly string[];
}

export interface Reserved {
  /** Null: an earlier attempt at the same push counts in all windows. */
  readonly id: string | null;
  /** The names of those that it counts in by itself. */
  readonly windows: readonly string[];
  /** Those of them that are full now. */
  readonly full: readonly (FullWindow & Wait)[];
}

/**
 * Why a claim is denied: by which of its windows, and for how long. A duration and not a moment,
 * because the clocks of two machines differ.
 */
export interface AccountDenied extends Wait {
  readonly kind: 'denied';
  /** `calls`: the host allows the account few requests more. */
  readonly window: WindowKind | 'calls';
  /** Where the window is one of pull requests of one network. */
  readonly full: RefusingWindow | null;
  /** How long the host is to be left alone; 0: it is not. Absent: the account was not asked. */
  readonly pauseMs?: number;
}

/** `unknown`: the account cannot be asked, or cannot store anything. */
export type Denied =
  AccountDenied | (Omit<AccountDenied, 'window'> & { readonly window: 'unknown'; readonly error: unknown });

interface RefusingWindow extends FullWindow {
  /** Those that count; of an attempt that was counted, with those that were refused since. */
  readonly attempts: number;
  /** True: alert the operator now, and not again for an hour. */
  readonly isAlertDue: boolean;
}

/** `turnMs`: when the write may begin. `pauseMs`: as a denial has it. */
export type AccountAnswer =
  | (Reserved & { readonly kind: 'granted'; readonly pauseMs: number; readonly turnMs: number })
  | AccountDenied;

/** It is about to ask the host for something, and does not only keep room for later. */
export function writesNow({ windows }: Claim): boolean {
  return windows.length === 0 || windows.some(({ kind }) => kind === 'account');
}

export function windowName({ kind, key }: Pick<ClaimedWindow, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}

/** Under all of them, something may count in the window. */
export function windowNames({ kind, key, earlier = [] }: ClaimedWindow): readonly string[] {
  return [key, ...earlier].map((each) => windowName({ kind, key: each }));
}

/** @param place `owner/repo`, or `owner/repo#number`, in upper or lower case. */
export function targetKey(secret: string, place: string): string {
  return keyedHash(secret, 'target', place.toLowerCase());
}

/** The longest window in which a network counts, and what is left of its last hour. */
const LONGEST_LIFE_MS = 26 * 60 * 60_000;

/** Whose quota it is: anybody has networks without number, each of which would have had nothing. */
export function quotaNamesOf(client: Client, now = Date.now()): Names {
  return quotaNames((epoch) => client.prefixHash('quota', epoch), now);
}

function quotaNames(nameIn: (epoch: string) => string, now: number): Names {
  const names = namesOf(nameIn, LONGEST_LIFE_MS, now);
  // Version 1.0.0 gave a network one name for all time.
  return { ...names, earlier: [...names.earlier, nameIn('')] };
}

/** The longest that a delayed push may wait, late reviews included. */
const LONGEST_DELAYED_MS = 18 * 24 * 60 * 60_000;
/**
 * Of a hash. Some thousands of IPv4 addresses have them in common, so that a guess proves nothing.
 */
const DELAYED_DIGITS = 5;

/**
 * Names a client in what it delays. An IPv6 /48 is one client: else its 65,536 networks could fill
 * all room. A name is kept for as long as the push waits, so it is short: who has the secret, too,
 * can try all addresses.
 */
export function delayedNamesOf(client: Client, now: number): Names {
  const nameIn = (epoch: string) => client.prefixHash('delayed', epoch).slice(0, DELAYED_DIGITS);
  return namesOf(nameIn, LONGEST_DELAYED_MS, now);
}

/** @param by from `quotaNamesOf`, or the name of a delayed push's client. */
export function writeClaim(by: Names | string, windows: Claim['windows'] = []): Claim {
  const names = typeof by === 'string' ? { by } : { by: by.now, byEarlier: by.earlier };
  return { ...names, repository: null, takesPart: false, windows, push: null };
}

/** What an IPv6 /48, or an onion service, may open in an hour. */
export function prefixLimit(client: Pick<Client, 'network'>): Limit {
  return isCircuit(client) ? ONION_PULL_REQUESTS : PREFIX_PULL_REQUESTS;
}

/**
 * How many times as much as one of them all networks around a client may try together: anybody has
 * as many /64 as a /48 holds. As with pull requests.
 */
export function wideningOf(client: Pick<Client, 'network'>): number {
  return prefixLimit(client).most / PULL_REQUESTS.most;
}

/**
 * The contract's five an hour, and those of the IPv6 /48 around it, if there is one.
 * @param push a keyed hash.
 */
export function pullRequestClaim(client: Client, push: string, now = Date.now()): Claim {
  const by = quotaNamesOf(client, now);
  const address = quotaNames((epoch) => client.hash('quota', epoch), now);
  const own = networkWindow('address', address, PULL_REQUESTS);
  const prefix = networkWindow('prefix', by, prefixLimit(client));
  const claim = writeClaim(by, client.prefix === client.network ? [own] : [own, prefix]);
  return { ...claim, push: { key: push, isAnother: false } };
}

/** A pull request or an issue is opened in a repository, too. */
export function openingIn({ key, limits }: Target, account: AccountLimits, claim: Claim): Claim {
  const { openings } = account;
  const own = openings.length === 0 ? [] : [window('openings', '', openings)];
  const windows = [...claim.windows, window('repository', key, limits), ...own];
  return created(account, { ...claim, repository: key, windows });
}

/** @param repository the key of the thread's repository. */
export function commentClaim(
  by: Names | string,
  repository: string,
  thread: Target,
  account: AccountLimits,
): Claim {
  const windows = [
    window('thread', thread.key, thread.limits),
    window('comments', repository, [commentsIn(account.creations)]),
  ];
  return created(account, { ...writeClaim(by, windows), repository });
}

/** All threads of one repository get half of what the account may create in its longest window. */
export function commentsIn(creations: readonly Limit[]): Limit {
  const { most, withinMs } = creations.reduce((a, b) => (b.withinMs > a.withinMs ? b : a));
  return { most: Math.ceil(most / 2), withinMs };
}

/**
 * A fork counts once for a network and a repository, however often it is asked for.
 * @param of the client, and the repository by the service's records; null: nobody's, as the push
 * was delayed.
 */
export function forkClaim(
  by: Names | string,
  of: { readonly client: Client; readonly repository: string } | null,
  account: AccountLimits,
  now = Date.now(),
): Claim {
  if (of === null) return created(account, writeClaim(by));
  const { client, repository } = of;
  const claim = writeClaim(by, [networkWindow('forks', quotaNamesOf(client, now), FORKS)]);
  const nameIn = (epoch: string) =>
    client.prefixHash('quota', `${epoch} ${repository.toLowerCase()}`.trimStart());
  const { now: key, earlier } = quotaNames(nameIn, now);
  return { ...created(account, claim), push: { key, earlier, isAnother: false } };
}

function created({ creations, openings }: AccountLimits, claim: Claim): Claim {
  const windows = [...claim.windows, window('account', '', creations)];
  return { ...claim, windows, isSpaced: openings.length > 0 };
}

const window = (kind: WindowKind, key: string, limits: readonly Limit[]) => ({ kind, key, limits });

function networkWindow(kind: WindowKind, { now: key, earlier }: Names, limit: Limit): ClaimedWindow {
  return { kind, key, earlier, limits: [limit] };
}
