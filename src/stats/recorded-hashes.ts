/**
 * Which pr_hashes a push has recorded, in D1: so that a page for a made-up hash wakes no object, which on one machine
 * would leave a file. The objects' outboxes add to it some milliseconds after the push. Schema: migrations/.
 */
export async function recordHash(db: D1Database, prHash: string): Promise<void> {
  await db.prepare('INSERT INTO recorded_hashes VALUES (?) ON CONFLICT DO NOTHING').bind(prHash).run();
}

export async function isRecorded(db: D1Database, prHash: string): Promise<boolean> {
  return (await db.prepare('SELECT 1 FROM recorded_hashes WHERE pr_hash = ?').bind(prHash).first()) !== null;
}
