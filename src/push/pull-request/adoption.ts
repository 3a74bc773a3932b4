/**
 * Cleans up after a push that died and was not repeated: finds the pull request that it opened, so that it can be
 * recorded like any other, or deletes a branch without one.
 */
import { type GitHub, headOf, type PullRequest } from '../../host/github/github.ts';
import { HostError } from '../../host/host-error.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { workBranch } from '../command/push-options.ts';

export interface Orphan {
  /** Under its current name. */
  readonly repository: RepositoryName;
  readonly pullRequest: PullRequest;
}

/** Null if the push opened none. @throws HostError if the host does not answer. */
export async function findOrphan(
  github: Pick<GitHub, 'repository' | 'botLogin' | 'findPullRequest' | 'deleteBranch'>,
  target: RepositoryName,
  prHash: string,
): Promise<Orphan | null> {
  try {
    const [repository, botLogin] = await Promise.all([github.repository(target), github.botLogin()]);
    const branch = workBranch(prHash);
    const fork = { owner: botLogin, name: repository.name };
    const pullRequest = await github.findPullRequest(repository, headOf(fork, branch));
    if (pullRequest !== null) return { repository, pullRequest };
    await github.deleteBranch(fork, branch);
    return null;
  } catch (error) {
    // The repository or branch is gone, or the fork has another name; its branch does no harm.
    const saidNo = error instanceof HostError && (error.code === 'missing' || error.code === 'refused');
    if (saidNo) return null;
    throw error;
  }
}
