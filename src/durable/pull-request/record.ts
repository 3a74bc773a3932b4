/**
 * The record of one pull request: where it is, and when its commits were rewritten. Only a push
 * writes one.
 * Proved by test/durable/pull-request/claims.test.ts and
 * test/durable/pull-request/dates-of.test.ts.
 */
import { AnonymousCommits, type DateOf } from '../../git/objects/anonymize.ts';
import type { CommitIdentity } from '../../git/objects/commit.ts';
import type { PlannedCommits } from '../../git/objects/planned-commits.ts';
import type { RepositoryName } from '../../words/repository-name.ts';

/** How long the dates of rewritten commits are kept after the last push. */
const DATES_LIFE_MS = 90 * 24 * 60 * 60 * 1000;
/**
 * Of the id that a commit would have if it were dated 1970: enough to tell a pull request's commits
 * apart.
 */
export const COMMIT_HASH_BYTES = 8;
/** As many as one push may hold; 240 KB. The oldest push's are forgotten first. */
export const MAX_DATED_COMMITS = 30_000;
/** Each push takes some bytes more than its commits, and a stored value may have 2 MB. */
export const MAX_DATED_PUSHES = 1_000;

export interface PullRequestRecord {
  readonly prHash: string;
  /** The key of the code host. */
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly url: string;
  /** As `HostPullRequest` has it. */
  readonly id?: number;
  /** The bot's fork that has its branch; null: it is gone, or there never was one. */
  readonly fork: RepositoryName | null;
  /**
   * What it was opened with, or was given since by a push; absent if the push that opened it died
   * before.
   */
  readonly title?: string;
}

/**
 * With the commit that its branch was left at by the push that recorded it; empty: nobody knows.
 */
export type RecordedPullRequest = PullRequestRecord & { readonly tip: string };

/** The commits that one push rewrote. */
export interface DatedCommits {
  /** Seconds since 1970. */
  readonly committedAt: number;
  /** The first bytes of their undated ids, concatenated. */
  readonly commitHashes: Uint8Array;
}

/**
 * Under which they are stored, oldest first: a value of their own, as it may be large, and only a
 * push changes it.
 */
const KEY = 'dates';

export interface KeptDates {
  /** When the dates of its commits expire, in milliseconds since 1970; null if there are none. */
  datesUntil: number | null;
}

/** The dates of its commits. The caller saves what changes in `kept`. */
export class CommitDates {
  readonly #kept: KeptDates;
  readonly #kv: SyncKvStorage;

  constructor(kept: KeptDates, kv: SyncKvStorage) {
    this.#kept = kept;
    this.#kv = kv;
  }

  /** Oldest first. */
  read(at: number): DatedCommits[] {
    return (this.#kept.datesUntil ?? 0) > at ? this.#stored() : [];
  }

  /** Adds the commits that a push has rewritten, if any, and extends the life of all from `at`. */
  add({ committedAt, commitHashes }: DatedCommits, at: number): void {
    const kept = this.#kept;
    const added = { committedAt, commitHashes: commitHashes.slice() };
    if (commitHashes.byteLength > 0) this.#kv.put(KEY, newest([...this.#stored(), added]));
    else if (kept.datesUntil === null) return;
    kept.datesUntil = Math.max(kept.datesUntil ?? 0, at + DATES_LIFE_MS);
  }

  /** Deletes them if they have expired. Answers whether they had. */
  expire(at: number): boolean {
    const { datesUntil } = this.#kept;
    if (datesUntil === null || datesUntil > at) return false;
    this.#kept.datesUntil = null;
    this.#kv.delete(KEY);
    return true;
  }

  #stored(): DatedCommits[] {
    return this.#kv.get<DatedCommits[]>(KEY) ?? [];
  }
}

/** As many of the newest as may be kept. */
export function newest(dates: readonly DatedCommits[]): DatedCommits[] {
  let room = MAX_DATED_COMMITS * COMMIT_HASH_BYTES;
  const dropped = dates.findLastIndex(({ commitHashes }) => (room -= commitHashes.byteLength) < 0);
  return dates.slice(dropped + 1).slice(-MAX_DATED_PUSHES);
}

/** How much of the undated id a commit is recognised by. */
const HASH_HEX_LENGTH = 2 * COMMIT_HASH_BYTES;

/**
 * Which date each commit gets. One rewritten before for this pull request keeps its date, and over
 * the same parents its id: reviewers see only what is new. It is recognised by its id with all new
 * commits dated 1970. By its original id, a hash over name and dates, anyone with the pr_hash could
 * push many guesses and see which one keeps its date.
 */
export interface Dates {
  readonly dateOf: DateOf;
  /** The commits that get their date now. */
  readonly added: () => DatedCommits;
}

/**
 * The commits as if all were dated 1970: the same for the same work. Made when they are first asked
 * for.
 */
type Undated = () => AnonymousCommits;

export function undatedOf(commits: PlannedCommits, identity: CommitIdentity): Undated {
  let made: AnonymousCommits | null = null;
  return () => (made ??= new AnonymousCommits(commits, identity, () => 0));
}

/**
 * Cost: a SHA-1 over all commits, if dates are known or asked.
 * @param committedAt of the others, since 1970.
 */
export function datesOf(undated: Undated, known: readonly DatedCommits[], committedAt: number): Dates {
  const hashOf = (commit: number): string => undated().idOf(commit).slice(0, HASH_HEX_LENGTH);
  const dates = new Map<string, number>();
  // The earliest date of each comes last, because it was published with that one.
  for (const { committedAt: date, commitHashes } of known.toReversed()) {
    const hex = Buffer.from(commitHashes).toString('hex');
    for (let at = 0; at < hex.length; at += HASH_HEX_LENGTH)
      dates.set(hex.slice(at, at + HASH_HEX_LENGTH), date);
  }
  return {
    dateOf: dates.size === 0 ? () => committedAt : (commit) => dates.get(hashOf(commit)) ?? committedAt,
    added: () => {
      const hashes = new Set(Array.from({ length: undated().length }, (_, commit) => hashOf(commit)));
      const added = [...hashes].filter((hash) => !dates.has(hash));
      return { committedAt, commitHashes: new Uint8Array(Buffer.from(added.join(''), 'hex')) };
    },
  };
}
