/**
 * Which pr_hashes a push has recorded, in D1: so that a page for a made-up hash, or a push that names one, wakes no object,
 * which on one machine would leave a file. The objects' outboxes add to it some milliseconds after the push. A pull
 * request that is older than the list enters it with its next push or event. Schema: migrations/.
 */
import type { Logger } from '../log.ts';

export async function recordHash(db: D1Database, prHash: string): Promise<void> {
  await db.prepare('INSERT INTO recorded_hashes VALUES (?) ON CONFLICT DO NOTHING').bind(prHash).run();
}

/** True if the list does not answer. */
export async function mayBeRecorded(db: D1Database, prHash: string, logger: Logger): Promise<boolean> {
  return isRecorded(db, prHash).catch((error: unknown) => {
    logger.warn('the list of recorded pull requests does not answer', { error });
    return true;
  });
}

export async function isRecorded(db: D1Database, prHash: string): Promise<boolean> {
  return (await db.prepare('SELECT 1 FROM recorded_hashes WHERE pr_hash = ?').bind(prHash).first()) !== null;
}
