/**
 * What judging asks outside: what a clone shows of upstream, what the host's interface says, and
 * what depends on the push. No question writes anything at the host. If the host fails, a question
 * rejects with a refusal that says so; but one that only warns the better never does, and no push
 * waits long for it.
 * Proved by test/push/judge/delta-bases.test.ts and test/e2e/push/others-work.test.ts.
 */
import { type ChangedEntry, changedEntries } from '../../edit/tree-comparison.ts';
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { PlannedCommits } from '../../git/objects/planned-commits.ts';
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import { encodeTree } from '../../git/objects/tree.ts';
import type { KeptObject } from '../../git/pack/kept-objects.ts';
import type { FileObject } from '../../git/pack/packed-objects.ts';
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import type { HostPullRequest, PullRequestPlace, Repository, Source } from '../../host/code-host.ts';
import { branchTip, isForkGone } from '../../host/ready-fork.ts';
import { WORKFLOW_HOME, WORKFLOWS } from '../../policy/community-files.ts';
import type { KnownPolicy } from '../../policy/policies.ts';
import { workBranch } from '../../words/pr-hash.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import {
  findPath,
  heldReads,
  type IsHarmless,
  othersOn,
  readBlob,
  readCommit,
  type ReadObjects,
} from '../../upstream/tree-reader.ts';
import { UpstreamHistory } from '../../upstream/upstream-history.ts';
import {
  defaultBranchOf,
  type DiscoveredRefs,
  discoveredRefs,
  findUpstreamBranch,
  listUpstreamRefs,
} from '../../upstream/upstream-refs.ts';
import type { Pushed, PushRun } from '../push-run.ts';
import { storedPack, type StoredEntries } from '../receive/receive.ts';
import { repeatCommand } from '../reply/banner.ts';
import { Refusal } from '../reply/refusal.ts';
import { findSameWork, tellSameWork, worksOf } from '../same-work.ts';
import type { NamedPullRequest, Publishable } from '../verdict.ts';
import { updatedCommits } from './updated-commits.ts';

/** For what only warns. */
const PATIENCE_MS = 5_000;
/** Each costs a few requests. */
const MAX_PATHS = 20;
/** Each takes some memory while a pack is compared. */
const MAX_ENTRIES = 30_000;

/** For the log. */
type What =
  | 'the refs of a repository'
  | 'the history of the base'
  | 'the bases of deltas'
  | 'files of upstream'
  | 'what a push changes'
  | 'the commits of a branch';

/** What a clone of it shows. */
export interface Upstream extends Pick<
  DiscoveredRefs,
  'repository' | 'refs' | 'hasAllBranches' | 'hostAheadMs'
