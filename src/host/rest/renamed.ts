/**
 * Writes to a repository that was renamed. A host redirects them, GitHub with 307, others with 301. The client follows
 * only redirects that repeat the request (RFC 9110, 15.4: with 301 to 303 a POST may become a GET, whose success says
 * nothing), so after the others nothing has been done. The new name is looked up, and the same write is made under it.
 */
import type { Repository } from '../code-host.ts';
import { HostError } from '../../host-error.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';

/** @throws HostError; `moved` if the host redirects the write, and shows no public repository of another name. */
export async function underCurrentName<T>(
  lookUp: (repository: RepositoryName) => Promise<Repository>,
  repository: RepositoryName,
  write: (repository: RepositoryName) => Promise<T>,
): Promise<T> {
  try {
    return await write(repository);
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== 'moved') throw error;
    const current = await lookUp(repository);
    // The bot may see private repositories. What was meant for the public is not written there.
    const isElsewhere = fullName(current).toLowerCase() !== fullName(repository).toLowerCase();
    if (current.isPrivate || !isElsewhere) throw error;
    return write({ owner: current.owner, name: current.name });
  }
}
