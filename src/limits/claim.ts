/**
 * Claims: what is to be created, and the windows in which it counts. The account grants all of them
 * or none. Keys hold no address or name.
 */
import { keyedHash } from '../secret/keyed-hash.ts';
import { type Client, isCircuit, type Names, namesOf } from './client.ts';
import type { Claimant } from './fairness.ts';
import { FORKS, ONION_PULL_REQUESTS, PREFIX_PULL_REQUESTS, PULL_REQUESTS } from './limits.ts';
import type { Limit, Wait } from './sliding-window.ts';

/**
 * Kinds of windows. Those of one network: `address` and `prefix` (an IPv6 /48) for its pull
 * requests, `forks`, and the operator's `alert`. `repository`: what is opened there; `comments`:
 * those on all its threads. `openings`: what the account opens; `account`: all that it creates.
 */
type WindowKind =
  'address' | 'prefix' | 'forks' | 'repository' | 'comments' | 'thread' | 'openings' | 'account' | 'alert';

/** The limits of what the account creates. */
export interface AccountLimits {
  readonly creations: readonly Limit[];
  /**
   * The limits of pull requests and issues among them. Empty: the host has no lower limit for
   * these, and creations are not spaced there.
   */
  readonly openings: readonly Limit[];
}

/** A repository or a thread, and what all clients together may create there. */
export interface Target {
  /** A keyed hash; empty for the account. For an alert, the name of a window. */
  readonly key: string;
  readonly limits: readonly Limit[];
}

export interface ClaimedWindow extends Target {
  readonly kind: WindowKind;
  /** Earlier keys of the same network. */
  readonly earlier?: readonly string[];
}

/** Something that is to be created, and the windows in which it would count. */
export interface Claim extends Claimant {
  /** The first one without room denies the claim. Empty: nothing is created. */
  readonly windows: readonly ClaimedWindow[];
  /** A pull request or a fork, which counts again only where it does not count yet. */
  readonly push: {
    /** A keyed hash. */
    readonly key: string;
    /** Earlier keys, where the network's name is in it. */
    readonly earlier?: readonly string[];
    /** Counts once more: the push was answered before, and opens another pull request. */
    readonly isAnother: boolean;
  } | null;
  /** Waits for a second of its own. A write that creates nothing never does. */
  readonly isSpaced?: boolean;
}

/** A window of one network that has no room for another pull request. */
export interface FullWindow {
  readonly name: string;
  /** The keys of the pushes that count there. */
  readonly holders: readonly string[];
}

export interface Reserved {
  /** Names the grant. Null: there is no window in which it has to count anew. */
  readonly id: string | null;
  /** The windows in which it counts by itself, by name. */
  readonly windows: readonly string[];
  /** The windows of its network that are full now. */
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
  /** The window, if it counts the pull requests of one network. */
  readonly full: RefusingWindow | null;
  /** The time for which the host must be left alone. Absent: the account was not asked. */
  readonly pauseMs?: number;
}

/** `unknown`: the account cannot be asked, or cannot store anything. */
export type Denied =
  AccountDenied | (Omit<AccountDenied, 'window'> & { readonly window: 'unknown'; readonly error: unknown });

interface RefusingWindow extends FullWindow {
  /** The pull requests that count, and those that were denied since, if attempts are counted. */
  readonly attempts: number;
  /** Asks to alert the operator now. It is true once an hour. */
  readonly isAlertDue: boolean;
}

/** `turnMs`: when the write may begin. `pauseMs`: as a denial has it. */
export type AccountAnswer =
  | (Reserved & { readonly kind: 'granted'; readonly pauseMs: number; readonly turnMs: number })
  | AccountDenied;

/** False for a claim that only keeps room for later, and asks the host for nothing now. */
export function writesNow({ windows }: Claim): boolean {
  return windows.length === 0 || windows.some(({ kind }) => kind === 'account');
}

/** True for windows of one network's pull requests. What is denied there may be an attack. */
export function isOfOneNetwork({ kind }: Pick<ClaimedWindow, 'kind'>): boolean {
  return kind === 'address' || kind === 'prefix';
}

