/** The pull request of a hash: what the service has recorded comes first, because the host's lists may be behind. */
import type { PullRequest, PullRequestPlace, RepositoryHost } from '../../host/code-host.ts';
import { workBranch } from '../../pr-hash.ts';
import type { RepositoryName } from '../../repository-name.ts';
import type { PushHost } from '../push-host.ts';

/** As `RepositoryHost.findPullRequest`. @throws HostError */
export function lookUpPullRequest(
  repositories: Pick<RepositoryHost, 'findPullRequest'>,
  repository: RepositoryName,
  botLogin: string,
  prHash: string,
  recorded: PullRequestPlace | null,
): Promise<PullRequest | null> {
  return repositories.findPullRequest(repository, { owner: botLogin, branch: workBranch(prHash) }, recorded);
}

/** Null if no push to this host has recorded one; wakes no object for a hash that is made up. */
export async function recordOf(
  { hostKey, ...host }: Pick<PushHost, 'hostKey' | 'mayBeRecorded' | 'pullRequest'>,
  prHash: string,
): Promise<PullRequestPlace | null> {
  const view = (await host.mayBeRecorded(prHash)) ? await host.pullRequest(prHash).view() : null;
  return view?.host === hostKey ? view : null;
}
