/**
 * A pseudonym's own log: when it was flagged, blocked and pardoned, and when its author appealed. The operator is alerted
 * from it, and a pardon restores karma from it.
 */
import type { ModerationNews } from '../../notify/alert.ts';
import { DueRows, earliest } from '../due-rows.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const ENTRY_LIFE_MS = 90 * DAY_MS;
/** The pause between two appeals of one author. */
const APPEAL_PAUSE_MS = DAY_MS;
/** What could not be told for so long is dropped. */
const NEWS_LIFE_MS = 7 * DAY_MS;

export type HistoryEvent = 'flagged' | 'blocked' | 'pardoned' | 'appealed';

export interface HistoryEntry {
  readonly event: HistoryEvent;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What the operator is to be told of an entry. */
export type NewsDetails = Omit<ModerationNews, 'hash'>;

export interface News {
  readonly id: number;
  /** When it happened. */
  readonly at: number;
  readonly details: NewsDetails;
  /** How often telling it has failed. */
  readonly failures: number;
}

type EntryRow = { event: HistoryEvent; at: number; karma: number; dueAt: number | null };
type NewsRow = Omit<News, 'details'> & { details: string };

export class History {
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

  add(event: HistoryEvent, at: number): void {
    this.#sql.exec('INSERT INTO history (event, at, karma) VALUES (?, ?, 0)', event, at);
  }

  /** Something that the operator is told of. @param karma before it. */
  addNews(details: NewsDetails, karma: number, at: number): void {
    this.#sql.exec(
      'INSERT INTO history (event, at, karma, details, due_at) VALUES (?, ?, ?, ?, ?)',
      details.state,
      at,
      karma,
      JSON.stringify(details),
      at,
    );
  }

  /** Oldest first. */
  entries(): HistoryEntry[] {
    return this.#rows().map(({ event, at }) => ({ event, at }));
  }

  /** The karma that the last verdict took away. A block follows a flag, so it finds none left to take. */
  lostKarma(): number {
    const rows = this.#rows();
    const last = rows.findLastIndex(({ event }) => event === 'flagged');
    return Math.max(0, ...rows.slice(Math.max(0, last)).map(({ karma }) => karma));
  }

  /** When the author may appeal again; 0: now. */
  appealAllowedAt(now: number): number {
    const last = this.#rows().findLast(({ event }) => event === 'appealed');
    // A clock that was set back must not silence anyone for longer.
    return last === undefined || Math.abs(now - last.at) >= APPEAL_PAUSE_MS ? 0 : last.at + APPEAL_PAUSE_MS;
  }

  /** The last appeal did not arrive. */
  takeBackAppeal(): void {
    this.#sql.exec("DELETE FROM history WHERE id = (SELECT max(id) FROM history WHERE event = 'appealed')");
  }

  dueNews(now: number): News[] {
    return this.#untold.due(now).map(({ id, at, details, failures }) => ({
      id,
      at,
      failures,
      details: JSON.parse(details) as NewsDetails,
    }));
  }

  told({ id }: Pick<News, 'id'>): void {
    this.#sql.exec('UPDATE history SET due_at = NULL WHERE id = ?', id);
  }

  notTold({ id, at, failures }: News, now: number): void {
    if (now - at > NEWS_LIFE_MS) this.told({ id });
    else this.#untold.later(id, failures, now);
  }

  prune(now: number): void {
    this.#sql.exec('DELETE FROM history WHERE at < ? AND due_at IS NULL', now - ENTRY_LIFE_MS);
  }

  isEmpty(): boolean {
    return this.#rows().length === 0;
  }

  /** When something is due next; null if nothing is. */
  nextDueAt(): number | null {
    return earliest(...this.#rows().map(({ at, dueAt }) => dueAt ?? at + ENTRY_LIFE_MS + 1));
  }

  #rows(): EntryRow[] {
    const query = 'SELECT event, at, karma, due_at AS dueAt FROM history ORDER BY id';
    return this.#sql.exec<EntryRow>(query).toArray();
  }
}
