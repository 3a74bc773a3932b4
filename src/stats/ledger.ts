/**
 * The ledger of pull requests (contract, 2.8), in D1.
 *
 * Entries come from outboxes that deliver at least once; a pull request's URL makes the second delivery do nothing.
 */
export interface PullRequestEntry {
  readonly owner: string;
  readonly repo: string;
  readonly prUrl: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** Rejects with the database's error; the entry is then to be delivered again. */
export async function recordPullRequest(db: D1Database, entry: PullRequestEntry): Promise<void> {
  await db
    .prepare(
      'INSERT INTO pull_requests (owner, repo, pr_url, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    )
    .bind(entry.owner, entry.repo, entry.prUrl, entry.createdAt)
    .run();
}
