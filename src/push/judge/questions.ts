/**
 * Questions that judging asks outside, in two classes: those that any clone asks, and those that
 * tell the host something of the push, which a delayed push does not ask yet. No question writes
 * anything at the host. If the host fails, a question rejects with a refusal that says so; but one
 * that is only asked for a warning never does, and no push waits long for it.
 * Proved by test/push/judge/delta-bases.test.ts and test/e2e/push/others-work.test.ts.
 */
import { type ChangedEntry, changedEntries } from '../../edit/tree-comparison.ts';
import { findLargeFiles } from '../../edit/large-files.ts';
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { PlannedCommits } from '../../git/objects/planned-commits.ts';
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import { encodeTree } from '../../git/objects/tree.ts';
import type { KeptObject } from '../../git/pack/kept-objects.ts';
import type { FileObject } from '../../git/pack/packed-objects.ts';
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import type { HostPullRequest, PullRequestPlace, Repository } from '../../host/code-host.ts';
import { WORKFLOW_HOME, WORKFLOWS } from '../../policy/community-files.ts';
import type { KnownPolicy } from '../../policy/policies.ts';
import type { CommitChanges } from '../../text/commit-changes.ts';
import { workBranch } from '../../words/pr-hash.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import type { HistoryLister } from '../../upstream/history-lister.ts';
import { advertisedAmong } from '../../upstream/known-ids.ts';
import {
  findPath,
  heldReads,
  type IsHarmless,
  readBlob,
  readCommit,
  type ReadObjects,
  readsOf,
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
import { repeatCommand } from '../reply/commands.ts';
import { Refusal } from '../reply/refusal.ts';
import type { NamedPullRequest, Publishable } from '../verdict.ts';
import { othersCommits, replaceableTip, updatedCommits } from './updated-branch.ts';

/** For what only warns. */
const PATIENCE_MS = 5_000;
/** Each costs a few requests. */
const MAX_PATHS = 20;
/** Each takes some memory while a pack is compared. */
const MAX_ENTRIES = 30_000;
/** Reads of single folders of a pack that is refused for its size. */
const MAX_FOLDER_READS = 250;

/** For the log. */
type What =
  | 'the refs of a repository'
  | 'the history of the base'
  | 'the bases of deltas'
  | 'files of upstream'
  | 'what a push changes'
  | 'the commits of a branch';

/** The repository as a clone of it shows it. */
export interface Upstream extends Pick<
  DiscoveredRefs,
  'repository' | 'refs' | 'hasAllBranches' | 'hostAheadMs'
> {
  /** The default branch; null: it has no commit yet. */
  readonly defaultBranch: Ref | null;
}

/** A repository as the host's interface describes it. */
export interface LookedUp {
  readonly repository: Repository;
  readonly policy: KnownPolicy;
}

/** A repository whose host may learn of the push, and what it can be asked. */
export interface Place extends LookedUp {
  readonly ask: PlaceQuestions;
}

/** @throws Refusal if it cannot be looked up. */
export async function lookUpUpstream({ host, steps, target }: PushRun): Promise<Upstream> {
  const list = await steps.run('lookup', () => discoveredRefs(host, target));
  return { ...list, defaultBranch: defaultBranchOf(list) };
}

/** @throws Refusal if it cannot be looked up. */
export async function lookUpPlace(run: PushRun): Promise<LookedUp> {
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
  { host, steps }: Pick<PushRun, 'host' | 'steps'>,
  repository: RepositoryName,
  botLogin: string,
  prHash: string,
  recorded: PullRequestPlace | null,
): Promise<HostPullRequest | null> {
  const head = { owner: botLogin, branch: workBranch(prHash) };
  return steps.run('lookup', () => host.repositories.findPullRequest(repository, head, recorded));
}

/** Answers null if a question failed, or took too long: no push waits long for a mere warning. */
async function unlessLate<T>({ host, logger }: PushRun, what: What, answer: Promise<T>): Promise<T | null> {
  const unlessFailed = answer.catch((error: unknown) => {
    logger.warn(`${what} could not be read`, { error });
    return null;
  });
  return (await Promise.race([unlessFailed, host.clock.sleep(PATIENCE_MS)])) ?? null;
}

/** Questions that any clone asks, so the host may see them at any time. */
export class GitQuestions {
  readonly #run: PushRun;
  readonly #upstream: Pick<Upstream, 'repository' | 'refs'>;

  constructor(run: PushRun, upstream: Pick<Upstream, 'repository' | 'refs'>) {
    this.#run = run;
    this.#upstream = upstream;
  }

  /** @param main the base branch and the default branch. */
  history(main: readonly Ref[]): UpstreamHistory {
    const { host, steps } = this.#run;
    const { repository, refs } = this.#upstream;
    const list: HistoryLister['list'] = (...part) => steps.run('history', () => host.lister.list(...part));
    const refsNow = () => steps.run('history', async () => (await listUpstreamRefs(host, repository)).refs);
    return new UpstreamHistory({ list }, repository, refs, main, refsNow);
  }

  /**
   * Tells whether one tip of upstream's shares no commit with any of the others, as far as that can
   * be known.
   */
  async isApart(tip: Oid, others: readonly Oid[]): Promise<boolean> {
    const answer = this.#run.host.lister.isApart(this.#upstream.repository, tip, others);
    return (await unlessLate(this.#run, 'the history of the base', answer)) ?? false;
  }
}

/**
 * Questions that tell the host something of the push, and those to our own records about it. A push
 * that is published later asks none of them until then.
 */
export class PlaceQuestions {
  readonly #run: PushRun;
  readonly #repository: RepositoryName;
  readonly #botLogin: string;
  readonly #read: ReadObjects;

  constructor(run: PushRun, repository: RepositoryName, botLogin: string) {
    this.#run = run;
    this.#repository = repository;
    this.#botLogin = botLogin;
    this.#read = readsOf(run.host.transport, repository);
  }

  /** Says why a number is not that of an open issue; null: it is. */
  issue(number: number) {
    const { host, steps } = this.#run;
    return steps.run('lookup', () => host.repositories.whyNotOpen(this.#repository, number));
  }

  findPullRequest(prHash: string, recorded: PullRequestPlace | null) {
    return findPullRequest(this.#run, this.#repository, this.#botLogin, prHash, recorded);
  }

  /**
   * The pr_hash of an open pull request that may be meant; null: none. A hash is no secret, and
   * whoever comes within two of its letters has read it.
   */
  async hashMeant(prHash: string): Promise<string | null> {
    return (await this.#run.store.openNear(this.#repository, prHash))?.prHash ?? null;
  }

  /** Claims a pull request, so that two updates of it never mix. */
  claim(prHash: string) {
    return this.#run.claims.claimPullRequest(prHash);
  }

  /** As the function; the command is that of the push itself. */
  replaceableTip(
    named: Omit<NamedPullRequest, 'tip'>,
    isHarmless: IsHarmless,
    { options, taken }: Pushed,
  ): Promise<Oid | null> {
    const again = { prHash: named.prHash, prKey: options.prKey, isSame: true };
    const overwrite = repeatCommand(this.#run, { options, taken }, again, ['overwrite']);
    return replaceableTip(this.#run, named, isHarmless, options.overwrite ? null : overwrite);
  }

  /** As `othersCommits`, of the branch of a pull request; null also if it took too long. */
  async othersOn({ pullRequest: { source }, tip }: NamedPullRequest, isHarmless: IsHarmless) {
    const isThere = source !== null && tip !== null && tip !== ZERO_OID;
    if (!isThere || (await isHarmless(tip))) return [];
    const answer = othersCommits(this.#run, source.repository, tip, isHarmless);
    return unlessLate(this.#run, 'the commits of a branch', answer);
  }

  /**
   * Says which commits an update adds to the branch of its pull request, and takes away; null:
   * nobody knows.
   */
  async updatedCommits(
    { pullRequest: { source }, tip }: NamedPullRequest,
    commits: PlannedCommits,
    leaving: AnonymousCommits,
    isUpstreams: (oid: Oid) => boolean,
  ): Promise<CommitChanges | null> {
    if (source === null || tip === null || tip === ZERO_OID) return null;
    const read = heldReads(this.#run.host, source.repository);
    const answer = updatedCommits({ commits, leaving, tip }, isUpstreams, read);
    return unlessLate(this.#run, 'the commits of a branch', answer);
  }

  /**
   * Which of these ids refs of upstream's have, pull requests included, with the name of one. Null:
   * nobody knows.
   */
  async advertised(oids: ReadonlySet<Oid>) {
    const reading = new AbortController();
    const answer = advertisedAmong(this.#run.host, this.#repository, oids, reading.signal);
    const found = await unlessLate(this.#run, 'the refs of a repository', answer);
    reading.abort();
    return found;
  }

  /** A branch of upstream's that is not in the list of its refs. */
  findBranch(name: string) {
    const { host, steps } = this.#run;
    return steps.run('lookup', () => findUpstreamBranch(host, this.#repository, name));
  }

  /** The upstream commit that contains all others of them; null if there is none. */
  newestOf(boundary: ReadonlySet<Oid>) {
    const { host, steps } = this.#run;
    return steps.run('history', () => host.lister.newestOf(this.#repository, boundary));
  }

  /** The folder of one commit of upstream's; null: it did not come in time. */
  async treeOf(commit: Oid): Promise<Oid | null> {
    const answer = readCommit(this.#read, commit);
    return (await unlessLate(this.#run, 'files of upstream', answer))?.tree ?? null;
  }

  /**
   * Reads the objects that the pushed deltas stand on: all, in one request, or nothing.
   * @param sizes of the objects by their ids.
   */
  async readBases(sizes: ReadonlyMap<Oid, number>): Promise<Iterable<KeptObject>> {
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    const answer = this.#read({ wants: [...sizes.keys()] }, bytes);
    return (await unlessLate(this.#run, 'the bases of deltas', answer))?.values() ?? [];
  }

  /**
   * Files and folders of one commit of upstream, as far as they come in time.
   * @param paths the root's is ''.
   */
  async readFiles(commit: Oid, paths: readonly string[], maxBytes: number) {
    const files = new Map<string, FileObject>();
    const reading = readInto(files, this.#read, commit, paths, maxBytes);
    await unlessLate(this.#run, 'files of upstream', reading);
    // What comes later is not for it.
    return new Map(files);
  }

  /**
   * Lists the files and folders that the push changes; null: nobody knows, or it is too much. A
   * pack that is not in memory is read only if that is required.
   * @param isAll whether all folders are compared, or those of workflows alone.
   * @throws if it is required: Refusal
   */
  async entriesChanged(
    push: Pick<Publishable, 'commits' | 'boundary' | 'base' | 'entryCount'>,
    spool: StoredEntries,
    { isAll, isRequired }: { readonly isAll: boolean; readonly isRequired: boolean },
  ): Promise<readonly ChangedEntry[] | null> {
    if (push.entryCount > MAX_ENTRIES || !(spool.isInMemory || isRequired)) return null;
    const isWanted = (folder: string) => isAll || WORKFLOW_HOME.test(folder) || WORKFLOWS.test(folder);
    const compare = () => this.#compared(push, spool, isWanted);
    if (isRequired) return this.#run.steps.run('lookup', compare);
    return unlessLate(this.#run, 'what a push changes', compare());
  }

  async #compared(
    { commits, boundary, base }: Pick<Publishable, 'commits' | 'boundary' | 'base'>,
    spool: StoredEntries,
    isWanted: (folder: string) => boolean,
  ): Promise<readonly ChangedEntry[] | null> {
    const { lister, memory } = this.#run.host;
    const compared = await lister.newestIn(base.oid, this.#repository, boundary);
    // Of branches beside the base nobody knows what the host's pull request shows.
    if (compared.length === 0 && boundary.length > 0) return null;
    const pushed = { commits, boundary: compared, pack: storedPack(spool) };
    return changedEntries(pushed, this.#read, memory, isWanted);
  }

  /** Names the files that are over the limit; null: nobody knows any, or it is too much. */
  async largeFiles(
    { commits, boundary, entryCount }: Pick<Publishable, 'commits' | 'boundary' | 'entryCount'>,
    roots: readonly Oid[],
    spool: StoredEntries,
  ) {
    if (entryCount > MAX_ENTRIES) return null;
    const pushed = { commits, boundary, pack: storedPack(spool, MAX_FOLDER_READS) };
    const answer = findLargeFiles(pushed, roots, this.#read, this.#run.host.memory);
    return unlessLate(this.#run, 'what a push changes', answer);
  }
}

/** Reads files and folders of one commit, each into `files` as soon as it has come. */
async function readInto(
  files: Map<string, FileObject>,
  read: ReadObjects,
  commit: Oid,
  paths: readonly string[],
  maxBytes: number,
): Promise<void> {
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
}
