/**
 * Messages about a pull request that are not delivered yet. An entry stays until it was accepted, even after a crash,
 * and may in rare cases arrive twice. The receiver must tolerate that.
 */
import { backOffMs } from '../back-off.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long to try. News is of no use after a week; a count or a list that lacks a pull request is wrong for ever. */
const LIFE_MS = { notification: 7 * DAY_MS, ledger: 365 * DAY_MS, page: 365 * DAY_MS } as const;

/** What a topic tells of (contract, section 6). */
export type OutboxEvent = 'opened' | 'updated' | 'commented' | 'merged' | 'closed';

export interface OutboxEntry extends Record<string, SqlStorageValue> {
  id: number;
  kind: keyof typeof LIFE_MS;
  event: OutboxEvent;
  /** The page that shows the event: the pull request's, or the comment's. */
  url: string;
  at: number;
  attempts: number;
}

export class Outbox {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Call it before anything else of a new outbox. */
  prepare(): void {
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS outbox (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL, event TEXT NOT NULL, url TEXT NOT NULL, at INTEGER NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0
    )`);
  }

  add(kind: OutboxEntry['kind'], event: OutboxEvent, url: string, at: number): void {
    this.#sql.exec('INSERT INTO outbox (kind, event, url, at) VALUES (?, ?, ?, ?)', kind, event, url, at);
  }

  /**
   * Hands over every entry, oldest first.
   * @param deliver false if it has to be tried again.
   * Answers when to come back, in milliseconds since 1970; null: never.
   */
  async empty(now: number, deliver: (entry: OutboxEntry) => Promise<boolean>): Promise<number | null> {
    let retryMs = Infinity;
    for (const entry of this.#sql.exec<OutboxEntry>('SELECT * FROM outbox ORDER BY id').toArray()) {
      if (now - entry.at > LIFE_MS[entry.kind] || (await deliver(entry))) {
        this.#sql.exec('DELETE FROM outbox WHERE id = ?', entry.id);
        continue;
      }
      this.#sql.exec('UPDATE outbox SET attempts = attempts + 1 WHERE id = ?', entry.id);
      retryMs = Math.min(retryMs, backOffMs(entry.attempts));
    }
    return retryMs === Infinity ? null : now + retryMs;
  }
}
