/**
 * Lists in D1 of the pr_hashes that pushes have recorded, with their commits and the hosts' numbers
 * for them, and of the pseudonyms that have posted. Thanks to them, a made-up hash wakes no object,
 * which on one machine would leave a file. The schema is in migrations/.
 */
import type { Logger } from '../log.ts';
import { nearName } from '../words/near-name.ts';
import { within } from '../isolate/within.ts';

/** How long most callers wait for an answer: a slow one counts as none. */
const PATIENCE_MS = 3_000;
/** How many of a repository's newest pull requests are searched: each is a row to read. */
const SEARCHED = 250;
/** Bounds the works of one pull request; the newest are kept. */
const MOST_WORKS = 200;
/**
 * SQL for a recorded work, `hash` or `hash@time`. The time, in milliseconds since 1970, is that of
 * the update which brought it; a work without one came when the pull request was opened.
 */
const HASH_OF_WORK = "substr(value, 1, instr(value || '@', '@') - 1)";

/**
 * Makes the statements that add a hash, or move it to another repository.
 * @param repository `octo/hello`, or `cb/octo/hello` on another host.
 * @param at milliseconds since 1970.
 * @param works a keyed hash for each of its commits, parents before children.
 */
export function hashStatements(
  db: D1Database,
  prHash: string,
  repository: string,
  at: number,
  works: readonly string[] = [],
): D1PreparedStatement[] {
  const listing = `INSERT INTO works_by_repository SELECT ?2, ?3, ?1, ?4
     WHERE NOT EXISTS (SELECT 1 FROM hashes_by_repository WHERE pr_hash = ?1) ON CONFLICT DO NOTHING`;
  const recording = `INSERT INTO hashes_by_repository VALUES (?, ?, ?)
     ON CONFLICT (pr_hash) DO UPDATE SET repository = excluded.repository`;
  return [
    db.prepare(listing).bind(prHash, repository, at, JSON.stringify(works)),
    db.prepare(recording).bind(prHash, repository, at),
  ];
}

/**
 * Adds the commits of an update. Those that are recorded keep their time. Rejects if the answer is
 * slow.
 * @param works the same as for `hashStatements`.
 * @param at milliseconds since 1970.
 */
export async function addWorks(
  db: D1Database,
  prHash: string,
  works: readonly string[],
  at: number,
): Promise<void> {
  const added = works.map((work) => `${work}@${at}`);
  const update = db.prepare(
    `UPDATE works_by_repository SET works = (
       SELECT json_group_array(kept) FROM (
         SELECT coalesce(max(recorded), value) AS kept FROM (
           SELECT value, NULL AS recorded, 0 AS age, key FROM json_each(?2)
           UNION ALL SELECT value, value, 1, key FROM json_each(works)
         ) GROUP BY ${HASH_OF_WORK} ORDER BY min(age), max(key) DESC LIMIT ?3))
     WHERE (repository, recorded_at, pr_hash) =
       (SELECT repository, recorded_at, pr_hash FROM hashes_by_repository WHERE pr_hash = ?1)`,
  );
  await within(PATIENCE_MS, update.bind(prHash, JSON.stringify(added), MOST_WORKS).run());
}

/**
 * Makes the statement that records the host's own number for a pull request.
 * @param host the code host's key.
 */
export function idStatement(db: D1Database, prHash: string, host: string, id: number): D1PreparedStatement {
  return db.prepare('INSERT OR REPLACE INTO hashes_by_host_id VALUES (?, ?, ?)').bind(host, id, prHash);
}

/**
 * Finds a pull request by the host's own number; null if no push has recorded it. Rejects if slow.
 */
export async function prHashWithId(db: D1Database, host: string, id: number): Promise<string | null> {
  const question = db.prepare('SELECT pr_hash FROM hashes_by_host_id WHERE host = ? AND id = ?');
  return within(PATIENCE_MS, question.bind(host, id).first<string>('pr_hash'));
}

/** Answers whether a push has recorded the hash; true also if the list does not answer. */
export async function mayBeRecorded(db: D1Database, prHash: string, logger: Logger): Promise<boolean> {
  return orTrue('pull-requests', isRecorded(db, prHash), logger);
}

