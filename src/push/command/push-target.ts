/**
 * Where a push goes: upstream's repository as it is now, the base branch, and the pull request that is updated, if
 * there is one.
 */
import type { PushTarget } from '../../git/ref-name.ts';
import type { Ref } from '../../git/ref-advertisement.ts';
import { hostText } from '../../host/host-error.ts';
import type { PullRequest, Repository } from '../../host/code-host.ts';
import { fullName, type RepositoryName } from '../../host/repository-name.ts';
import type { KnownPolicy } from '../../policy/policies.ts';
import { OPEN_POLICY, policyRefusal } from '../../policy/policy.ts';
import type { Claimed } from '../pull-request/claims.ts';
import { workBranch } from './push-options.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import { defaultBranchOf, discoveredRefs, findUpstreamBranch } from '../upstream/upstream-refs.ts';
import { lookedUpRepository } from '../upstream/upstream-repository.ts';

export interface Upstream {
  readonly repository: Repository;
  /** As many as are kept of its branches and tags. */
  readonly refs: readonly Ref[];
  readonly hasAllBranches: boolean;
  readonly defaultBranch: Ref;
}

/** @throws Refusal */
export async function publicRepository(run: PushRun, target: RepositoryName): Promise<Repository> {
  const repository = await run.steps.run('lookup', () => lookedUpRepository(run.host, target));
  // The bot may see private repositories. The public may not, and must not even learn that they exist.
  if (!repository.isPrivate) return repository;
  throw new Refusal('the repository could not be looked up', [
    'The repository does not exist, or is not public.',
  ]);
}

/** @throws Refusal if the repository cannot be looked up, or cannot receive pull requests. */
export async function lookUpUpstream(
  run: PushRun,
  target: RepositoryName,
  maxRepositoryMb: number,
): Promise<Upstream> {
  const [repository, list] = await Promise.all([
    publicRepository(run, target),
    run.steps.run('lookup', () => discoveredRefs(run.host, target)),
  ]);
  const sizeMb = Math.ceil(repository.sizeKb / 1024);
  if (sizeMb > maxRepositoryMb) {
    throw new Refusal('the repository is too large', [
      `${fullName(repository)} has ${sizeMb} MB; this service accepts repositories of up to ${maxRepositoryMb} MB.`,
    ]);
  }
  if (repository.isArchived) {
    throw new Refusal('the repository is archived', [`${fullName(repository)} accepts no more changes.`]);
  }
  const defaultBranch = defaultBranchOf(list);
  if (defaultBranch === null) {
    throw new Refusal('the repository is empty', [
      `${fullName(repository)} has no commit yet, so there is nothing to open a pull request against.`,
    ]);
  }
  return { repository, refs: list.refs, hasAllBranches: list.hasAllBranches, defaultBranch };
}

/**
 * @param policy of the repository. The look-up has already checked that the repository is public.
 * @throws Refusal if its maintainers do not accept anonymous pull requests, or if the policy cannot be read.
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

function findListed({ refs }: Upstream, branch: string): Ref | null {
  return refs.find(({ name }) => name === `refs/heads/${branch}`) ?? null;
}

async function findBranch(run: PushRun, upstream: Upstream, branch: string): Promise<Ref | null> {
  const listed = findListed(upstream, branch);
  if (listed !== null || upstream.hasAllBranches) return listed;
  return run.steps.run('lookup', () => findUpstreamBranch(run.host, upstream.repository, branch));
}

export interface Base {
  readonly ref: Ref;
  /** Whether the person named it. If not, an open pull request keeps its base. */
  readonly isNamed: boolean;
}

/**
 * The base branch, the first of these that exists: the option `base`; the branch after `refs/for/`; the present base of
 * an open pull request; the upstream branch with the pushed branch's name; the default branch.
 * @param current the base of the open pull request that is updated. @throws Refusal
 */
export async function chooseBase(
  run: PushRun,
  target: PushTarget,
  option: string | null,
  current: string | null,
  upstream: Upstream,
): Promise<Base> {
  const named = option ?? (target.kind === 'for' ? target.base : null);
  if (named === null) {
    const present = current === null ? null : await findBranch(run, upstream, current);
    // The host is never asked for this name, because the person may have chosen it for themselves alone.
    const own = target.kind === 'branch' ? findListed(upstream, target.branch) : null;
    return { ref: present ?? own ?? upstream.defaultBranch, isNamed: false };
  }
  const ref = await findBranch(run, upstream, named);
  if (ref !== null) return { ref, isNamed: true };
  throw new Refusal('there is no such base branch', [
    `${fullName(upstream.repository)} has no branch "${hostText(named)}". Name an existing branch with -o base=<branch>.`,
  ]);
}

export interface Continuation {
  readonly prHash: string;
  /** Null if no pull request was opened from this hash's branch yet. */
  readonly pullRequest: PullRequest | null;
  /** Whether the person named this pull request, and it is open. */
  readonly isUpdate: boolean;
  /** Whether the branch may be on the fork already. */
  readonly mayHaveBranch: boolean;
  readonly notice: string | null;
}

/**
 * Which pull request the push belongs to.
 * @param botLogin the owner of all forks. @param prHash of the push options.
 */
export async function findContinuation(
  run: PushRun,
  { repository }: Upstream,
  botLogin: string,
  prHash: string | null,
  { intent, isRepeated }: Pick<Claimed, 'intent' | 'isRepeated'>,
): Promise<Continuation> {
  const find = (hash: string) => findPullRequest(run, repository, botLogin, hash);
  if (prHash !== null) {
    const pullRequest = await find(prHash);
    if (pullRequest !== null) {
      return { prHash, pullRequest, isUpdate: pullRequest.isOpen, mayHaveBranch: true, notice: null };
    }
  }
  return {
    prHash: intent.prHash,
    // An earlier attempt without an answer may have opened it.
    pullRequest: isRepeated ? await find(intent.prHash) : null,
    isUpdate: false,
    mayHaveBranch: isRepeated,
    notice:
      prHash === null
        ? null
        : `No pull request of ${fullName(repository)} has that pr-hash: opening a new one.`,
  };
}

/** The pull request from a hash's branch: the open one, else the newest; null if there never was one. */
export function findPullRequest(
  { host, steps }: PushRun,
  repository: RepositoryName,
  botLogin: string,
  prHash: string,
): Promise<PullRequest | null> {
  const head = { fork: { owner: botLogin, name: repository.name }, branch: workBranch(prHash) };
  return steps.run('lookup', () => host.repositories.findPullRequest(repository, head));
}
