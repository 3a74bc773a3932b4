/**
 * What waits to be worked off: it is due later each time it has failed, and as late as the refusing
 * side asks for.
 */

const FIRST_MS = 5_000;
/** Longer requests to wait are ignored. Nothing waits longer, even after a clock was set back. */
export const LONGEST_WAIT_MS = 60 * 60 * 1000;

/**
 * How long to wait after a failure: twice as long each time, up to a limit.
 * @param failures before this one.
 */
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

/** The first of these moments; null: there is none. */
export function earliest(...times: readonly (number | null)[]): number | null {
  const known = times.filter((at) => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}

interface DueTable {
  /**
   * Has the columns `id`, `failures` and `due_at`, in milliseconds since 1970. A row without it
   * does not wait.
   */
  readonly table: 'history' | 'comments' | 'attempts';
  /** Of the answers. */
  readonly columns: string;
  /** Of the rows that wait. */
  readonly condition?: string;
}

export class DueRows<Row extends Record<string, SqlStorageValue>> {
  readonly #sql: SqlStorage;
  readonly #table: Required<DueTable>;

  constructor(sql: SqlStorage, table: DueTable) {
    this.#sql = sql;
    this.#table = { condition: 'due_at IS NOT NULL', ...table };
  }

  /** @param limit none: all of them. */
  due(now: number, limit = -1): Row[] {
    const { table, columns, condition } = this.#table;
    const isDueNow = 'due_at <= ?1 OR due_at > ?1 + ?2';
    const query = `SELECT ${columns} FROM ${table} WHERE ${condition} AND (${isDueNow}) ORDER BY id LIMIT ?3`;
    return this.#sql.exec<Row>(query, now, LONGEST_WAIT_MS, limit).toArray();
  }

  /** One has failed. Answers when it is due again. @param failures of it before. */
  later(id: number, failures: number, now: number): number {
    const dueAt = now + backOffMs(failures);
    this.#sql.exec(
      `UPDATE ${this.#table.table} SET failures = failures + 1, due_at = ? WHERE id = ?`,
      dueAt,
      id,
    );
    return dueAt;
  }

  /** When the next one is due; null if none waits. */
  nextDueAt(): number | null {
    const { table, condition } = this.#table;
    const query = `SELECT min(due_at) AS at FROM ${table} WHERE ${condition}`;
    return this.#sql.exec<{ at: number | null }>(query).one().at;
  }
}
