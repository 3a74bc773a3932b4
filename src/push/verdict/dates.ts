/**
 * Which date each commit gets.
 *
 * A commit that was already rewritten for this pull request keeps the date it got then. If its parents are the same, it
 * also keeps its id, so reviewers see only what is new. The commit is recognised by the id that it would have if all new
 * commits were dated 1970, and not by its original id: that is a hash over name and dates, so anyone who knows the
 * pr_hash could push many guesses at once and see which one keeps its date.
 */
import { COMMIT_HASH_BYTES, type DatedCommits } from '../../durable/pull-request/record.ts';
import { AnonymousCommits, type DateOf } from '../../git/objects/anonymize.ts';
import type { Identity } from '../../git/objects/commit.ts';
import type { PlannedCommits } from '../../git/objects/planned-commits.ts';

/** How much of the undated id a commit is recognised by. */
const HASH_HEX_LENGTH = 2 * COMMIT_HASH_BYTES;

export interface Dates {
  readonly dateOf: DateOf;
  /** The commits that get their date now. */
  readonly added: () => DatedCommits;
}

/** The commits as if all were dated 1970: the same for the same work. Made when they are first asked for. */
export type Undated = () => AnonymousCommits;

export function undatedOf(commits: PlannedCommits, identity: Identity): Undated {
  let made: AnonymousCommits | null = null;
  return () => (made ??= new AnonymousCommits(commits, identity, () => 0));
}

/** @param committedAt seconds since 1970: the date of all commits that have none yet. Cost: a SHA-1 over all commits, if dates are known or asked for. */
export function datesOf(undated: Undated, known: readonly DatedCommits[], committedAt: number): Dates {
  const hashOf = (commit: number): string => undated().idOf(commit).slice(0, HASH_HEX_LENGTH);
  const dates = datesByHash(known);
  return {
    dateOf: dates.size === 0 ? () => committedAt : (commit) => dates.get(hashOf(commit)) ?? committedAt,
    added: () => {
      const hashes = new Set(Array.from({ length: undated().size }, (_, commit) => hashOf(commit)));
      const added = [...hashes].filter((hash) => !dates.has(hash));
      return { committedAt, commitHashes: new Uint8Array(Buffer.from(added.join(''), 'hex')) };
    },
  };
}

/** The earliest date of each, because it was published with that one. */
function datesByHash(known: readonly DatedCommits[]): Map<string, number> {
  const dates = new Map<string, number>();
  for (const { committedAt, commitHashes } of known) {
    const hex = Buffer.from(commitHashes).toString('hex');
    for (let at = 0; at < hex.length; at += HASH_HEX_LENGTH) {
      const hash = hex.slice(at, at + HASH_HEX_LENGTH);
      if (!dates.has(hash)) dates.set(hash, committedAt);
    }
  }
  return dates;
}
