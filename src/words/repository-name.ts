/**
 * A repository on a host, named by the contract's rule (4.15, section 7). No other name gets into
 * a URL for the host.
 */
export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
}

/** The rule, as people read it. */
export const INVALID_NAME =
  'invalid owner or repository name: 1 to 100 letters, digits, "-", "_" and ".", without ".."';

const NAME_PATTERN = /^(?!\.$)(?!.*\.\.)[A-Za-z0-9._-]{1,100}$/;

/** Reads a name, with or without `.git` at its end; null if owner or name is invalid. */
export function parseRepositoryName(owner: string, repository: string): RepositoryName | null {
  const name = repository.endsWith('.git') ? repository.slice(0, -'.git'.length) : repository;
  return NAME_PATTERN.test(owner) && NAME_PATTERN.test(name) ? { owner, name } : null;
}

export function fullName(repository: RepositoryName): string {
  return `${repository.owner}/${repository.name}`;
}

/** Names a repository in caches. Case does not matter, because hosts ignore it. */
export function repositoryKey(hostName: string, repository: RepositoryName): string {
  return `${hostName}/${fullName(repository)}`.toLowerCase();
}
