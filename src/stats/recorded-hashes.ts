/**
 * The list of pr_hashes that a push has recorded, in D1. Because of it, a page for a made-up hash, or a push that names
 * one, wakes no object, which on one machine would leave a file. The objects' outboxes add to it some milliseconds
 * after the push. A pull request that is older than the list enters it with its next push or event. Schema:
 * migrations/.
 */
import type { Logger } from '../log.ts';
import { within } from '../isolate/within.ts';

/** Pushes and pages wait for the list: a slow answer counts as none. */
const PATIENCE_MS = 3_000;

/** @param repository `octo/hello`, or `cb/octo/hello` on another host. @param at milliseconds since 1970. */
export async function recordHash(
  db: D1Database,
  prHash: string,
  repository: string,
  at: number,
): Promise<void> {
  await db
    .prepare(
      `INSERT INTO hashes_by_repository VALUES (?, ?, ?)
       ON CONFLICT (pr_hash) DO UPDATE SET repository = excluded.repository`,
    )
    .bind(prHash, repository, at)
    .run();
}

/** True if the list does not answer. */
export async function mayBeRecorded(db: D1Database, prHash: string, logger: Logger): Promise<boolean> {
  return isRecorded(db, prHash).catch((error: unknown) => {
    logger.warn('the list of recorded pull requests does not answer', { error });
    return true;
  });
}

export async function isRecorded(db: D1Database, prHash: string): Promise<boolean> {
  const question = db
    .prepare(
      // Earlier versions had a list without repositories.
      `SELECT 1 FROM hashes_by_repository WHERE pr_hash = ?1
       UNION ALL SELECT 1 FROM recorded_hashes WHERE pr_hash = ?1`,
    )
    .bind(prHash);
  return (await within(PATIENCE_MS, question.first())) !== null;
}

/** The newest first. A hash may be all that an update needs: show nobody. @param repository in upper or lower case. */
export async function recordedHashesOf(
  db: D1Database,
  repository: string,
  limit: number,
): Promise<readonly string[]> {
  const { results } = await db
    .prepare(
      'SELECT pr_hash AS prHash FROM hashes_by_repository WHERE repository = ? ORDER BY recorded_at DESC LIMIT ?',
    )
    .bind(repository, limit)
    .all<{ prHash: string }>();
  return results.map(({ prHash }) => prHash);
}
