/** What each kind of write counts in. All keys are keyed hashes: the account's object learns no address and no name. */
import { keyedHash } from '../secret/keyed-hash.ts';
import type { Client } from './client.ts';
import type { WantedWindow, Wants } from './creations.ts';
import { CONTRACT_LIMITS, FORKS, SITE_PULL_REQUESTS } from './limits.ts';
import type { Limit } from './sliding-window.ts';

/** A repository or a thread, and what all clients together may create there. */
export interface Target {
  readonly key: string;
  readonly limits: readonly Limit[];
}

/** @param place `owner/repo`, or `owner/repo#number`, in upper or lower case. */
export function targetKey(secret: string, place: string): string {
  return keyedHash(secret, 'target', place.toLowerCase());
}

/** Whose share it is: anybody has networks without number, each of which would have had nothing. */
export function shareOf(client: Client): string {
  return client.siteHash('share');
}

/** @param by from `shareOf`, or the name of a delayed push's client. */
export function writeWants(by: string): Wants {
  return { by, repository: null, takesPart: false, windows: [], push: null };
}

/** The contract's five an hour, and those of the IPv6 /48 around the network, if there is one. @param push a keyed hash. */
export function pullRequestWants(client: Client, push: string): Wants {
  const own = window('address', client.hash('share'), [CONTRACT_LIMITS.pullRequests]);
  const site = window('prefix', client.siteHash('share'), [SITE_PULL_REQUESTS]);
  const windows = client.site === client.network ? [own] : [own, site];
  return { ...writeWants(shareOf(client)), windows, push: { key: push, isAnother: false } };
}

/** A pull request or an issue is opened in a repository, too. @param creations what the account may create. */
export function openingIn(repository: Target, creations: readonly Limit[], wants: Wants): Wants {
  const { key, limits } = repository;
  const windows = [...wants.windows, window('repository', key, limits), account(creations)];
  return { ...wants, repository: key, windows };
}

/** @param repository the key of the thread's repository. */
export function commentWants(
  by: string,
  repository: string,
  thread: Target,
  creations: readonly Limit[],
): Wants {
  const windows = [window('thread', thread.key, thread.limits), account(creations)];
  return { ...writeWants(by), repository, windows };
}

/** @param client null: nobody's, as the push was delayed. */
export function forkWants(by: string, client: Client | null, creations: readonly Limit[]): Wants {
  const own = client === null ? [] : [window('forks', client.siteHash('share'), [FORKS])];
  return { ...writeWants(by), windows: [...own, account(creations)] };
}

function account(limits: readonly Limit[]): WantedWindow {
  return window('account', '', limits);
}

function window(kind: WantedWindow['kind'], key: string, limits: readonly Limit[]): WantedWindow {
  return { kind, key, limits };
}
