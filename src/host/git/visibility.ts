/**
 * Remembers which repositories the host has lately shown to be public, and whose pull requests they take, from look-ups
 * that are made anyway. Of these the bot's token shows nothing that the public may not see. One for the isolate.
 */
import type { Clock } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import type { Repository } from '../code-host.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';

/** So long a repository that has become private may be listed with the token. */
const LIFE_MS = 10 * 60 * 1000;
const knownPublic = new Recent<Repository['pullRequests']>({ lifeMs: LIFE_MS, most: 1_000 });

function keyOf(apiUrl: string, repository: RepositoryName): string {
  return `${apiUrl} ${fullName(repository)}`.toLowerCase();
}

/** @param apiUrl names the host. */
export function rememberVisibility(
  apiUrl: string,
  repository: RepositoryName,
  { isPrivate, pullRequests }: Repository,
  now: number,
): void {
  if (isPrivate) knownPublic.delete(keyOf(apiUrl, repository));
  else knownPublic.set(keyOf(apiUrl, repository), pullRequests, now);
}

export function isKnownPublic(apiUrl: string, repository: RepositoryName, now: number): boolean {
  return pullRequestsOf(apiUrl, repository, now) !== null;
}

/** Whose pull requests a public repository takes; null: it was not looked up lately. */
export function pullRequestsOf(
  apiUrl: string,
  repository: RepositoryName,
  now: number,
): Repository['pullRequests'] | null {
  return knownPublic.get(keyOf(apiUrl, repository), now);
}

/** Whether a repository is public. Asks the host, if it is not known. Rejects with HostError. */
export type IsPublic = (repository: RepositoryName) => Promise<boolean>;

export function publicAt(
  host: { readonly repository: (name: RepositoryName) => Promise<Repository> },
  apiUrl: string,
  clock: Clock,
): IsPublic {
  return async (repository) =>
    isKnownPublic(apiUrl, repository, clock.now()) || !(await host.repository(repository)).isPrivate;
}
