/** The ledger in D1. Schema: migrations/. */
import {
  countedOwner,
  type Ledger,
  type LedgerRepository,
  type PullRequestEntry,
  type RecordedPullRequest,
  type Totals,
} from './ledger.ts';

export class D1Ledger implements Ledger {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  async recordPullRequest(entry: PullRequestEntry): Promise<void> {
    await this.#db
      .prepare(
        `INSERT INTO pull_requests (host, owner, repo, pr_url, created_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO NOTHING`,
      )
      .bind(entry.host, entry.owner, entry.repo, entry.prUrl, entry.createdAt)
      .run();
  }

  async totals(): Promise<Totals> {
    const row = await this.#db
      .prepare('SELECT pull_requests AS pullRequests, last_created_at AS lastCreatedAt FROM totals')
      .first<Totals>();
    return row ?? { pullRequests: 0, lastCreatedAt: null };
  }

  async recentPullRequests(limit: number): Promise<readonly RecordedPullRequest[]> {
    const { results } = await this.#db
      .prepare(
        `SELECT id, host, owner, repo, pr_url AS prUrl, created_at AS createdAt FROM pull_requests
         ORDER BY created_at DESC, id DESC LIMIT ?`,
      )
      .bind(limit)
      .all<RecordedPullRequest>();
    return results;
  }

  async pullRequestCount(repository: LedgerRepository): Promise<number> {
    const count = await this.#db
      .prepare('SELECT pull_requests FROM repository_totals WHERE owner = ? AND repo = ?')
      .bind(countedOwner(repository), repository.repo)
      .first<number>('pull_requests');
    return count ?? 0;
  }

  async karma(hash: string): Promise<number | null> {
    return this.#db.prepare('SELECT karma FROM karma WHERE hash = ?').bind(hash).first<number>('karma');
  }

  async setKarma(hash: string, karma: number): Promise<void> {
    await this.#db
      .prepare(
        'INSERT INTO karma (hash, karma) VALUES (?, ?) ON CONFLICT (hash) DO UPDATE SET karma = excluded.karma',
      )
      .bind(hash, karma)
      .run();
  }
}
