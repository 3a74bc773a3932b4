/** The pull request of a hash: what the service has recorded comes first, because the host's lists may be behind. */
import type { PullRequestRecord } from '../../durable/pull-request/record.ts';
import type { PullRequest, RepositoryHost } from '../../host/code-host.ts';
import { workBranch } from '../../pr-hash.ts';
import type { RepositoryName } from '../../repository-name.ts';
import type { PushHost } from '../push-host.ts';

type Recorded = Pick<PullRequestRecord, 'number'>;

/**
 * Asks the host for the pull request that was recorded last. If the host shows none with that number, its list of the
 * branch's pull requests decides: the open one, else the newest; null if there never was one. The list is less
 * reliable: it may lack the newest one for a while, and is searched by the bot's name.
 * @param recorded null: none was. @throws HostError
 */
export async function lookUpPullRequest(
  repositories: Pick<RepositoryHost, 'pullRequest' | 'findPullRequest'>,
  repository: RepositoryName,
  botLogin: string,
  prHash: string,
  recorded: Recorded | null,
): Promise<PullRequest | null> {
  const branch = workBranch(prHash);
  const known = recorded === null ? null : await repositories.pullRequest(repository, recorded.number);
  // The number belongs to another pull request if the hash is of another repository, or this one was created again.
  if (known?.branch === branch) return known;
  const head = { fork: { owner: botLogin, name: repository.name }, branch };
  return repositories.findPullRequest(repository, head);
}

/** Null if no push to this host has recorded one; wakes no object for a hash that is made up. */
export async function recordOf(
  { hostKey, ...host }: Pick<PushHost, 'hostKey' | 'mayBeRecorded' | 'pullRequest'>,
  prHash: string,
): Promise<Recorded | null> {
  const view = (await host.mayBeRecorded(prHash)) ? await host.pullRequest(prHash).view() : null;
  return view?.host === hostKey ? view : null;
}
