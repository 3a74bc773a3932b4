/**
 * The ledger of pull requests (contract, 2.8), their number, and karma (2.3), in D1 or in the
 * operator's hosted database. Every method rejects with the database's error. Writes may be
 * repeated: a URL that is recorded already changes nothing, and karma is set, not added to.
 * Proved by test/stats/d1-ledger.test.ts.
 */
import { MAIN_HOST } from '../config/hosts.ts';

/** A repository, with the key of its code host. */
export interface LedgerRepository {
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
}

/** A pull request that was opened; `createdAt` is ISO 8601. */
export type PullRequestEntry = LedgerRepository & { readonly prUrl: string; readonly createdAt: string };
export type LedgerEntry = PullRequestEntry & { readonly id: number };

export interface Totals {
  readonly pullRequests: number;
  /** When the newest one was created, in ISO 8601; null if there is none. */
  readonly lastCreatedAt: string | null;
}

export interface Ledger {
  recordPullRequest(entry: PullRequestEntry): Promise<void>;
  totals(): Promise<Totals>;
  /** Lists the newest pull requests, newest first. */
  recentPullRequests(limit: number): Promise<readonly LedgerEntry[]>;
  /** Counts those of a repository, whose name is compared without regard to case, as hosts do. */
  pullRequestCount(repository: LedgerRepository): Promise<number>;
  /** Gives null if nothing is recorded for this identity hash. */
  karma(hash: string): Promise<number | null>;
  setKarma(hash: string, karma: number): Promise<void>;
}

/**
 * Names the owner under which a repository is counted. The trigger of the hosted database does the
 * same.
 */
export function countedOwner({ host, owner }: LedgerRepository): string {
  return host === MAIN_HOST ? owner : `${host}/${owner}`;
}

/** Opens the ledger in D1, whose schema is in migrations/. */
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

/** Makes the statement that records a pull request; one that is there already stays as it is. */
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
