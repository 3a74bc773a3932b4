/**
 * The record of one pull request: where it is, and when its commits were rewritten. Only a push
 * writes one, or the alarm that clears up after a push that died.
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
 * How many bytes are kept of the id that a commit would have if it were dated 1970: enough to tell
 * a pull request's commits apart.
 */
export const COMMIT_HASH_BYTES = 8;
/** The most commits whose dates are kept: those of the largest push, 240 KB. */
export const MAX_DATED_COMMITS = 30_000;
/** The most pushes whose dates are kept: each takes some bytes, and a value may have 2 MB. */
export const MAX_DATED_PUSHES = 1_000;

export interface PullRequestRecord {
  readonly prHash: string;
  /** The key of the code host. */
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly url: string;
  /** The host's number of the repository. Absent in records of earlier versions. */
  readonly repositoryId?: number;
  /** The host's own number, as `HostPullRequest` has it. */
  readonly id?: number;
  /** The number of the App that has opened it; absent: the account has. */
  readonly app?: number;
  /** The bot's fork that has its branch; null: it is gone, or there never was one. */
  readonly fork: RepositoryName | null;
  /**
   * The title with which it was opened, or that a push has named since, even if the host refused to
   * change it. Absent if the push that opened it died before.
   */
  readonly title?: string;
}

/**
 * A record with the commit at which the last push left the branch; empty: nobody knows.
 */
export type RecordedPullRequest = PullRequestRecord & { readonly tip: string };

/** The commits that one push rewrote. */
export interface DatedCommits {
  /** Seconds since 1970. */
  readonly committedAt: number;
  /** The first bytes of their undated ids, one after the other. */
  readonly commitHashes: Uint8Array;
}

/**
 * The key of the dates, oldest first. They are a value of their own, as it may be large, and only a
 * push changes it.
 */
const KEY = 'dates';

export interface KeptDates {
  /** The moment when the dates expire, in milliseconds since 1970; null: there are none. */
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

  /** Reads those that have not expired, oldest first. */
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

/** Selects the newest, as many as may be kept. */
export function newest(dates: readonly DatedCommits[]): DatedCommits[] {
  let room = MAX_DATED_COMMITS * COMMIT_HASH_BYTES;
  const dropped = dates.findLastIndex(({ commitHashes }) => (room -= commitHashes.byteLength) < 0);
  return dates.slice(dropped + 1).slice(-MAX_DATED_PUSHES);
}

/** The number of hexadecimal digits of the undated id by which a commit is recognised. */
const HASH_HEX_LENGTH = 2 * COMMIT_HASH_BYTES;

/**
 * The date that each commit gets. One rewritten before for this pull request keeps its date, and
 * over the same parents its id: reviewers see only what is new. It is recognised by its id with all
 * new commits dated 1970 and unsigned. If it were recognised by its original id, a hash over name
 * and dates, anyone with the pr_hash could push many guesses and see which one keeps its date.
 */
export interface Dates {
  readonly dateOf: DateOf;
  /** The commits that get their date now. */
  readonly added: () => DatedCommits;
}

/**
 * Makes the commits as if all were dated 1970, and without signatures, which are the same for the
 * same work, whatever the service's key; once, when they are first asked for.
 */
type Undated = () => AnonymousCommits;

export function undatedOf(commits: PlannedCommits, identity: CommitIdentity): Undated {
  let made: AnonymousCommits | null = null;
  return () => (made ??= new AnonymousCommits(commits, identity, () => 0));
}

/**
 * Gives each commit its date. That takes a SHA-1 of each commit, if dates are known or asked.
 * @param committedAt the date of the others, in seconds since 1970
 */
export function datesOf(undated: Undated, known: readonly DatedCommits[], committedAt: number): Dates {
  const hashOf = (commit: number): string => undated().idOf(commit).slice(0, HASH_HEX_LENGTH);
  const dates = new Map<string, number>();
  // The earliest date of each comes last, because it was published with that one.
  for (const { committedAt: date, commitHashes } of known.toReversed())
    for (const hash of hashesIn(commitHashes)) dates.set(hash, date);
  return {
    dateOf: dates.size === 0 ? () => committedAt : (commit) => dates.get(hashOf(commit)) ?? committedAt,
    added: () => {
      const all = undated().idBeginnings(COMMIT_HASH_BYTES);
      // Of a new pull request, which may have thousands of commits, none is known.
      if (dates.size === 0) return { committedAt, commitHashes: all };
      const added = Array.from(hashesIn(all)).filter((hash) => !dates.has(hash));
      return { committedAt, commitHashes: new Uint8Array(Buffer.from(added.join(''), 'hex')) };
    },
  };
}

function* hashesIn(commitHashes: Uint8Array): Generator<string> {
  const hex = Buffer.from(commitHashes).toString('hex');
  for (let at = 0; at < hex.length; at += HASH_HEX_LENGTH) yield hex.slice(at, at + HASH_HEX_LENGTH);
}
