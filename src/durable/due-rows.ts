/**
 * Work that is due at a time. Each failure makes it due later, and the refusing side may ask for
 * more time.
 */

const FIRST_MS = 5_000;
/** The longest wait that a refusing side may ask for. */
const LONGEST_WAIT_MS = 60 * 60 * 1000;
/**
 * A row that is due later than this, because a clock was set back, is due now. More than the
 * longest wait, as the clock of one machine is a little behind that of another.
 */
export const MOST_AHEAD_MS = 2 * LONGEST_WAIT_MS;

/**
 * The wait after a failure in milliseconds: twice as long each time, up to a limit.
 * @param failures before this one.
 */
export function backOffMs(failures: number, longestMs = LONGEST_WAIT_MS): number {
  return Math.min(longestMs, FIRST_MS * 2 ** failures);
}

/**
 * The time at which a failed row is due again.
 * @param askedMs how long the refusing side asks to wait.
 */
export function dueAgainAt(failures: number, now: number, askedMs: number, longestMs?: number): number {
  return now + Math.max(backOffMs(failures, longestMs), Math.min(askedMs, LONGEST_WAIT_MS));
}

export function isDue(dueAt: number, now: number): boolean {
  return dueAt <= now || dueAt > now + MOST_AHEAD_MS;
}

/** The first of these moments; null: there is none. */
export function earliest(...times: readonly (number | null)[]): number | null {
  const known = times.filter((at) => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}

interface DueTable {
  /** The table, with the columns `id`, `failures` and `due_at` (milliseconds since 1970). */
  readonly table: 'history' | 'comments' | 'attempts';
  /** The columns that `due` answers. */
  readonly columns: string;
  /** The condition of rows that wait, in SQL. By default, `due_at` is not null. */
  readonly condition?: string;
}

export class DueRows<Row extends Record<string, SqlStorageValue>> {
  readonly #sql: SqlStorage;
  readonly #table: Required<DueTable>;

  constructor(sql: SqlStorage, table: DueTable) {
    this.#sql = sql;
    this.#table = { condition: 'due_at IS NOT NULL', ...table };
  }

  /**
   * The rows that are due, by id.
   * @param limit none: all of them.
   */
  due(now: number, limit = -1): Row[] {
    const { table, columns, condition } = this.#table;
    const isDueNow = 'due_at <= ?1 OR due_at > ?1 + ?2';
    const query = `SELECT ${columns} FROM ${table} WHERE ${condition} AND (${isDueNow}) ORDER BY id LIMIT ?3`;
    return this.#sql.exec<Row>(query, now, MOST_AHEAD_MS, limit).toArray();
  }

  /**
   * Puts off a row that has failed.
   * @param failures of it before.
   * @returns when it is due again.
   */
  later(id: number, failures: number, now: number): number {
    const dueAt = now + backOffMs(failures);
    this.#sql.exec(
      `UPDATE ${this.#table.table} SET failures = failures + 1, due_at = ? WHERE id = ?`,
      dueAt,
      id,
    );
    return dueAt;
  }

  /** The time at which the next row is due; null if none waits. */
  nextDueAt(): number | null {
    const { table, condition } = this.#table;
    const query = `SELECT min(due_at) AS at FROM ${table} WHERE ${condition}`;
    return this.#sql.exec<{ at: number | null }>(query).one().at;
  }
}
