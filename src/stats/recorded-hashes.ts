/**
 * Which pr_hashes a push has recorded, in D1: so that a page for a made-up hash wakes no object, which on one machine
 * would leave a file. The objects' outboxes add to it some milliseconds after the push. Schema: migrations/.
 */

/** @param repository `owner/repo`. @param at milliseconds since 1970. */
export async function recordHash(
  db: D1Database,
  prHash: string,
  repository: string,
  at: number,
): Promise<void> {
  await db
    .prepare(
      'INSERT INTO recorded_hashes (pr_hash, repository, recorded_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    )
    .bind(prHash, repository, at)
    .run();
}

export async function isRecorded(db: D1Database, prHash: string): Promise<boolean> {
  return (await db.prepare('SELECT 1 FROM recorded_hashes WHERE pr_hash = ?').bind(prHash).first()) !== null;
}

/** The newest first. A hash may be all that an update needs: show nobody. @param repository in upper or lower case. */
export async function recordedHashesOf(
  db: D1Database,
  repository: string,
  limit: number,
): Promise<readonly string[]> {
  const { results } = await db
    .prepare(
      'SELECT pr_hash AS prHash FROM recorded_hashes WHERE repository = ? ORDER BY recorded_at DESC LIMIT ?',
    )
    .bind(repository, limit)
    .all<{ prHash: string }>();
  return results.map(({ prHash }) => prHash);
}
