/**
 * The list of pr_hashes that a push has recorded, in D1. Because of it, a page for a made-up hash, or a push that names
 * one, wakes no object, which on one machine would leave a file. A push adds to it before it is answered. Schema:
 * migrations/.
 */
import type { Logger } from '../log.ts';
import { nearName } from '../near-name.ts';
import { within } from '../isolate/within.ts';

/** Pushes and pages wait for the list: a slow answer counts as none. */
const PATIENCE_MS = 3_000;
/** Of a repository's newest ones, among which the same work is looked for: each is a row that is read. */
const SEARCHED = 250;

/**
 * Adds a hash to the list, or moves it to another repository.
 * @param repository `octo/hello`, or `cb/octo/hello` on another host. @param at milliseconds since 1970.
 * @param work keyed hash of the commits that it was opened with, without their author and dates; absent: that is not to
 *   be recorded. Cost: two rows, and two more for the first one of a repository.
 */
export function hashStatements(
  db: D1Database,
  prHash: string,
  repository: string,
  at: number,
  work?: string,
): D1PreparedStatement[] {
  const [listing, recording] = [
    `INSERT INTO works_by_repository SELECT ?2, ?3, ?1, ?4
     WHERE NOT EXISTS (SELECT 1 FROM hashes_by_repository WHERE pr_hash = ?1) ON CONFLICT DO NOTHING`,
    `INSERT INTO hashes_by_repository VALUES (?, ?, ?)
     ON CONFLICT (pr_hash) DO UPDATE SET repository = excluded.repository`,
  ];
  return [
    db.prepare(listing).bind(prHash, repository, at, work ?? null),
    db.prepare(recording).bind(prHash, repository, at),
  ];
}

/** The pull request that the host knows by a number of its own. Cost: a row. @param host the code host's key. */
export function idStatement(db: D1Database, prHash: string, host: string, id: number): D1PreparedStatement {
  return db.prepare('INSERT OR REPLACE INTO hashes_by_host_id VALUES (?, ?, ?)').bind(host, id, prHash);
}

/** Null: no push has recorded it. Rejects if the answer is slow. */
export async function prHashWithId(db: D1Database, host: string, id: number): Promise<string | null> {
  const question = db
    .prepare('SELECT pr_hash FROM hashes_by_host_id WHERE host = ? AND id = ?')
    .bind(host, id);
  return within(PATIENCE_MS, question.first<string>('pr_hash'));
}

/** True if the list does not answer. */
export async function mayBeRecorded(db: D1Database, prHash: string, logger: Logger): Promise<boolean> {
  return isRecorded(db, prHash).catch((error: unknown) => {
    logger.warn('the list of recorded pull requests does not answer', { error });
    return true;
  });
}

export async function isRecorded(db: D1Database, prHash: string): Promise<boolean> {
  const question = db.prepare('SELECT 1 FROM hashes_by_repository WHERE pr_hash = ?').bind(prHash);
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
      'SELECT pr_hash AS prHash FROM works_by_repository WHERE repository = ? ORDER BY recorded_at DESC LIMIT ?',
    )
    .bind(repository, limit)
    .all<{ prHash: string }>();
  return results.map(({ prHash }) => prHash);
}

/**
 * The pull request among a repository's newest ones that was recorded with the last of these works that there is; null if
 * there is none. Rejects if the answer is slow. @param works as `hashStatements` takes them.
 */
export async function prHashWith(
  db: D1Database,
  repository: string,
  works: readonly string[],
): Promise<{ readonly prHash: string; readonly work: string } | null> {
  const newest = 'SELECT * FROM works_by_repository WHERE repository = ? ORDER BY recorded_at DESC LIMIT ?';
  const question = db
    .prepare(
      `SELECT pr_hash AS prHash, work FROM (${newest}) JOIN json_each(?) ON value = work
       ORDER BY key DESC, recorded_at DESC LIMIT 1`,
    )
    .bind(repository, SEARCHED, JSON.stringify(works));
  return within(PATIENCE_MS, question.first<{ prHash: string; work: string }>());
}

/** One among a repository's newest ones that differs in a letter or two; null if there is none. Rejects if the answer is slow. */
export async function prHashNear(db: D1Database, repository: string, prHash: string): Promise<string | null> {
  const newest = await within(PATIENCE_MS, recordedHashesOf(db, repository, SEARCHED));
  return nearName(prHash, newest) ?? null;
}
