/** Statements of the version before the present tables of pull requests: it runs until they are there, and may come back. */
import type { PullRequestEntry } from '../../../src/stats/ledger.ts';

export async function recordAsEarlier(db: D1Database, entry: PullRequestEntry): Promise<void> {
  await db
    .prepare(
      `INSERT INTO pull_requests (host, owner, repo, pr_url, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    )
    .bind(entry.host, entry.owner, entry.repo, entry.prUrl, entry.createdAt)
    .run();
}

/** Its answers: the totals, the addresses of the newest, and the count of one repository. */
export async function askAsEarlier(db: D1Database, owner: string, repo: string): Promise<unknown[]> {
  const totals = await db
    .prepare('SELECT pull_requests AS pullRequests, last_created_at AS lastCreatedAt FROM totals')
    .first();
  const { results } = await db
    .prepare(
      `SELECT id, host, owner, repo, pr_url AS prUrl, created_at AS createdAt FROM pull_requests
       ORDER BY created_at DESC, id DESC LIMIT ?`,
    )
    .bind(10)
    .all();
  const count = await db
    .prepare('SELECT pull_requests FROM repository_totals WHERE owner = ? AND repo = ?')
    .bind(owner, repo)
    .first('pull_requests');
  return [totals, results, count];
}
