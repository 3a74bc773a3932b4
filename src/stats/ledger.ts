/**
 * The ledger: pull requests (contract, 2.8), their number, and karma (2.3). One small interface, for D1 or the
 * operator's hosted database.
 *
 * Cost: a question reads one row by its key, or the rows of its answer in the order of an index. Nothing is sorted at
 * that time. A row written costs as much as a thousand rows read: so in D1, an entry writes only its row and that of an
 * index, and the count of one repository, asked for every five minutes at most, reads that part of the index.
 *
 * Every method rejects with the database's error. Writes come from outboxes that deliver at least once: a pull
 * request's URL makes the second delivery do nothing, and karma is set, not added to.
 */
import { MAIN_HOST } from '../config/hosts.ts';

/** A repository, with the key of its code host. */
export interface LedgerRepository {
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
}

export interface PullRequestEntry extends LedgerRepository {
  readonly prUrl: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

export interface RecordedPullRequest extends PullRequestEntry {
  readonly id: number;
}

export interface Totals {
  readonly pullRequests: number;
  /** When the newest was created, ISO 8601; null if there is none. */
  readonly lastCreatedAt: string | null;
}

export interface Ledger {
  recordPullRequest(entry: PullRequestEntry): Promise<void>;
  totals(): Promise<Totals>;
  /** Newest first. */
  recentPullRequests(limit: number): Promise<readonly RecordedPullRequest[]>;
  /** How many there are for one repository; its name is compared without regard to case, as the host does. */
  pullRequestCount(repository: LedgerRepository): Promise<number>;
  /** Null if nothing is recorded for this identity hash. */
  karma(hash: string): Promise<number | null>;
  setKarma(hash: string, karma: number): Promise<void>;
}

/** The owner under which the repositories of a host are counted: the hosted database's trigger says the same. */
export function countedOwner({ host, owner }: LedgerRepository): string {
  return host === MAIN_HOST ? owner : `${host}/${owner}`;
}
