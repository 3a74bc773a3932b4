/**
 * Which pseudonyms have reports, in D1: so that a look-up of a made-up hash wakes no object, which on one machine would
 * leave a file. The objects fill it in before they count their first report. Schema: migrations/.
 */
export async function listReported(db: D1Database, hash: string): Promise<void> {
  await db.prepare('INSERT INTO reported_pseudonyms VALUES (?) ON CONFLICT DO NOTHING').bind(hash).run();
}

/** The object holds nothing any more. */
export async function unlistReported(db: D1Database, hash: string): Promise<void> {
  await db.prepare('DELETE FROM reported_pseudonyms WHERE hash = ?').bind(hash).run();
}

export async function isReported(db: D1Database, hash: string): Promise<boolean> {
  return (await db.prepare('SELECT 1 FROM reported_pseudonyms WHERE hash = ?').bind(hash).first()) !== null;
}
