/**
 * Where a push goes: the repository as upstream has it now, the branch that the pull request asks to be merged into,
 * and the pull request that is updated, if one is.
 */
import type { RefList } from '../git/protocol-v2.ts';
import type { PushTarget } from '../git/ref-name.ts';
import type { Ref } from '../git/ref-advertisement.ts';
import { headOf, type PullRequest, type Repository } from '../host/github.ts';
import { HostError } from '../host/host-error.ts';
import { fullName, type RepositoryName } from '../host/repository-name.ts';
import type { KnownPolicy } from '../policy/policies.ts';
import { OPEN_POLICY, policyRefusal } from '../policy/policy.ts';
import { workBranch } from './push-options.ts';
import type { PushHost } from './push-host.ts';
import { hostStep, Refusal } from './refusal.ts';
import { discoveredRefs } from './upstream-refs.ts';

export interface Upstream {
  readonly repository: Repository;
  readonly refs: readonly Ref[];
  readonly defaultBranch: Ref;
}

/** @throws Refusal if the repository cannot be looked up, or takes no pull requests. */
export async function lookUpUpstream(
  host: PushHost,
  target: RepositoryName,
  maxRepositoryMb: number,
): Promise<Upstream> {
  const [repository, list] = await hostStep('lookup', () =>
    Promise.all([host.github.repository(target), discoveredRefs(host, target)]),
  );
  // The bot may see private repositories; the public may not, and must not learn of them either.
  if (repository.isPrivate) throw missingRepository();
  const sizeMb = Math.ceil(repository.sizeKb / 1024);
  if (sizeMb > maxRepositoryMb) {
    throw new Refusal('the repository is too large', [
      `${fullName(repository)} has ${sizeMb} MB; this service takes repositories of up to ${maxRepositoryMb} MB.`,
    ]);
  }
  if (repository.isArchived) {
    throw new Refusal('the repository is archived', [`${fullName(repository)} takes no more changes.`]);
  }
  const defaultBranch = findBranch(list, list.head?.slice('refs/heads/'.length) ?? '');
  if (defaultBranch === undefined) {
    throw new Refusal('the repository is empty', [
      `${fullName(repository)} has no commit yet, so there is nothing to open a pull request against.`,
    ]);
  }
  return { repository, refs: list.refs, defaultBranch };
}

/**
 * @param policy of the repository; that it is public, the look-up has said.
 * @throws Refusal if its maintainers take no anonymous pull requests, or if the host does not tell.
 */
export function checkPolicy(policy: KnownPolicy, { repository }: Upstream): void {
  if (policy === undefined) {
    throw new Refusal('the policy of the repository could not be read', [
      'Nothing was changed. Push again later.',
    ]);
  }
  const refusal = policyRefusal(policy ?? OPEN_POLICY, repository, 'pull_requests');
  if (refusal !== null) throw new Refusal('not accepted by the repository', [refusal]);
}

function missingRepository(): Refusal {
  const missing = new HostError('missing', 'The repository does not exist, or is not public.');
  return new Refusal('the repository could not be looked up', [missing.publicMessage]);
}

function findBranch({ refs }: Pick<RefList, 'refs'>, branch: string): Ref | undefined {
  return refs.find(({ name }) => name === `refs/heads/${branch}`);
}

/** The pushed branch's own name if upstream has it, else the default branch; `refs/for/<base>` names it. */
export function chooseBase(target: PushTarget, upstream: Upstream): Ref {
  if (target.kind === 'branch') return findBranch(upstream, target.branch) ?? upstream.defaultBranch;
  const base = target.kind === 'for' ? findBranch(upstream, target.base) : undefined;
  if (base !== undefined) return base;
  throw new Refusal('there is no such base branch', [
    `${fullName(upstream.repository)} has no branch of that name. Push to refs/for/<an existing branch>.`,
  ]);
}

export interface Continuation {
  readonly prHash: string;
  /** Null: a new pull request. */
  readonly pullRequest: PullRequest | null;
  readonly notice: string | null;
}

/**
 * Which pull request the push belongs to.
 * @param botLogin the owner of all forks.
 */
export async function findContinuation(
  host: PushHost,
  upstream: Upstream,
  botLogin: string,
  prHash: string | null,
  newHash: string,
): Promise<Continuation> {
  if (prHash === null) return { prHash: newHash, pullRequest: null, notice: null };
  const head = headOf({ owner: botLogin, name: upstream.repository.name }, workBranch(prHash));
  const pullRequest = await hostStep('lookup', () => host.github.findPullRequest(upstream.repository, head));
  if (pullRequest !== null) return { prHash, pullRequest, notice: null };
  return {
    prHash: newHash,
    pullRequest: null,
    notice: `No pull request of ${fullName(upstream.repository)} has that pr-hash: opening a new one.`,
  };
}
