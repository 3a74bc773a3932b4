/**
 * Stores what a push has sent, in rows that only the push can read (src/spool/sealed-rows.ts), by
 * attempt and number. On Cloudflare each attempt has an object of its own; on one machine, where an
 * object is a file, all share one. A push removes its own rows. The alarm removes those of a push
 * that died, or of a delayed one whose time is over, and the whole file with the last rows.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import type { RowStore } from '../../spool/sealed-rows.ts';

const HOUR_MS = 60 * 60 * 1000;
/**
 * How long after its last row an attempt counts as dead: far longer than the slowest push takes for
 * a row.
 */
export const LIFE_MS = 3 * HOUR_MS;
/** Rows removed in one call: some 16 MB, for which other pushes wait a few milliseconds. */
const REMOVED_AT_ONCE = 64;

export class Spool extends DurableObject<Env> implements RowStore {
  /** The row that was read last, whose memory the next read frees. */
  #answered: ArrayBuffer | null = null;

  /** Rejects if the attempt has such a row already. */
  async write(attempt: string, number: number, sealed: ArrayBuffer): Promise<void> {
    const { storage } = this.ctx;
    const now = Date.now();
    this.#rows().exec('INSERT INTO rows VALUES (?, ?, ?, ?)', attempt, number, now, sealed);
    // Frees the memory now: the garbage collector would take its time.
    sealed.transfer(0);
    if ((await storage.getAlarm()) === null) await storage.setAlarm(now + LIFE_MS);
  }

  async read(attempt: string, number: number): Promise<ArrayBuffer | null> {
    const query = 'SELECT sealed FROM rows WHERE attempt = ? AND number = ?';
    const [row] = this.#rows().exec<{ sealed: ArrayBuffer }>(query, attempt, number);
    // The last answer was copied before this call began, so its memory can be freed.
    this.#answered?.transfer(0);
    return (this.#answered = row?.sealed ?? null);
  }

  async remove(attempt: string): Promise<boolean> {
    return this.#removeSome([attempt]);
  }

  async keep(attempt: string, until: number): Promise<void> {
    const last = 'SELECT max(number) FROM rows WHERE attempt = ?1';
    const update = `UPDATE rows SET at = ?2 WHERE attempt = ?1 AND number = (${last})`;
    const { rowsWritten } = this.#rows().exec(update, attempt, until - LIFE_MS);
    if (rowsWritten === 0) throw new Error('there are no such rows');
  }

  override async alarm(): Promise<void> {
    const now = Date.now();
    const query = 'SELECT attempt FROM rows GROUP BY attempt HAVING max(at) <= ?';
    const dead = [...this.#rows().exec<{ attempt: string }>(query, now - LIFE_MS)];
    // If nothing is left, `deleteAll` takes this alarm away, too.
    await this.ctx.storage.setAlarm(now + LIFE_MS);
    const hasMore = await this.#removeSome(dead.map(({ attempt }) => attempt));
    if (hasMore) await this.ctx.storage.setAlarm(now);
  }

  /**
   * Removes some rows of these attempts, or the whole file if there are no others. Answers whether
   * these attempts have more rows.
   */
  async #removeSome(attempts: readonly string[]): Promise<boolean> {
    const these = 'attempt IN (SELECT value FROM json_each(?))';
    const list = JSON.stringify(attempts);
    const isAny = (condition: string): boolean =>
      this.#rows().exec(`SELECT 1 FROM rows WHERE ${condition} LIMIT 1`, list).toArray().length > 0;
    if (!isAny(`NOT ${these}`)) {
      await this.ctx.storage.deleteAll();
      return false;
    }
    const some = `SELECT rowid FROM rows WHERE ${these} LIMIT ${REMOVED_AT_ONCE}`;
    this.#rows().exec(`DELETE FROM rows WHERE rowid IN (${some})`, list);
    return isAny(these);
  }

  /** Makes the table, which `deleteAll` has taken away, and gives the database. */
  #rows(): SqlStorage {
    const { sql } = this.ctx.storage;
    sql.exec(
      'CREATE TABLE IF NOT EXISTS rows (attempt TEXT, number INTEGER, at INTEGER, sealed BLOB, PRIMARY KEY (attempt, number))',
    );
    return sql;
  }
}
