/**
 * The log of a pseudonym: when it was flagged, blocked and pardoned, and when its author appealed.
 * Alerts are made from it, and the karma that a pardon gives back.
 * Proved by test/durable/identity/moderation.test.ts and test/durable/due-rows.test.ts.
 */
import type { ModerationNews } from '../../notify/alert.ts';
import { isWithin } from '../../isolate/clock.ts';
import { DueRows, earliest } from '../due-rows.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const ENTRY_LIFE_MS = 90 * DAY_MS;
/** The pause between two appeals of one author. */
const APPEAL_PAUSE_MS = DAY_MS;
/** How long to try to tell the operator. */
const NEWS_LIFE_MS = 7 * DAY_MS;

type LogEvent = 'flagged' | 'blocked' | 'pardoned' | 'appealed';

export interface LogEntry {
  readonly event: LogEvent;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The facts of an entry that the operator is told. */
export type NewsDetails = Omit<ModerationNews, 'hash'>;

type EntryRow = { event: LogEvent; at: number; karma: number; dueAt: number | null };
/** An entry that is to be told. `details` is JSON; `failures` counts the failed attempts. */
type NewsRow = { id: number; at: number; details: string; failures: number };

export class ModerationLog {
  readonly #sql: SqlStorage;
  readonly #untold: DueRows<NewsRow>;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#untold = new DueRows(sql, { table: 'history', columns: 'id, at, details, failures' });
    sql.exec(`CREATE TABLE IF NOT EXISTS history (
      id INTEGER PRIMARY KEY, event TEXT NOT NULL, at INTEGER NOT NULL, karma INTEGER NOT NULL,
      details TEXT, due_at INTEGER, failures INTEGER NOT NULL DEFAULT 0
    )`);
  }

  /**
   * Adds an entry.
   * @param karma before the event
   * @param news of which the operator is told
   */
  add(event: LogEvent, at: number, karma = 0, news: NewsDetails | null = null): void {
    const [details, dueAt] = news === null ? [null, null] : [JSON.stringify(news), at];
    const insert = 'INSERT INTO history (event, at, karma, details, due_at) VALUES (?, ?, ?, ?, ?)';
    this.#sql.exec(insert, event, at, karma, details, dueAt);
  }

  /** Lists the entries, oldest first. */
  entries(): LogEntry[] {
    return this.#rows().map(({ event, at }) => ({ event, at }));
  }

  /**
   * Finds the karma that the last verdict took away. A block follows a flag, so it finds none left
   * to take.
   */
  lostKarma(): number {
    const rows = this.#rows();
    const last = rows.findLastIndex(({ event }) => event === 'flagged');
    return Math.max(0, ...rows.slice(Math.max(0, last)).map(({ karma }) => karma));
  }

  /** Finds the moment when the author may appeal again; 0: now. */
  appealAllowedAt(now: number): number {
    const last = this.#rows().findLast(({ event }) => event === 'appealed');
    // A clock that was set back must not silence anyone for longer.
    return last !== undefined && isWithin(last.at, APPEAL_PAUSE_MS, now) ? last.at + APPEAL_PAUSE_MS : 0;
  }

  /** Deletes the last appeal, which did not arrive. */
  takeBackAppeal(): void {
    this.#sql.exec("DELETE FROM history WHERE id = (SELECT max(id) FROM history WHERE event = 'appealed')");
  }

  dueNews(now: number): NewsRow[] {
    return this.#untold.due(now);
  }

  /**
   * Notes whether an entry was told.
   * @param isTold false: it is to be told later, unless it is old by now
   */
  told({ id, at, failures }: NewsRow, isTold: boolean, now: number): void {
    if (isTold || now - at > NEWS_LIFE_MS)
      this.#sql.exec('UPDATE history SET due_at = NULL WHERE id = ?', id);
    else this.#untold.later(id, failures, now);
  }

  prune(now: number): void {
    this.#sql.exec('DELETE FROM history WHERE at < ? AND due_at IS NULL', now - ENTRY_LIFE_MS);
  }

  isEmpty(): boolean {
    return this.#rows().length === 0;
  }

  nextDueAt(): number | null {
    return earliest(...this.#rows().map(({ at, dueAt }) => dueAt ?? at + ENTRY_LIFE_MS + 1));
  }

  #rows(): EntryRow[] {
    const query = 'SELECT event, at, karma, due_at AS dueAt FROM history ORDER BY id';
    return this.#sql.exec<EntryRow>(query).toArray();
  }
}
