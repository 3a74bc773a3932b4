/**
 * The rows of a table that wait to be worked off. Each has a time when it is due, which is later each time it has
 * failed, and not before the time that the refusing side asks for.
 */

const FIRST_MS = 5_000;
/** Longer requests to wait are ignored. Nothing waits longer, even after a clock was set back. */
export const LONGEST_WAIT_MS = 60 * 60 * 1000;

/** How long to wait after a failure: twice as long each time, up to a limit. @param failures before this one. */
export function backOffMs(failures: number, longestMs = LONGEST_WAIT_MS): number {
  return Math.min(longestMs, FIRST_MS * 2 ** failures);
}

/** When a failed row is due again. @param askedMs how long the refusing side asks to wait. */
export function dueAgainAt(failures: number, now: number, askedMs: number, longestMs?: number): number {
  return now + Math.max(backOffMs(failures, longestMs), Math.min(askedMs, LONGEST_WAIT_MS));
}

export function isDue(dueAt: number, now: number): boolean {
  return dueAt <= now || dueAt > now + LONGEST_WAIT_MS;
}

export interface DueTable {
  /** Has the columns `id` and `due_at`, in milliseconds since 1970. A row without that time does not wait. */
  readonly table: 'alerts' | 'history' | 'comments' | 'attempts';
  /** The column that counts the failures of a row. */
  readonly counter: 'attempts' | 'failures';
  /** Of the rows that wait; all if it is not given. */
  readonly condition?: string;
  /** The longest pause that nobody asks for. */
  readonly longestMs?: number;
}

export class DueRows<Row extends Record<string, SqlStorageValue>> {
  readonly #sql: SqlStorage;
  readonly #table: Required<DueTable>;

  constructor(sql: SqlStorage, table: DueTable) {
    this.#sql = sql;
    this.#table = { condition: 'due_at IS NOT NULL', longestMs: LONGEST_WAIT_MS, ...table };
  }

  /** @param limit none: all of them. @param order in SQL. */
  due(now: number, limit = -1, order = 'id'): Row[] {
    const { table, condition } = this.#table;
    const rows = this.#sql.exec<Row>(
      `SELECT * FROM ${table} WHERE ${condition} AND (due_at <= ?1 OR due_at > ?1 + ?2) ORDER BY ${order} LIMIT ?3`,
      now,
      LONGEST_WAIT_MS,
      limit,
    );
    return rows.toArray();
  }

  /**
   * One has failed. Answers when it is due again.
   * @param failures of it before. @param askedMs how long the refusing side asks to wait.
   */
  later(id: number, failures: number, now: number, askedMs = 0): number {
    const { table, counter, longestMs } = this.#table;
    const dueAt = dueAgainAt(failures, now, askedMs, longestMs);
    this.#sql.exec(`UPDATE ${table} SET ${counter} = ${counter} + 1, due_at = ? WHERE id = ?`, dueAt, id);
    return dueAt;
  }

  delete(id: number): void {
    this.#sql.exec(`DELETE FROM ${this.#table.table} WHERE id = ?`, id);
  }

  /** When the next one is due; null if none waits. */
  nextDueAt(): number | null {
    const { table, condition } = this.#table;
    return this.#sql
      .exec<{ at: number | null }>(`SELECT min(due_at) AS at FROM ${table} WHERE ${condition}`)
      .one().at;
  }
}