export function windowName({ kind, key }: Pick<ClaimedWindow, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}

/** All names under which something may count in the window, the newest first. */
export function windowNames({ kind, key, earlier = [] }: ClaimedWindow): readonly string[] {
  return [key, ...earlier].map((each) => windowName({ kind, key: each }));
}

/**
 * Names a repository or a thread in the windows.
 * @param place the repository by the service's records, and `#number` for a thread, in upper or
 * lower case.
 */
export function targetKey(secret: string, place: string): string {
  return keyedHash(secret, 'target', place.toLowerCase());
}

/** Longer than anything counts for a network: windows have 24 hours at most. */
const LONGEST_LIFE_MS = 26 * 60 * 60_000;

/**
 * Names who shares a quota: the whole /48, because anybody has any number of /64 networks, each of
 * which would have had nothing.
 */
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
 * Length of a hash that thousands of IPv4 addresses have in common, so that a guess proves nothing.
 */
const DELAYED_DIGITS = 5;

/**
 * Names a client in what it delays. An IPv6 /48 is one client: else its 65,536 networks could fill
 * all room. A name is kept for as long as the push waits, so it is short: whoever has the secret
 * could try all addresses.
 */
export function delayedNamesOf(client: Client, now: number): Names {
  const nameIn = (epoch: string) => client.prefixHash('delayed', epoch).slice(0, DELAYED_DIGITS);
  return namesOf(nameIn, LONGEST_DELAYED_MS, now);
}

/**
 * Begins a claim. Without windows, it is a write that creates nothing.
 * @param by from `quotaNamesOf`, or the name of a delayed push's client.
 */
export function writeClaim(by: Names | string, windows: Claim['windows'] = []): Claim {
  const names = typeof by === 'string' ? { by } : { by: by.now, byEarlier: by.earlier };
  return { ...names, repository: null, takesPart: false, windows, push: null };
}

/** The pull requests that an IPv6 /48, or an onion service, may open in an hour. */
export function prefixLimit(client: Pick<Client, 'network'>): Limit {
  return isCircuit(client) ? ONION_PULL_REQUESTS : PREFIX_PULL_REQUESTS;
}

/**
 * The factor by which all networks around a client may try more together than one of them, because
 * anybody has as many /64 as a /48 holds. It is the same as for pull requests.
 */
export function wideningOf(client: Pick<Client, 'network'>): number {
  return prefixLimit(client).most / PULL_REQUESTS.most;
}

/**
 * The claim of a pull request on its client: the contract's five an hour, and the limit of the IPv6
 * /48 around it, if there is one.
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

/** Adds what a pull request or an issue takes of its repository and of the account. */
export function openingIn({ key, limits }: Target, account: AccountLimits, claim: Claim): Claim {
  const { openings } = account;
  const own = openings.length === 0 ? [] : [window('openings', '', openings)];
  const windows = [...claim.windows, window('repository', key, limits), ...own];
  return created(account, { ...claim, repository: key, windows });
}

/**
 * The claim of a comment.
 * @param repository the key of the thread's repository.
 */
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

/** Gives all threads of one repository half of the account's longest window. */
export function commentsIn(creations: readonly Limit[]): Limit {
  const { most, withinMs } = creations.reduce((a, b) => (b.withinMs > a.withinMs ? b : a));
  return { most: Math.ceil(most / 2), withinMs };
}

/**
 * The claim of a fork, which counts once for a network and a repository, however often it is asked
 * for.
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

/** The claim of something that the bot creates by itself. */
export const ownClaim = (account: AccountLimits): Claim => created(account, writeClaim(''));

function created({ creations, openings }: AccountLimits, claim: Claim): Claim {
  const windows = [...claim.windows, window('account', '', creations)];
  return { ...claim, windows, isSpaced: openings.length > 0 };
}

const window = (kind: WindowKind, key: string, limits: readonly Limit[]) => ({ kind, key, limits });

function networkWindow(kind: WindowKind, { now: key, earlier }: Names, limit: Limit): ClaimedWindow {
  return { kind, key, earlier, limits: [limit] };
}
