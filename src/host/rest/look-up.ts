/** The look-up of a repository, which also shows whether the public may see it. */
import type { Repository } from '../code-host.ts';
import { rememberVisibility } from '../git/visibility.ts';
import type { RepositoryName } from '../repository-name.ts';
import type { RestCalls } from './octokit.ts';

/** @param read asks the host once. @throws HostError */
export async function lookUpWith(
  { retried, apiUrl, clock }: RestCalls,
  name: RepositoryName,
  read: () => Promise<Repository>,
): Promise<Repository> {
  const repository = await retried(read);
  for (const known of [name, repository]) {
    rememberVisibility(apiUrl, known, repository.isPrivate, clock.now());
  }
  return repository;
}
