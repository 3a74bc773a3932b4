/**
 * Messages about a pull request that are not delivered yet. An entry stays until it was accepted, even after a crash,
 * and may in rare cases arrive twice. The receiver must tolerate that.
 */
import { backOffMs } from '../back-off.ts';
import { hasColumn } from '../tables.ts';

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
  /** Not before; milliseconds since 1970. */
  due_at: number;
}

/** What became of an attempt. */
export type Delivery = { readonly kind: 'done' } | Failed;

/** To be tried again. */
interface Failed {
  readonly kind: 'failed';
  /** How long the receiver asks to wait; 0 if it does not. */
  readonly askedMs: number;
  /** Whether the other entries of the same kind would fail now, too. */
  readonly all: boolean;
}

const DONE: Delivery = { kind: 'done' };

/** A receiver that asks for more is not believed. Nothing waits longer, even after a clock was set back. */
const LONGEST_WAIT_MS = 60 * 60 * 1000;

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
      attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL DEFAULT 0
    )`);
    if (hasColumn(this.#sql, 'outbox', 'due_at')) return;
    this.#sql.exec('ALTER TABLE outbox ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0');
  }

  add(kind: OutboxEntry['kind'], event: OutboxEvent, url: string, at: number): void {
    this.#sql.exec('INSERT INTO outbox (kind, event, url, at) VALUES (?, ?, ?, ?)', kind, event, url, at);
  }

  /**
   * Hands over every entry that is due, oldest first. Answers when to come back, in milliseconds since 1970; null:
   * never.
   */
  async empty(now: number, deliver: (entry: OutboxEntry) => Promise<Delivery>): Promise<number | null> {
    this.prepare();
    for (;;) {
      const entry = this.#sql
        .exec<OutboxEntry>(
          'SELECT * FROM outbox WHERE due_at <= ?1 OR due_at > ?1 + ?2 ORDER BY id LIMIT 1',
          now,
          LONGEST_WAIT_MS,
        )
        .toArray()[0];
      if (entry === undefined) break;
      const delivery = now - entry.at > LIFE_MS[entry.kind] ? DONE : await deliver(entry);
      if (delivery.kind === 'done') this.#sql.exec('DELETE FROM outbox WHERE id = ?', entry.id);
      else this.#postpone(entry, delivery, now);
    }
    return this.#sql.exec<{ at: number | null }>('SELECT min(due_at) AS at FROM outbox').one().at;
  }

  #postpone({ id, kind, attempts }: OutboxEntry, failed: Failed, now: number): void {
    const dueAt = now + Math.max(backOffMs(attempts), Math.min(failed.askedMs, LONGEST_WAIT_MS));
    this.#sql.exec('UPDATE outbox SET attempts = attempts + 1, due_at = ? WHERE id = ?', dueAt, id);
    if (failed.all) {
      this.#sql.exec('UPDATE outbox SET due_at = ?1 WHERE kind = ?2 AND due_at < ?1', dueAt, kind);
    }
  }
}
