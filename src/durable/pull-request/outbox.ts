/**
 * Messages about a pull request that are not delivered yet. An entry stays until it was accepted, even after a crash,
 * and may in rare cases arrive twice. The receiver must tolerate that.
 */
import { DueRows } from '../due-rows.ts';
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

export class Outbox {
  readonly #sql: SqlStorage;
  readonly #rows: DueRows<OutboxEntry>;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#rows = new DueRows(sql, { table: 'outbox', counter: 'attempts' });
  }

  /** Call it before anything else of a new outbox. */
  prepare(): void {
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS outbox (
      id INTEGER PRIMARY KEY,
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
      const [entry] = this.#rows.due(now, 1);
      if (entry === undefined) break;
      const delivery = now - entry.at > LIFE_MS[entry.kind] ? DONE : await deliver(entry);
      if (delivery.kind === 'done') this.#rows.delete(entry.id);
      else this.#postpone(entry, delivery, now);
    }
    return this.#rows.nextDueAt();
  }

  #postpone({ id, kind, attempts }: OutboxEntry, failed: Failed, now: number): void {
    const dueAt = this.#rows.later(id, attempts, now, failed.askedMs);
    if (failed.all) {
      this.#sql.exec('UPDATE outbox SET due_at = ?1 WHERE kind = ?2 AND due_at < ?1', dueAt, kind);
    }
  }
}
