/**
 * The list of pseudonyms, in D1. Because of it, a look-up of a made-up hash wakes no object, which on one machine would
 * leave a file, and neither does a report of one. A pseudonym enters it with its issue or its first comment. Schema:
 * migrations/.
 *
 * Comments, reports and pages wait for the list, so a slow answer counts as none.
 */
import { within } from '../isolate/within.ts';
import type { Logger } from '../log.ts';

const PATIENCE_MS = 3_000;

export async function listPseudonym(db: D1Database, hash: string): Promise<void> {
  const insert = db.prepare('INSERT INTO pseudonyms VALUES (?) ON CONFLICT DO NOTHING');
  await within(PATIENCE_MS, insert.bind(hash).run());
}

/** The object holds nothing any more. Waits for the end: a deletion that comes later could take out a new comment. */
export async function unlistPseudonym(db: D1Database, hash: string): Promise<void> {
  await db.prepare('DELETE FROM pseudonyms WHERE hash = ?').bind(hash).run();
}

/** False: it has no reports for certain. Asking its object would make a database for it. */
export async function mayBeListed(db: D1Database, hash: string, logger: Logger): Promise<boolean> {
  return isListed(db, hash).catch((error: unknown) => {
    logger.warn('the list of pseudonyms does not answer', { error });
    return true;
  });
}

export async function isListed(db: D1Database, hash: string): Promise<boolean> {
  const question = db.prepare('SELECT 1 FROM pseudonyms WHERE hash = ?').bind(hash);
  return (await within(PATIENCE_MS, question.first())) !== null;
}
