/**
 * The branch of a pull request that is updated: where it ends, whether others' work stands there,
 * and which of its commits the update changes. Commits are compared by their ids, because one that
 * was rewritten before for this pull request gets the same id again.
 */
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import { parseCommit } from '../../git/objects/commit.ts';
import { pullRequestText } from '../../git/objects/commit-message.ts';
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import { numbersUpTo, type PlannedCommits } from '../../git/objects/planned-commits.ts';
import type { Source } from '../../host/code-host.ts';
import { branchTip, isForkGone } from '../../host/ready-fork.ts';
import type { CommitChanges } from '../../text/commit-changes.ts';
import { textOf } from '../../text/pull-request-text.ts';
import { heldReads, type IsHarmless, othersOn, type ReadObjects } from '../../upstream/tree-reader.ts';
import { oneLine } from '../../words/host-text.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import type { NamedPullRequest } from '../verdict.ts';

/** The most commits that are read of the branch as it is. If more are replaced, nothing is told. */
const MOST_COMMITS = 50;
const MOST_COMMITS_BYTES = 256 * 1024;

/**
 * Finds where the branch of a pull request is, as `NamedPullRequest` has it. Commits that the
 * service has made are not others' work, even if they are not recorded: the answer to an update may
 * have been lost after they had arrived.
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
  if (tip === null || tip === ZERO_OID || overwrite === null || (await isHarmless(tip))) return tip;
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
  { host, settings, logger }: PushRun,
  repository: RepositoryName,
  tip: Oid,
  isHarmless: IsHarmless,
): Promise<readonly string[] | null> {
  const read = heldReads(host, repository);
  return othersOn(read, tip, settings.anonEmail, isHarmless).catch((error: unknown) => {
    logger.warn('the commits of a branch could not be read', { error });
    return null;
  });
}

interface Updated {
  readonly commits: PlannedCommits;
  /** The anonymous commits that they become. */
  readonly leaving: AnonymousCommits;
  /** Where the branch of the pull request is. */
  readonly tip: Oid;
}

/**
 * Compares the commits of an update with those that the branch has now. Asks the host once, unless
 * the new commits stand on the branch as it is.
 * @returns null if that cannot be said.
 */
export async function updatedCommits(
  { commits, leaving, tip }: Updated,
  isUpstreams: (oid: Oid) => boolean,
  read: ReadObjects,
): Promise<CommitChanges | null> {
  const numbers = new Map(
    Array.from({ length: commits.length }, (_, number) => [leaving.idOf(number), number]),
  );
  const kept: number[] = [];
  const gone: string[] = [];
  const old = leaving.has(tip) ? null : await read({ wants: [tip], depth: MOST_COMMITS }, MOST_COMMITS_BYTES);
  const seen = new Set<Oid>();
  const left = [tip];
  for (let oid = left.pop(); oid !== undefined; oid = left.pop()) {
    if (seen.has(oid) || isUpstreams(oid)) continue;
    seen.add(oid);
    const number = numbers.get(oid);
    if (number !== undefined) {
      kept.push(number);
      continue;
    }
    const content = old?.get(oid)?.content;
    if (content === undefined) return null;
    const commit = parseCommit(content);
    gone.push(oneLine(pullRequestText(commit).title));
    left.push(...commit.parents);
  }
  const stays = numbersUpTo(commits, kept);
  const added: string[] = [];
  for (const number of numbers.values())
    if (!stays.has(number)) added.push(oneLine(textOf(commits.at(number), leaving).title));
  return changesOf(added, gone);
}

/** Counts the changes. A new commit with the title of one that is gone counts as changed. */
function changesOf(added: readonly string[], gone: readonly string[]): CommitChanges {
  const left = new Map<string, number>();
  for (const title of added) left.set(title, (left.get(title) ?? 0) + 1);
  const dropped = gone.filter((title) => {
    const same = left.get(title) ?? 0;
    left.set(title, same - 1);
    return same <= 0;
  });
  const changed = gone.length - dropped.length;
  return { counts: { added: added.length - changed, changed, dropped: dropped.length }, dropped };
}