export function isRecorded(db: D1Database, prHash: string): Promise<boolean> {
  return isAny(db.prepare('SELECT 1 FROM hashes_by_repository WHERE pr_hash = ?').bind(prHash));
}

/** Answers whether the pseudonym has posted; true also if the list does not answer. */
export async function mayBeListed(db: D1Database, hash: string, logger: Logger): Promise<boolean> {
  return orTrue('pseudonyms', isListed(db, hash), logger);
}

export function isListed(db: D1Database, hash: string): Promise<boolean> {
  return isAny(db.prepare('SELECT 1 FROM pseudonyms WHERE hash = ?').bind(hash));
}

export async function listPseudonym(db: D1Database, hash: string): Promise<void> {
  const insert = db.prepare('INSERT INTO pseudonyms VALUES (?) ON CONFLICT DO NOTHING');
  await within(PATIENCE_MS, insert.bind(hash).run());
}

/**
 * Removes a pseudonym whose object is empty. It waits without a time limit, because a deletion that
 * came later could remove the pseudonym after its next comment.
 */
export async function unlistPseudonym(db: D1Database, hash: string): Promise<void> {
  await db.prepare('DELETE FROM pseudonyms WHERE hash = ?').bind(hash).run();
}

const isAny = async (question: D1PreparedStatement): Promise<boolean> =>
  (await within(PATIENCE_MS, question.first())) !== null;

function orTrue(step: string, asked: Promise<boolean>, logger: Logger): Promise<boolean> {
  return asked.catch((error: unknown) => {
    logger.warn('a list of hashes does not answer', { step, error });
    return true;
  });
}

/**
 * Lists the hashes of a repository, newest first. They must not be shown, because a hash may be all
 * that an update needs.
 * @param repository its name, in any case.
 */
export async function recordedHashesOf(
  db: D1Database,
  repository: string,
  limit: number,
): Promise<readonly string[]> {
  const question =
    'SELECT pr_hash FROM works_by_repository WHERE repository = ? ORDER BY recorded_at DESC LIMIT ?';
  const rows = await db.prepare(question).bind(repository, limit).raw<[prHash: string]>();
  return rows.flat();
}

/** A pull request, and the index of the last of the works asked for that it has. */
export type RecordedWork = { readonly prHash: string; readonly last: number };

/**
 * Finds up to three of a repository's newest pull requests that have any of these works: first
 * those with the last work, then those that got it first, because the others may have copied it.
 * Rejects if the answer is slow.
 * @param works for each commit, parents before children, the hashes under which it may be recorded.
 */
export async function prHashesWith(
  db: D1Database,
  repository: string,
  works: readonly (readonly string[])[],
): Promise<readonly RecordedWork[]> {
  // CROSS JOIN keeps this order, in which each recorded work is looked up in an index of the asked.
  const question = db
    .prepare(
      `WITH asked AS MATERIALIZED (SELECT of_commit.key, hash.value
           FROM json_each(?1) AS of_commit, json_each(of_commit.value) AS hash),
         newest AS (SELECT * FROM works_by_repository WHERE repository = ?2 ORDER BY recorded_at DESC LIMIT ?3),
         known AS (SELECT pr_hash, ${HASH_OF_WORK} AS hash,
           iif(instr(value, '@'), CAST(substr(value, instr(value, '@') + 1) AS INTEGER), recorded_at) AS since
           FROM newest CROSS JOIN json_each(works))
       SELECT prHash, last FROM (
         -- Where there is one max(), the other columns are of the same row: since that work is there.
         SELECT pr_hash AS prHash, max(asked.key) AS last, since
         FROM known CROSS JOIN asked ON asked.value = known.hash GROUP BY pr_hash)
       ORDER BY last DESC, since LIMIT 3`,
    )
    .bind(JSON.stringify(works), repository, SEARCHED);
  return (await within(PATIENCE_MS, question.all<RecordedWork>())).results;
}

/**
 * Finds one of a repository's newest hashes that differs in a letter or two; null if there is none.
 * Rejects if the answer is slow.
 */
export async function prHashNear(db: D1Database, repository: string, prHash: string): Promise<string | null> {
  const newest = await within(PATIENCE_MS, recordedHashesOf(db, repository, SEARCHED));
  return nearName(prHash, newest) ?? null;
}
