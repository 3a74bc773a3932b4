/** What a write asks of the account, and its answer: all windows or none. Keys are keyed hashes: no address or name. */
import { keyedHash } from '../secret/keyed-hash.ts';
import { type Client, isCircuit } from './client.ts';
import type { Asker } from './fairness.ts';
import { FORKS, ONION_PULL_REQUESTS, PREFIX_PULL_REQUESTS, PULL_REQUESTS } from './limits.ts';
import type { Limit, Wait } from './sliding-window.ts';

/** `address` and `prefix` (an IPv6 /48): pull requests of one network, as are `forks` and the operator's `alert`. */
type WindowKind =
  'address' | 'prefix' | 'forks' | 'repository' | 'comments' | 'thread' | 'openings' | 'account' | 'alert';

/** What the account may create. */
export interface AccountLimits {
  readonly creations: readonly Limit[];
  /** Of these, pull requests and issues. Empty: the host limits them no further, and its creations are not spaced. */
  readonly openings: readonly Limit[];
}

/** A repository or a thread, and what all clients together may create there. */
export interface Target {
  /** A keyed hash; empty for the account. */
  readonly key: string;
  readonly limits: readonly Limit[];
}

export type WantedWindow = Target & { readonly kind: WindowKind };

/** What something that is to be created counts in. */
export interface Wants extends Asker {
  /** The first that has no room refuses. Empty: nothing is created. */
  readonly windows: readonly WantedWindow[];
  /** Of a pull request or a fork: the same again counts only where it does not count yet. */
  readonly push: {
    /** A keyed hash. */
    readonly key: string;
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

/** Why a write has to wait. `calls`: the host allows few requests more. */
export interface AccountWait extends Wait {
  readonly for: WindowKind | 'calls';
  /** Where the window is one of pull requests of one network. */
  readonly full: RefusingWindow | null;
}

interface RefusingWindow extends FullWindow {
  /** Those that count, and the pushes that were refused since; 0: this one was not counted. */
  readonly attempts: number;
  /** True: alert the operator now, and not again for an hour. */
  readonly isAlertDue: boolean;
}

/** `pauseMs`: how long the host is to be left alone; 0: it is not. `turnMs`: when the write may begin. */
export type ReserveAnswer = { readonly pauseMs: number } & (
  | ({ readonly kind: 'granted'; readonly turnMs: number } & Reserved)
  | ({ readonly kind: 'wait' } & AccountWait)
);

/** It is about to ask the host for something, and does not only keep room for later. */
export function writesNow({ windows }: Wants): boolean {
  return windows.length === 0 || windows.some(({ kind }) => kind === 'account');
}

export function windowName({ kind, key }: Pick<WantedWindow, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}

/** @param place `owner/repo`, or `owner/repo#number`, in upper or lower case. */
export function targetKey(secret: string, place: string): string {
  return keyedHash(secret, 'target', place.toLowerCase());
}

/** Whose quota it is: anybody has networks without number, each of which would have had nothing. */
export function quotaKeyOf(client: Client): string {
  return client.prefixHash('quota');
}

/** @param by from `quotaKeyOf`, or the name of a delayed push's client. */
export function writeWants(by: string, windows: Wants['windows'] = []): Wants {
  return { by, repository: null, takesPart: false, windows, push: null };
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

/** The contract's five an hour, and those of the IPv6 /48 around it, if there is one. @param push a keyed hash. */
export function pullRequestWants(client: Client, push: string): Wants {
  const own = window('address', client.hash('quota'), [PULL_REQUESTS]);
  const prefix = window('prefix', client.prefixHash('quota'), [prefixLimit(client)]);
  const wants = writeWants(quotaKeyOf(client), client.prefix === client.network ? [own] : [own, prefix]);
  return { ...wants, push: { key: push, isAnother: false } };
}

/** A pull request or an issue is opened in a repository, too. */
export function openingIn({ key, limits }: Target, account: AccountLimits, wants: Wants): Wants {
  const { openings } = account;
  const own = openings.length === 0 ? [] : [window('openings', '', openings)];
  const windows = [...wants.windows, window('repository', key, limits), ...own];
  return created(account, { ...wants, repository: key, windows });
}

/** @param repository the key of the thread's repository. */
export function commentWants(by: string, repository: string, thread: Target, account: AccountLimits): Wants {
  const windows = [
    window('thread', thread.key, thread.limits),
    window('comments', repository, [commentsIn(account.creations)]),
  ];
  return created(account, { ...writeWants(by, windows), repository });
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
export function forkWants(
  by: string,
  of: { readonly client: Client; readonly repository: string } | null,
  account: AccountLimits,
): Wants {
  if (of === null) return created(account, writeWants(by));
  const { client, repository } = of;
  const wants = writeWants(by, [window('forks', client.prefixHash('quota'), [FORKS])]);
  const key = client.prefixHash('quota', repository.toLowerCase());
  return { ...created(account, wants), push: { key, isAnother: false } };
}

function created({ creations, openings }: AccountLimits, wants: Wants): Wants {
  const windows = [...wants.windows, window('account', '', creations)];
  return { ...wants, windows, isSpaced: openings.length > 0 };
}

const window = (kind: WindowKind, key: string, limits: readonly Limit[]) => ({ kind, key, limits });
