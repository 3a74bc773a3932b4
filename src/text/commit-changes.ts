/** Words for how an update changes the commits of its pull request. */

const MOST_TITLES = 3;

/** Numbers of commits. `changed`: those that replace one of the same title. */
export type CommitCounts = Readonly<Record<'added' | 'changed' | 'dropped', number>>;

export interface CommitChanges {
  readonly counts: CommitCounts;
  /** Titles of the commits that are dropped; empty: they are not named. */
  readonly dropped: readonly string[];
}

/**
 * Puts changes in words, such as `2 commits added, 1 changed, 1 dropped (<title>)`.
 * @returns an empty text if nothing changes.
 */
export function changesText({ counts, dropped }: CommitChanges): string {
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
