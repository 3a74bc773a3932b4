/**
 * The list of repositories of which the bot may have a fork, in D1. Triggers fill it with the list of recorded hashes.
 * Schema: migrations/.
 *
 * Cost: a repository's first pull request writes two rows more. Looking for old forks reads as many rows as it finds, and
 * the hashes of their repositories.
 */

export interface ListedFork {
  /** `octo/hello`, or `cb/octo/hello` on another host than the first. */
  readonly repository: string;
  /** Of the newest pull request; null: none is recorded under this name any more. */
  readonly prHash: string | null;
  /** When that was opened first, in milliseconds since 1970. */
  readonly recordedAt: number | null;
}

/** Those of a host that were last known to be used before a moment: the longest unused first. */
export async function listedForks(
  db: D1Database,
  host: string,
  before: number,
  limit: number,
): Promise<readonly ListedFork[]> {
  const { results } = await db
    .prepare(
      `SELECT repository, pr_hash AS prHash, max(recorded_at) AS recordedAt
       FROM (SELECT repository FROM forks WHERE host = ? AND used_at <= ? ORDER BY used_at LIMIT ?)
       LEFT JOIN works_by_repository USING (repository) GROUP BY repository`,
    )
    .bind(host, before, limit)
    .all<ListedFork>();
  return results;
}

/** @param at milliseconds since 1970. */
export async function forkIsUsed(db: D1Database, repository: string, at: number): Promise<void> {
  await db.prepare('UPDATE forks SET used_at = ? WHERE repository = ?').bind(at, repository).run();
}

/** There is no such fork any more, or it is none that may be deleted. */
export async function unlistFork(db: D1Database, repository: string): Promise<void> {
  await db.prepare('DELETE FROM forks WHERE repository = ?').bind(repository).run();
}

/** The repositories of some pull requests; null if one of them is not recorded. */
export async function repositoriesOf(
  db: D1Database,
  prHashes: readonly string[],
): Promise<readonly string[] | null> {
  const { results } = await db
    .prepare(
      `SELECT repository, count(*) AS count FROM hashes_by_repository
       WHERE pr_hash IN (SELECT value FROM json_each(?)) GROUP BY repository`,
    )
    .bind(JSON.stringify(prHashes))
    .all<{ repository: string; count: number }>();
  const known = results.reduce((sum, { count }) => sum + count, 0);
  return known < prHashes.length ? null : results.map(({ repository }) => repository);
}
