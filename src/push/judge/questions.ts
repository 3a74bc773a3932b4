/**
 * What judging asks outside: first what a clone shows of upstream, then what the host's interface says, then what depends
 * on the push. No question writes anything at the host. If the host fails, the question rejects with a refusal that says so.
 */
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import type { PullRequest, PullRequestPlace, Repository } from '../../host/code-host.ts';
import type { KnownPolicy } from '../../policy/policies.ts';
import { workBranch } from '../../pr-hash.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { UpstreamHistory } from '../../upstream/upstream-history.ts';
import {
  defaultBranchOf,
  type DiscoveredRefs,
  discoveredRefs,
  findUpstreamBranch,
  listUpstreamRefs,
} from '../../upstream/upstream-refs.ts';
import type { Pushed, PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import { repeatCommand } from '../reply/banner.ts';
import { findSameWork, tellSameWork, worksOf } from '../same-work.ts';
import type { NamedPullRequest, Publishable } from '../verdict/verdict.ts';
import { replaceableTip } from './others-work.ts';
import { type ComparedSpool, entriesChanged, readBases, readUpstreamFiles } from './reads.ts';

/** What a clone of it shows. */
export interface Upstream extends Pick<DiscoveredRefs, 'repository' | 'refs' | 'hasAllBranches'> {
  /** Null: it has no commit yet. */
  readonly defaultBranch: Ref | null;
}

/** What the host's interface says of it. */
export interface Place {
  readonly repository: Repository;
  readonly policy: KnownPolicy;
}

/** @throws Refusal if it cannot be looked up. */
export async function lookUpUpstream({ host, steps, target }: PushRun): Promise<Upstream> {
  const list = await steps.run('lookup', () => discoveredRefs(host, target));
  return { ...list, defaultBranch: defaultBranchOf(list) };
}

/** @throws Refusal if it cannot be looked up. */
export async function lookUpPlace(run: PushRun): Promise<Place> {
  const { host, target } = run;
  const looked = host.repositories.repository(target);
  const [repository, policy] = await Promise.all([
    publicRepository(run, looked),
    host.policy(target, looked),
  ]);
  return { repository, policy };
}

/** @param looked what the host answers. @throws Refusal */
export async function publicRepository(
  { host, steps, target }: PushRun,
  looked = host.repositories.repository(target),
): Promise<Repository> {
  const repository = await steps.run('lookup', () => looked);
  // The bot may see private repositories. The public may not, and must not even learn that they exist.
  if (!repository.isPrivate) return repository;
  throw new Refusal('missing', 'the repository could not be looked up', [
    'The repository does not exist, or is not public.',
  ]);
}

/** The pull request of a hash, as `RepositoryHost.findPullRequest`. @throws Refusal */
export function findPullRequest(
  { host, steps }: PushRun,
  repository: RepositoryName,
  botLogin: string,
  prHash: string,
  recorded: PullRequestPlace | null,
): Promise<PullRequest | null> {
  const head = { owner: botLogin, branch: workBranch(prHash) };
  return steps.run('lookup', () => host.repositories.findPullRequest(repository, head, recorded));
}

export type Questions = ReturnType<typeof questionsOf>;

export function questionsOf(
  run: PushRun,
  { repository, refs }: Pick<Upstream, 'repository' | 'refs'>,
  botLogin: string,
) {
  const { host, store, steps, reply, claims } = run;
  const ofHistory = <T>(action: () => Promise<T>): Promise<T> => steps.run('history', action);
  return {
    /** What the person reads first. */
    reply,
    /** Tells the person something behind that. */
    note: (...lines: string[]) => run.notes.push(...lines),
    noteRules: (...lines: string[]) => run.notes.unshift(...lines),
    /** Why a number is not that of an open issue; null: it is. */
    issue: (number: number) => steps.run('lookup', () => host.repositories.whyNotOpen(repository, number)),
    /** As `findPullRequest`. */
    findPullRequest: (prHash: string, recorded: PullRequestPlace | null) =>
      findPullRequest(run, repository, botLogin, prHash, recorded),
    /** Which of these ids refs of upstream's have, pull requests included, with the name of one. Null: nobody knows. */
    advertised: (oids: ReadonlySet<Oid>) =>
      host.transport.advertised(repository, oids).catch((error: unknown) => {
        run.logger.warn('the refs of a repository could not be searched', { error });
        return null;
      }),
    /** Tells the person of a pull request that has some of these commits. */
    tellSameWork: async (push: Publishable, undated: AnonymousCommits): Promise<void> => {
      const same = await findSameWork(run, push, await worksOf(run, push, undated));
      if (same !== null) await tellSameWork(run, push, same, { isPreview: true });
    },
    /** The pr_hash of an open pull request that may be meant; null: none. */
    hashMeant: async (prHash: string) => (await store.openNear(repository, prHash))?.prHash ?? null,
    /** As the function; the command is that of the push itself. */
    replaceableTip: (
      named: Omit<NamedPullRequest, 'tip'>,
      isHarmless: (oid: Oid) => boolean,
      { options, taken }: Pushed,
    ) => {
      const { prHash } = named;
      const { prKey, delayMs, wait } = options;
      const later = [...(delayMs === null ? [] : [`delay=${delayMs / 1000}s`]), ...(wait ? ['wait'] : [])];
      const more = [...later, 'overwrite'];
      const overwrite = repeatCommand(run, { options, taken }, { prHash, prKey }, more);
      return replaceableTip(run, named, isHarmless, options.overwrite ? null : overwrite);
    },
    /** So that two updates of it never mix. */
    claim: (prHash: string) => claims.claimPullRequest(prHash),
    /** A branch of upstream's that is not in the list of its refs. */
    findBranch: (name: string) => steps.run('lookup', () => findUpstreamBranch(host, repository, name)),
    /** @param main the base branch and the default branch. */
    history: (main: readonly Ref[]) =>
      new UpstreamHistory(
        { list: (...part) => ofHistory(() => host.lister.list(...part)) },
        repository,
        refs,
        main,
        () => ofHistory(async () => (await listUpstreamRefs(host, repository)).refs),
      ),
    /** The upstream commit that contains all others of them; null if there is none. */
    newestOf: (ground: ReadonlySet<Oid>) => ofHistory(() => host.lister.newestOf(repository, ground)),
    /** Bases outside the pack. */
    readBases: (sizes: ReadonlyMap<Oid, number>) => readBases(run, repository, sizes),
    /** As the function. */
    entriesChanged: (
      work: Parameters<typeof entriesChanged>[2],
      spool: ComparedSpool,
      how: Parameters<typeof entriesChanged>[4],
    ) => entriesChanged(run, repository, work, spool, how),
    /** What upstream has in one of its commits. */
    readFiles: (commit: Oid, paths: readonly string[], maxBytes: number) =>
      readUpstreamFiles(run, repository, commit, paths, maxBytes),
  };
}

/** Asks the host nothing about the push: until it is published, the host sees what any clone causes. */
export function quietly(questions: Questions): Questions {
  return {
    ...questions,
    advertised: async () => null,
    readBases: async () => [],
    readFiles: async () => new Map(),
    entriesChanged: async () => null,
    findBranch: async () => {
      throw new Refusal('base', 'the base branch is not listed', [
        'This repository has more branches than the service lists, and it asks for none by its name before the push is published. Push without a delay.',
      ]);
    },
    newestOf: async () => {
      throw new Refusal('squash', 'the commits cannot be squashed and delayed', [
        'They are based on several upstream commits. Rebase them instead of merging, or push without a delay.',
      ]);
    },
  };
}
