/**
 * The ledger: pull requests (contract, 2.8), their number, and karma (2.3). One small interface; D1 keeps it, or a
 * hosted database when the operator gave one.
 *
 * Cost: a question reads one row by its key, or as many as it answers, in the order of an index; nothing is counted or
 * sorted when it is asked. An entry writes its row, two rows of totals, and their indexes.
 *
 * Every method rejects with the database's error. Writes come from outboxes that deliver at least once: a pull
 * request's URL makes the second delivery do nothing, and karma is set, not added to.
 */
export interface PullRequestEntry {
  readonly owner: string;
  readonly repo: string;
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
  pullRequestCount(owner: string, repo: string): Promise<number>;
  /** Null if nothing is written down for this identity hash. */
  karma(hash: string): Promise<number | null>;
  setKarma(hash: string, karma: number): Promise<void>;
}
