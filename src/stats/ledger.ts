/**
 * The ledger: pull requests (contract, 2.8), their number, and karma (2.3), in D1 or the operator's
 * hosted database. Cost: a question reads one row by its key, or the rows of its answer by an
 * index. A row written costs as much as a thousand read: in D1, an entry writes its row and that of
 * an index. Every method rejects with the database's error. Writes may come twice: a pull request's
 * URL makes the second do nothing, and karma is set, not added to.
 * Proved by test/stats/d1-ledger.test.ts.
 */
import { MAIN_HOST } from '../config/hosts.ts';

/** A repository, with the key of its code host. */
export interface LedgerRepository {
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
}

/** `createdAt` is ISO 8601. */
export type PullRequestEntry = LedgerRepository & { readonly prUrl: string; readonly createdAt: string };
export type LedgerEntry = PullRequestEntry & { readonly id: number };

export interface Totals {
  readonly pullRequests: number;
  /** When the newest was created, ISO 8601; null if there is none. */
  readonly lastCreatedAt: string | null;
}

export interface Ledger {
  recordPullRequest(entry: PullRequestEntry): Promise<void>;
  totals(): Promise<Totals>;
  /** Newest first. */
  recentPullRequests(limit: number): Promise<readonly LedgerEntry[]>;
  /**
   * How many there are for one repository; its name is compared without regard to case, as the host
   * does.
   */
  pullRequestCount(repository: LedgerRepository): Promise<number>;
  /** Null if nothing is recorded for this identity hash. */
  karma(hash: string): Promise<number | null>;
  setKarma(hash: string, karma: number): Promise<void>;
}

/**
 * The owner under which the repositories of a host are counted: the hosted database's trigger says
 * the same.
 */
export function countedOwner({ host, owner }: LedgerRepository): string {
  return host === MAIN_HOST ? owner : `${host}/${owner}`;
}

/** In D1. Schema: migrations/. */
export function d1Ledger(db: D1Database): Ledger {
  return {
    async recordPullRequest(entry) {
      await pullRequestStatement(db, entry).run();
    },
    async totals() {
      const question = 'SELECT pull_requests AS pullRequests, last_created_at AS lastCreatedAt FROM totals';
      return (await db.prepare(question).first<Totals>()) ?? { pullRequests: 0, lastCreatedAt: null };
    },
    async recentPullRequests(limit) {
      const question = `SELECT id, host, owner, repo, pr_url AS prUrl, created_at AS createdAt FROM pull_requests
         ORDER BY created_at DESC, pr_url DESC LIMIT ?`;
      return (await db.prepare(question).bind(limit).all<LedgerEntry>()).results;
    },
    async pullRequestCount({ host, owner, repo }) {
      const question =
        'SELECT count(*) AS count FROM pull_requests WHERE host = ? AND owner = ? AND repo = ?';
      return (await db.prepare(question).bind(host, owner, repo).first<number>('count')) ?? 0;
    },
    async karma(hash) {
      return db.prepare('SELECT karma FROM karma WHERE hash = ?').bind(hash).first<number>('karma');
    },
    async setKarma(hash, karma) {
      await db.prepare('INSERT OR REPLACE INTO karma (hash, karma) VALUES (?, ?)').bind(hash, karma).run();
    },
  };
}

/** Records a pull request. Cost: two rows, and two more if a newer one is there already. */
export function pullRequestStatement(
  db: D1Database,
  { host, owner, repo, prUrl, createdAt }: PullRequestEntry,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO pull_requests (host, owner, repo, pr_url, created_at, id)
       VALUES (?1, ?2, ?3, ?4, ?5, (SELECT pull_requests + 1 FROM totals WHERE last_created_at < ?5))
       ON CONFLICT DO NOTHING`,
    )
    .bind(host, owner, repo, prUrl, createdAt);
}
