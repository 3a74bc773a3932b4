/**
 * Which pull request was opened with which commits, in D1: whoever pushes the same ones again is told of it. Schema:
 * migrations/.
 */
import { within } from '../isolate/within.ts';

/** A push waits for the answer, and does without one that is slow. */
const PATIENCE_MS = 3_000;

/** @param work keyed hash of the commits without their author and dates. */
export async function recordWork(db: D1Database, work: string, prHash: string): Promise<void> {
  await db
    .prepare('INSERT INTO works VALUES (?, ?) ON CONFLICT (work) DO UPDATE SET pr_hash = excluded.pr_hash')
    .bind(work, prHash)
    .run();
}

/** The pull request that was recorded last with these commits; null if there is none. Rejects if the answer is slow. */
export async function prHashOf(db: D1Database, work: string): Promise<string | null> {
  const question = db.prepare('SELECT pr_hash FROM works WHERE work = ?').bind(work);
  return within(PATIENCE_MS, question.first<string>('pr_hash'));
}
