/**
 * Cleans up after a push that died and was not repeated: finds the pull request that it opened, so that it can be
 * recorded like any other, or deletes a branch without one.
 */
import type { PullRequest, RepositoryHost } from '../../host/code-host.ts';
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
  host: Pick<RepositoryHost, 'repository' | 'account' | 'findPullRequest' | 'deleteBranch'>,
  target: RepositoryName,
  prHash: string,
): Promise<Orphan | null> {
  try {
    const [repository, { login }] = await Promise.all([host.repository(target), host.account()]);
    const branch = workBranch(prHash);
    const fork = { owner: login, name: repository.name };
    const pullRequest = await host.findPullRequest(repository, { fork, branch });
    if (pullRequest !== null) return { repository, pullRequest };
    await host.deleteBranch(fork, branch);
    return null;
  } catch (error) {
    // The repository or branch is gone, or the fork has another name; its branch does no harm.
    const saidNo = error instanceof HostError && (error.code === 'missing' || error.code === 'refused');
    if (saidNo) return null;
    throw error;
  }
}
