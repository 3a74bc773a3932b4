/**
 * What becomes of a push that died and was never repeated: the pull request that it had opened is found, so that it can
 * be written down like any other; a branch without one is taken away.
 */
import { type GitHub, headOf, type PullRequest } from '../host/github.ts';
import { HostError } from '../host/host-error.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import { workBranch } from './push-options.ts';

export interface Orphan {
  /** Under its current name. */
  readonly repository: RepositoryName;
  readonly pullRequest: PullRequest;
}

/** Null if the push had not come so far. @throws HostError if the host does not say. */
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
    // No such repository any more, no such branch, or a fork of another name, whose branch harms nobody.
    const saidNo = error instanceof HostError && (error.code === 'missing' || error.code === 'refused');
    if (saidNo) return null;
    throw error;
  }
}
