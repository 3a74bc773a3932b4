/**
 * Finds the pull request of this service that a push would repeat. While it is open, a further
 * commit and a plain `git push` would open a second one. Once it is merged, the person's own
 * version of its commits is not upstream's. Once it is closed, the maintainers have said no. To
 * find it, keyed hashes are recorded of each pull request: each names the files that a commit ends
 * with, and where in upstream it began, so that a commit is known again with another message, a
 * sign-off, or squashed. Only the service's own records are asked, so the host learns nothing of a
 * delayed push.
 */
import { undatedOf } from '../durable/pull-request/record.ts';
import type { AnonymousCommits } from '../git/objects/anonymize.ts';
import type { CommitIdentity } from '../git/objects/commit.ts';
import type { Oid } from '../git/objects/oid.ts';
import { numbersUpTo, type PlannedCommits } from '../git/objects/planned-commits.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import type { PushRun } from './push-run.ts';
import type { SameWork } from './reply/reply.ts';
import { Refusal } from './reply/refusal.ts';
import type { PushedWork } from './verdict.ts';

/** The most commits of a push, its newest ones, that are recorded and looked for. */
const MOST_COMMITS = 100;
/** Hexadecimal digits of a hash. They are few, because many hashes are stored. */
const HASH_LENGTH = 16;

type Compares = Pick<PushRun, 'host' | 'store'>;

/** The commits of a push, and the pull request that has some of them. */
export interface Compared {
  /** Answers the commits without author and dates. */
  readonly undated: () => AnonymousCommits;
  /** Hashes of each of the newest commits: the first is recorded, all are looked for. */
  readonly works: readonly (readonly string[])[];
  /** The pull request; null: none, or the push updates one; undefined: nobody knows. */
  readonly found: SameWork | null | undefined;
}

export interface ComparedAs {
  readonly repository: RepositoryName;
  /** The author of what leaves. */
  readonly bot: CommitIdentity;
  /** Whether it updates a pull request, and is not looked for in others. */
  readonly updates: boolean;
  /** The files that it began with; null: nobody has asked. */
  readonly boundaryTree: Oid | null;
}

type ComparedPush = Pick<PushedWork, 'commits' | 'entryCount'>;

/**
 * Compares a push with the pull requests of a repository. May be repeated, because others may open
 * one meanwhile: the hashes of the commits are made once.
 * @param earlier what was found before; null: nothing was looked for
 */
export async function compareWork(
  run: Compares,
  work: ComparedPush,
  { repository, bot, updates, boundaryTree }: ComparedAs,
  earlier: Compared | null = null,
): Promise<Compared> {
  const { commits } = work;
  const undated = earlier?.undated ?? undatedOf(commits, bot);
  const works = earlier?.works ?? (await worksOf(run, repository, work, boundaryTree, undated()));
  const found = updates ? null : await run.store.pullRequestWith(repository, works);
  if (!found) return { undated, works, found };
  const { last, ...pullRequest } = found;
  const shared = numbersUpTo(commits, [commits.length - works.length + last]).size;
  return { undated, works, found: { ...pullRequest, shared } };
}

/**
 * Computes the hashes of the newest commits: by their files, if these are not upstream's, and by
 * their ids without author and dates. By these, version 1.0.0 has recorded them, and messages count
 * where the files tell nothing: many pushes end as they began.
 */
function worksOf(
  { host, store }: Compares,
  repository: RepositoryName,
  { commits, entryCount }: ComparedPush,
  boundaryTree: Oid | null,
  undated: AnonymousCommits,
): Promise<readonly (readonly string[])[]> {
  const first = Math.max(0, commits.length - MOST_COMMITS);
  const boundaries = boundariesOf(commits);
  const hashOf = async (what: string): Promise<string> =>
    (await store.hash('work', `${host.nameOf(repository)} ${what}`)).slice(0, HASH_LENGTH);
  const hashesOf = async (number: number): Promise<readonly string[]> => {
    const { tree } = commits.at(number);
    const byId = await hashOf(undated.idOf(number));
    const isChanged = boundaryTree === null ? entryCount > 0 : tree !== boundaryTree;
    return isChanged ? [await hashOf(`${boundaries[number]} ${tree}`), byId] : [byId];
  };
  return Promise.all(Array.from({ length: commits.length - first }, (_, place) => hashesOf(first + place)));
}

/** Finds upstream's commit on which each commit stands by its first parents; empty: on none. */
function boundariesOf(commits: PlannedCommits): readonly string[] {
  const boundaries: string[] = [];
  for (const { parents } of commits) {
    const [parent = ''] = parents;
    boundaries.push(typeof parent === 'string' ? parent : (boundaries[parent] ?? ''));
  }
  return boundaries;
}

/**
 * Whether another pull request has all commits of a push. Those of a closed one that the push names
 * may be proposed again.
 */
export function wasProposed(
  { commits, prHash }: Pick<PushedWork, 'commits' | 'prHash'>,
  found: SameWork,
): boolean {
  return found.shared === commits.length && (found.prHash !== prHash || found.state === 'merged');
}

/**
 * Refuses a delayed push that would open a second pull request with the same commits, because
 * nobody is there to be warned when it is published.
 */
export function proposedBefore({ url }: SameWork): Refusal {
  return new Refusal('double', 'the same commits were proposed before', [
    `They are in ${url}, so nothing was published.`,
    'To propose them again, push them without a delay.',
  ]);
}

/**
 * Refuses a push with commits that another pull request has since the person was told what they
 * were in.
 * @throws Refusal
 */
export function refuseUntold(told: Compared | null, { found }: Compared): void {
  const isTold = told?.found?.prHash === found?.prHash && told?.found?.state === found?.state;
  if (!found || isTold || found.state === 'withdrawn') return;
  throw new Refusal('double', 'the commits are in another pull request now', [
    `Meanwhile, ${found.url} has them, and is ${found.state}. Nothing was published.`,
    'Push again: the answer says what you can do.',
  ]);
}
