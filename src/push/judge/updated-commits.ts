/**
 * Says how an update changes the commits of its pull request, as the person is told. Commits are
 * compared by their ids, because one that was rewritten before for this pull request gets the same
 * id again.
 */
import type { CommitCounts } from '../../durable/pull-request/history.ts';
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import { parseCommit } from '../../git/objects/commit.ts';
import { pullRequestText } from '../../git/objects/commit-message.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { numbersUpTo, type PlannedCommits } from '../../git/objects/planned-commits.ts';
import { oneLine } from '../../words/host-text.ts';
import { textOf } from '../../text/pull-request-text.ts';
import type { ReadObjects } from '../../upstream/tree-reader.ts';

/** The most commits that are read of the branch as it is. If more are replaced, nothing is told. */
const MOST_COMMITS = 50;
const MOST_COMMITS_BYTES = 256 * 1024;
const MOST_TITLES = 3;

export interface CommitChanges {
  readonly counts: CommitCounts;
  /** Titles of the commits that are dropped. */
  readonly dropped: readonly string[];
}

/**
 * Puts the counts in words, such as `2 commits added, 1 changed, 1 dropped (<title>)`.
 * @param dropped titles of those that are dropped; empty: they are not named.
 * @returns an empty text if nothing changes.
 */
export function countsText(counts: CommitCounts, dropped: readonly string[]): string {
  const more = dropped.length > MOST_TITLES ? ', ...' : '';
  const names = dropped.length === 0 ? '' : ` (${dropped.slice(0, MOST_TITLES).join(', ')}${more})`;
  const parts = [
    [counts.added, 'added'],
    [counts.changed, 'changed'],
    [counts.dropped, `dropped${names}`],
  ] as const;
  const words = parts
    .filter(([count]) => count > 0)
    .map(([count, what], at) => {
      const unit = at > 0 ? '' : count === 1 ? 'commit ' : 'commits ';
      return `${count} ${unit}${what}`;
    });
  return words.join(', ');
}

/** Says the changes as the person is told; empty: nothing changes. */
export const changesText = ({ counts, dropped }: CommitChanges): string => countsText(counts, dropped);

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
  const dropped = [...gone];
  let changed = 0;
  for (const title of added) {
    const at = dropped.indexOf(title);
    if (at < 0) continue;
    dropped.splice(at, 1);
    changed += 1;
  }
  return { counts: { added: added.length - changed, changed, dropped: dropped.length }, dropped };
}
