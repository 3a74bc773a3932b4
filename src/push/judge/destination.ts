/** Where a push goes: whether upstream takes it, for which branch it is, and which pull request it updates. */
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import type { PushTarget } from '../../git/wire/ref-name.ts';
import { oneLine } from '../../host-text.ts';
import { closedSentence, OPEN_POLICY, policyRefusal } from '../../policy/policy.ts';
import { fullName } from '../../repository-name.ts';
import type { PushSettings } from '../push-host.ts';
import type { ClaimedUpdate } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import type { NamedPullRequest } from '../verdict/verdict.ts';
import type { Questions, Upstream } from './questions.ts';

/** Upstream as it takes pull requests. */
export type OpenUpstream = Upstream & { readonly defaultBranch: Ref };

/** @throws Refusal if it takes no pull requests, or none of ours. */
export function openUpstream(
  upstream: Upstream,
  { maxRepositoryMb, issueFormUrl }: Pick<PushSettings, 'maxRepositoryMb' | 'issueFormUrl'>,
): OpenUpstream {
  const { repository, defaultBranch, policy } = upstream;
  const sizeMb = Math.ceil(repository.sizeKb / 1024);
  if (sizeMb > maxRepositoryMb) {
    throw new Refusal('repository-size', 'the repository is too large', [
      `${fullName(repository)} has ${sizeMb} MB; this service accepts repositories of up to ${maxRepositoryMb} MB.`,
    ]);
  }
  if (repository.isArchived) {
    throw new Refusal('archived', 'the repository is archived', [
      `${fullName(repository)} accepts no more changes.`,
    ]);
  }
  if (repository.pullRequests !== 'all') {
    const takesIssues = policyRefusal(policy ?? OPEN_POLICY, repository, 'issues') === null;
    throw new Refusal('policy', 'not accepted by the repository', [
      closedSentence(repository, repository.pullRequests),
      ...(takesIssues ? [`You can open an issue instead: ${issueFormUrl(repository)}`] : []),
    ]);
  }
  if (defaultBranch === null) {
    throw new Refusal('empty', 'the repository is empty', [
      `${fullName(repository)} has no commit yet, so there is nothing to open a pull request against.`,
    ]);
  }
  if (policy === undefined) {
    throw new Refusal('policy-unread', 'the policy of the repository could not be read', [
      'Nothing was changed. Push again later.',
    ]);
  }
  const refusal = policyRefusal(policy ?? OPEN_POLICY, repository, 'pull_requests');
  if (refusal !== null) throw new Refusal('policy', 'not accepted by the repository', [refusal]);
  return { ...upstream, defaultBranch };
}

export interface Named {
  /** Null: the push names no pull request, or one that nobody knows. */
  readonly named: Omit<NamedPullRequest, 'tip'> | null;
  readonly claim: ClaimedUpdate | null;
}

/**
 * The pull request that a push names with `-o pr-hash`, claimed. If nobody knows it, the person is told.
 * @param listed its claim, if the service has it in its list; otherwise only the host knows it.
 * @throws Refusal if another push to it is in progress.
 */
export async function findNamed(
  questions: Questions,
  { repository }: Upstream,
  prHash: string | null,
  listed: ClaimedUpdate | null,
): Promise<Named> {
  if (prHash === null) return { named: null, claim: null };
  const pullRequest = await questions.findPullRequest(prHash, listed?.recorded ?? null);
  if (pullRequest === null) {
    await questions.note(`NEW pull request: no pull request of ${fullName(repository)} has that pr-hash.`);
    return { named: null, claim: null };
  }
  const claim = listed ?? (await questions.claim(prHash));
  return { named: { prHash, pullRequest }, claim };
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
  questions: Questions,
  target: PushTarget,
  option: string | null,
  current: string | null,
  upstream: OpenUpstream,
): Promise<Base> {
  const named = option ?? (target.kind === 'for' ? target.base : null);
  if (named === null) {
    const present = current === null ? null : await findBranch(questions, upstream, current);
    // The host is never asked for this name, because the person may have chosen it for themselves alone.
    const own = target.kind === 'branch' ? findListed(upstream, target.branch) : null;
    return { ref: present ?? own ?? upstream.defaultBranch, isNamed: false };
  }
  const ref = await findBranch(questions, upstream, named);
  if (ref !== null) return { ref, isNamed: true };
  throw new Refusal('base', 'there is no such base branch', [
    `${fullName(upstream.repository)} has no branch "${oneLine(named)}". Name an existing branch with -o base=<branch>.`,
  ]);
}

function findListed({ refs }: Upstream, branch: string): Ref | null {
  return refs.find(({ name }) => name === `refs/heads/${branch}`) ?? null;
}

async function findBranch(questions: Questions, upstream: Upstream, branch: string): Promise<Ref | null> {
  const listed = findListed(upstream, branch);
  return listed !== null || upstream.hasAllBranches ? listed : questions.findBranch(branch);
}
