/**
 * Writes to a repository that was renamed. A host redirects them, GitHub with 307, others with 301. The client follows
 * only redirects that repeat the request (RFC 9110, 15.4: with 301 to 303 a POST may become a GET, whose success says
 * nothing), so after the others nothing has been done. The new name is looked up, and the same write is made under it.
 */
import { expectFlag, expectRepository } from './answer.ts';
import { HostError } from '../host-error.ts';
import type { RestCalls } from './octokit.ts';
import { fullName, type RepositoryName } from '../repository-name.ts';

/** @throws HostError; `moved` if the host redirects the write, and shows no public repository of another name. */
export async function underCurrentName<T>(
  { octokit, retried }: RestCalls,
  repository: RepositoryName,
  write: (repository: RepositoryName) => Promise<T>,
): Promise<T> {
  try {
    return await write(repository);
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== 'moved') throw error;
    const { owner, name: repo } = repository;
    const current = await retried(async () => {
      const { data } = await octokit.rest.repos.get({ owner, repo });
      // The bot may see private repositories. What was meant for the public is not written there.
      return expectFlag(data.private) ? null : expectRepository(data);
    });
    const isSame = current === null || fullName(current).toLowerCase() === fullName(repository).toLowerCase();
    if (isSame) throw error;
    return write(current);
  }
}
