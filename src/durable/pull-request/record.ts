/** The record of one pull request: where it is, and when its commits were rewritten. Only a push writes one. */
import type { RepositoryName } from '../../repository-name.ts';

/** How long the dates of rewritten commits are kept after the last push. */
const DATES_LIFE_MS = 90 * 24 * 60 * 60 * 1000;
/** Of the id that a commit would have if it were dated 1970: enough to tell a pull request's commits apart. */
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
  /** As `PullRequest` of the host has it. */
  readonly id?: number;
  /** The bot's fork that has its branch; null: it is gone, or there never was one. */
  readonly fork: RepositoryName | null;
  /** What it was opened with, or was given since by a push; absent if the push that opened it died before. */
  readonly title?: string;
}

/** With the commit that its branch was left at by the push that recorded it; empty: nobody knows. */
export type RecordedPullRequest = PullRequestRecord & { readonly tip: string };

/** The commits that one push rewrote. */
export interface DatedCommits {
  /** Seconds since 1970. */
  readonly committedAt: number;
  /** The first bytes of their undated ids, concatenated. */
  readonly commitHashes: Uint8Array;
}

/** Under which they are stored, oldest first: a value of their own, as it may be large, and only a push changes it. */
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
