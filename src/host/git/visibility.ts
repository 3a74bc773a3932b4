/**
 * Which repositories the host has lately said to be public, by the look-ups that are made anyway. One for the isolate.
 *
 * The bot's token may go along with requests about them, as it shows nothing that the public may not see. Hosts limit
 * requests without a token by address, and a Worker shares its addresses (cli/cli#14329).
 */
import type { Clock } from '../../clock.ts';
import type { RepositoryHost } from '../code-host.ts';
import { fullName, type RepositoryName } from '../repository-name.ts';
import type { Visibility } from './git-transport.ts';

/** So long a repository that has become private may be listed with the token. */
const LIFE_MS = 10 * 60 * 1000;
const MAX_REPOSITORIES = 1_000;

/** When each was last seen to be public; milliseconds since 1970. */
const publicAt = new Map<string, number>();

function keyOf(apiUrl: string, repository: RepositoryName): string {
  return `${apiUrl} ${fullName(repository)}`.toLowerCase();
}

/** @param apiUrl names the host. */
export function rememberVisibility(
  apiUrl: string,
  repository: RepositoryName,
  isPrivate: boolean,
  now: number,
): void {
  if (publicAt.size >= MAX_REPOSITORIES) publicAt.clear();
  if (isPrivate) publicAt.delete(keyOf(apiUrl, repository));
  else publicAt.set(keyOf(apiUrl, repository), now);
}

export function isKnownPublic(apiUrl: string, repository: RepositoryName, now: number): boolean {
  return now - (publicAt.get(keyOf(apiUrl, repository)) ?? Number.NEGATIVE_INFINITY) < LIFE_MS;
}

/** What is known of a host's repositories, and where to ask. */
export function visibilityAt(
  host: Pick<RepositoryHost, 'repository'>,
  apiUrl: string,
  clock: Clock,
): Visibility {
  return {
    isKnownPublic: (repository) => isKnownPublic(apiUrl, repository, clock.now()),
    isPublic: async (repository) => !(await host.repository(repository)).isPrivate,
  };
}
