/**
 * What upstream is when a push is judged, and whether it takes pull requests.
 */
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import type { PullRequest, Repository } from '../../host/code-host.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import type { KnownPolicy } from '../../policy/policies.ts';
import { closedSentence, OPEN_POLICY, policyRefusal } from '../../policy/policy.ts';
import { workBranch } from '../../pr-hash.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import type { PushSettings } from '../push-host.ts';
import { defaultBranchOf, discoveredRefs } from '../../upstream/upstream-refs.ts';
import { lookedUpRepository } from '../../upstream/upstream-repository.ts';
import { hasSubmodules } from '../publish/submodules.ts';

/** What any visitor could see of it, and the bot's name. */
export interface Upstream {
  readonly repository: Repository;
  /** As many as are kept of its branches and tags. */
  readonly refs: readonly Ref[];
  readonly hasAllBranches: boolean;
  /** Null: it has no commit yet. */
  readonly defaultBranch: Ref | null;
  readonly policy: KnownPolicy;
  readonly hasSubmodules: boolean;
  /** The owner of all forks, and the author of everything. */
  readonly botLogin: string;
}

/** @throws Refusal if it cannot be looked up. */
export async function lookUpUpstream(run: PushRun, target: RepositoryName): Promise<Upstream> {
  const { host, steps } = run;
  const [repository, list, botLogin, policy, hasModules] = await Promise.all([
    publicRepository(run, target),
    steps.run('lookup', () => discoveredRefs(host, target)),
    steps.run('lookup', () => host.botLogin()),
    host.policy(target),
    hasSubmodules(host, target),
  ]);
  const { refs, hasAllBranches } = list;
  const defaultBranch = defaultBranchOf(list);
  return { repository, refs, hasAllBranches, defaultBranch, policy, hasSubmodules: hasModules, botLogin };
}

/** @throws Refusal */
export async function publicRepository(run: PushRun, target: RepositoryName): Promise<Repository> {
  const repository = await run.steps.run('lookup', () => lookedUpRepository(run.host, target));
  // The bot may see private repositories. The public may not, and must not even learn that they exist.
  if (!repository.isPrivate) return repository;
  throw new Refusal('missing', 'the repository could not be looked up', [
    'The repository does not exist, or is not public.',
  ]);
}

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
