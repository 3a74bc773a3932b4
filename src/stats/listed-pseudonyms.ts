/**
 * Which pseudonyms there are, in D1: so that a look-up of a made-up hash wakes no object, which on one machine would
 * leave a file. A pseudonym enters it with its issue, its first comment or its first report. Of those that are older
 * than the list, it has the ones that D1 knew; with a hosted ledger, the others are there. Schema: migrations/.
 */
export async function listPseudonym(db: D1Database, hash: string): Promise<void> {
  await db.prepare('INSERT INTO pseudonyms VALUES (?) ON CONFLICT DO NOTHING').bind(hash).run();
}

/** The object holds nothing any more. */
export async function unlistPseudonym(db: D1Database, hash: string): Promise<void> {
  await db.prepare('DELETE FROM pseudonyms WHERE hash = ?').bind(hash).run();
}

export async function isListed(db: D1Database, hash: string): Promise<boolean> {
  return (await db.prepare('SELECT 1 FROM pseudonyms WHERE hash = ?').bind(hash).first()) !== null;
}
