/** The ledger in D1. Schema: migrations/. */
import type { Ledger, LedgerRepository, PullRequestEntry, RecordedPullRequest, Totals } from './ledger.ts';

export class D1Ledger implements Ledger {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  async recordPullRequest(entry: PullRequestEntry): Promise<void> {
    await pullRequestStatement(this.#db, entry).run();
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
         ORDER BY created_at DESC, pr_url DESC LIMIT ?`,
      )
      .bind(limit)
      .all<RecordedPullRequest>();
    return results;
  }

  async pullRequestCount({ host, owner, repo }: LedgerRepository): Promise<number> {
    const count = await this.#db
      .prepare('SELECT count(*) AS count FROM pull_requests WHERE host = ? AND owner = ? AND repo = ?')
      .bind(host, owner, repo)
      .first<number>('count');
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