> {
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

/**
 * @param looked what the host answers.
 * @throws Refusal
 */
export async function publicRepository(
  { host, steps, target }: PushRun,
  looked = host.repositories.repository(target),
): Promise<Repository> {
  const repository = await steps.run('lookup', () => looked);
  // The bot may see private repositories. The public may not, and must not even learn that they
  // exist.
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
): Promise<HostPullRequest | null> {
  const head = { owner: botLogin, branch: workBranch(prHash) };
  return steps.run('lookup', () => host.repositories.findPullRequest(repository, head, recorded));
}

/**
 * What others have put on the branch of a pull request, which an update would delete. Commits that
 * the service has made are its own, even if they are not recorded: the answer to an update may have
 * been lost after they had arrived.
 */

/**
 * Where the branch of a pull request is, as `NamedPullRequest` has it.
 * @throws Refusal if others' work would go, too.
 * @param overwrite the command that pushes all the same; null: whatever is there may go.
 */
export async function replaceableTip(
  run: PushRun,
  { pullRequest: { number, source, fork } }: Pick<NamedPullRequest, 'pullRequest'>,
  isHarmless: IsHarmless,
  overwrite: string | null,
): Promise<Oid | null> {
  if (source === null) return null;
  const tip = await run.steps.run(fork === null ? 'lookup' : 'fork', () => tipOf(run.host, source));
  if (tip === null || tip === ZERO_OID || overwrite === null || isHarmless(tip)) return tip;
  const others = await othersCommits(run, source.repository, tip, isHarmless);
  if (others?.length === 0) return tip;
  const whose = 'Somebody else has pushed to the branch of this pull request since its last update';
  throw othersWork([
    ...(others === null
      ? [`${whose}. The code host does not show their commits.`]
      : [`${whose}:`, ...others.map((line) => `  ${line}`)]),
    'Get their commits, and push again:',
    `  git pull --rebase ${run.settings.remoteUrl(run.target)} refs/pull/${number}/head`,
    'Or replace them with yours:',
    `  ${overwrite}`,
  ]);
}

/**
 * Where the commits of a pull request end; the zero id: nowhere; null: its fork is gone.
 * @throws HostError
 */
export async function tipOf(host: PushRun['host'], source: Source): Promise<Oid | null> {
  try {
    return (await branchTip(host, source)) ?? ZERO_OID;
  } catch (error) {
    if (await isForkGone(host, source.repository, error)) return null;
    throw error;
  }
}

export function othersWork(lines: readonly string[]): Refusal {
  return new Refusal('others-work', 'somebody else has changed this pull request', lines);
}

/** As `othersOn`; null also if it cannot be read. */
export async function othersCommits(
  { host: { transport, memory }, settings, logger }: PushRun,
  repository: RepositoryName,
  tip: Oid,
  isHarmless: IsHarmless,
): Promise<readonly string[] | null> {
  const read = heldReads((request, maxBytes) => transport.readObjects(repository, request, maxBytes), memory);
  return othersOn(read, tip, settings.anonEmail, isHarmless).catch((error: unknown) => {
    logger.warn('the commits of a branch could not be read', { error });
    return null;
  });
}

export type Questions = ReturnType<typeof questionsOf>;

export function questionsOf(
  run: PushRun,
  { repository, refs }: Pick<Upstream, 'repository' | 'refs'>,
  botLogin: string,
) {
  const { host, store, steps, reply, claims, logger } = run;
  const { transport, lister, clock } = host;
  const read: ReadObjects = (...asked) => transport.readObjects(repository, ...asked);
  const ofHistory = <T>(action: () => Promise<T>): Promise<T> => steps.run('history', action);
  /** Null: it failed, or took too long. */
  const unlessLate = async <T>(what: What, answer: Promise<T>): Promise<T | null> => {
    const unlessFailed = answer.catch((error: unknown) => {
      logger.warn(`${what} could not be read`, { error });
      return null;
    });
    return (await Promise.race([unlessFailed, clock.sleep(PATIENCE_MS)])) ?? null;
  };
  return {
    /** What the person reads first. */
    reply,
    /** Tells the person something behind that. */
    note: (...lines: string[]) => run.notes.push(...lines),
    noteRules: (...lines: string[]) => run.notes.unshift(...lines),
    /** Why a number is not that of an open issue; null: it is. */
    issue: (number: number) => steps.run('lookup', () => host.repositories.whyNotOpen(repository, number)),
    findPullRequest: (prHash: string, recorded: PullRequestPlace | null) =>
      findPullRequest(run, repository, botLogin, prHash, recorded),
    /**
     * Which of these ids refs of upstream's have, pull requests included, with the name of one.
     * Null: nobody knows.
     */
    advertised: async (oids: ReadonlySet<Oid>) => {
      const reading = new AbortController();
      const answer = transport.advertised(repository, oids, reading.signal);
      const found = await unlessLate('the refs of a repository', answer);
      reading.abort();
      return found;
    },
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
      isHarmless: IsHarmless,
      { options, taken }: Pushed,
    ) => {
      const { prKey, delayMs, wait } = options;
      const delay = delayMs === null ? [] : [`delay=${delayMs / 1000}s`];
      const more = [...delay, ...(wait ? ['wait'] : []), 'overwrite'];
      const overwrite = repeatCommand(run, { options, taken }, { prHash: named.prHash, prKey }, more);
      return replaceableTip(run, named, isHarmless, options.overwrite ? null : overwrite);
    },
    /**
     * What an update adds to the branch of its pull request, and takes away; null: nobody knows.
     */
    updatedCommits: async (
      { pullRequest: { source }, tip }: NamedPullRequest,
      commits: PlannedCommits,
      leaving: AnonymousCommits,
      isUpstreams: (oid: Oid) => boolean,
    ): Promise<string | null> => {
      if (source === null || tip === null || tip === ZERO_OID) return null;
      const ofSource: ReadObjects = (...asked) => transport.readObjects(source.repository, ...asked);
      const heldSource = heldReads(ofSource, host.memory);
      const told = updatedCommits({ commits, leaving, tip }, isUpstreams, heldSource);
      return unlessLate('the commits of a branch', told);
    },
    /** So that two updates of it never mix. */
    claim: (prHash: string) => claims.claimPullRequest(prHash),
    /** A branch of upstream's that is not in the list of its refs. */
    findBranch: (name: string) => steps.run('lookup', () => findUpstreamBranch(host, repository, name)),
    /** @param main the base branch and the default branch. */
    history: (main: readonly Ref[]) =>
      new UpstreamHistory(
        { list: (...part) => ofHistory(() => lister.list(...part)) },
        repository,
        refs,
        main,
        () => ofHistory(async () => (await listUpstreamRefs(host, repository)).refs),
      ),
    /** The folder of one commit of upstream's; null: it did not come in time. */
    treeOf: (commit: Oid): Promise<Oid | null> =>
      unlessLate(
        'files of upstream',
        readCommit(read, commit).then(({ tree }) => tree),
      ),
    /**
     * Whether one tip of upstream's shares no commit with any of the others, as far as that can be
     * known.
     */
    isApart: async (tip: Oid, others: readonly Oid[]): Promise<boolean> =>
      (await unlessLate('the history of the base', lister.isApart(repository, tip, others))) ?? false,
    /** The upstream commit that contains all others of them; null if there is none. */
    newestOf: (boundary: ReadonlySet<Oid>) => ofHistory(() => lister.newestOf(repository, boundary)),
    /**
     * What the pushed deltas stand on: all, in one request, or nothing.
     * @param sizes of the objects by their ids.
     */
    readBases: async (sizes: ReadonlyMap<Oid, number>): Promise<Iterable<KeptObject>> => {
      const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
      const bases = await unlessLate('the bases of deltas', read({ wants: [...sizes.keys()] }, bytes));
      return bases?.values() ?? [];
    },
    /**
     * Files and folders of one commit of upstream, as far as they come in time.
     * @param paths the root's is ''.
     */
    readFiles: async (commit: Oid, paths: readonly string[], maxBytes: number) => {
      const files = new Map<string, FileObject>();
      const readAll = async (): Promise<void> => {
        let bytesLeft = maxBytes;
        const { tree } = await readCommit(read, commit);
        for (const path of paths.slice(0, MAX_PATHS)) {
          const found = await findPath(read, tree, path === '' ? [] : path.split('/'));
          const folder = found.kind === 'folder' ? encodeTree(found.folders.at(-1) ?? []) : null;
          const content = found.kind === 'file' ? await readBlob(read, found.blob, bytesLeft) : folder;
          bytesLeft -= content?.byteLength ?? 0;
          if (content !== null && bytesLeft >= 0)
            files.set(path, { type: folder === null ? 'blob' : 'tree', content });
        }
      };
      await unlessLate('files of upstream', readAll());
      // What comes later is not for it.
      return new Map(files);
    },
    /**
     * Null: nobody knows, or it is too much. A pack that is not in memory is read only if that is
     * required.
     * @param isAll whether all folders are compared, or those of workflows alone.
     * @throws if it is required: Refusal
     */
    entriesChanged: async (
      push: Pick<Publishable, 'commits' | 'boundary' | 'base' | 'entryCount'>,
      spool: StoredEntries,
      { isAll, isRequired }: { readonly isAll: boolean; readonly isRequired: boolean },
    ): Promise<readonly ChangedEntry[] | null> => {
      const { commits, boundary, base, entryCount } = push;
      if (entryCount > MAX_ENTRIES || !(spool.isInMemory || isRequired)) return null;
      const isWanted = (folder: string) => isAll || WORKFLOW_HOME.test(folder) || WORKFLOWS.test(folder);
      const compare = async () => {
        const compared = await lister.newestIn(base.oid, repository, boundary);
        // Of branches beside the base nobody knows what the host's pull request shows.
        if (compared.length === 0 && boundary.length > 0) return null;
        const pushed = { commits, boundary: compared, pack: storedPack(spool) };
        return changedEntries(pushed, read, host.memory, isWanted);
      };
      return isRequired ? steps.run('lookup', compare) : unlessLate('what a push changes', compare());
    },
  };
}

/**
 * Asks the host nothing about the push: until it is published, the host sees what any clone causes.
 */
export function quietly(questions: Questions): Questions {
  return {
    ...questions,
    advertised: async () => null,
    treeOf: async () => null,
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
