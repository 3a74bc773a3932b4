/**
 * Alerts that the notification service has not accepted yet. They wait here, so that an outage of that service delays
 * no push and loses no alert. If the answer to an alert is lost, it may arrive twice.
 */
import type { Alert, CappedKind } from './alert.ts';
import { DueRows } from '../due-rows.ts';

/** The operator should get the alert soon after the notification service is back. */
const LONGEST_RETRY_MS = 5 * 60 * 1000;
const ALERT_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
/** When those that were too many are told. */
const SUM_AFTER_MS = 60 * 60 * 1000;
/** Bursts first. Then those that have failed least, so that an alert that always fails does not delay the others. */
const ORDER = 'alert NOT LIKE \'{"kind":"burst"%\', attempts, id';
/** Each may have to wait for the notification service's timeout. */
const ALERTS_PER_RUN = 20;

export interface WaitingAlert {
  readonly id: number;
  readonly alert: Alert;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly attempts: number;
}

interface AlertRow extends Record<string, SqlStorageValue> {
  id: number;
  alert: string;
  at: number;
  attempts: number;
}

export class AlertOutbox {
  readonly #sql: SqlStorage;
  readonly #rows: DueRows<AlertRow>;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#rows = new DueRows(sql, { table: 'alerts', counter: 'attempts', longestMs: LONGEST_RETRY_MS });
    sql.exec(`CREATE TABLE IF NOT EXISTS alerts (
      id INTEGER PRIMARY KEY AUTOINCREMENT, alert TEXT NOT NULL, at INTEGER NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL
    )`);
  }

  /** Answers its id. */
  add(alert: Alert, now: number, dueAt = now): number {
    const added = this.#sql.exec<{ id: number }>(
      'INSERT INTO alerts (alert, at, due_at) VALUES (?, ?, ?) RETURNING id',
      JSON.stringify(alert),
      now,
      dueAt,
    );
    return added.one().id;
  }

  /** Counts one that is too many, for the alert that sums them up. */
  addToSum(of: CappedKind, now: number): void {
    const counted = this.#sql.exec(
      `UPDATE alerts SET alert = json_set(alert, '$.count', alert ->> '$.count' + 1)
       WHERE alert ->> '$.kind' = 'more' AND alert ->> '$.of' = ? AND due_at > ? AND attempts = 0 RETURNING id`,
      of,
      now,
    );
    if (counted.toArray().length === 0) this.add({ kind: 'more', of, count: 1 }, now, now + SUM_AFTER_MS);
  }

  /** Removes those of a kind that nobody has tried to deliver. */
  removeUntried(kind: Alert['kind']): void {
    this.#sql.exec(`DELETE FROM alerts WHERE alert ->> '$.kind' = ? AND attempts = 0`, kind);
  }

  due(now: number): WaitingAlert[] {
    this.#sql.exec('DELETE FROM alerts WHERE at <= ?', now - ALERT_LIFE_MS);
    return this.#rows.due(now, ALERTS_PER_RUN, ORDER).map(({ id, alert, at, attempts }) => ({
      id,
      alert: JSON.parse(alert) as Alert,
      at,
      attempts,
    }));
  }

  delivered({ id }: WaitingAlert): void {
    this.#rows.delete(id);
  }

  /** Answers when it is due again. @param askedMs how long the notification service asks to wait. */
  failed({ id, attempts }: WaitingAlert, now: number, askedMs: number): number {
    return this.#rows.later(id, attempts, now, askedMs);
  }

  /** The failure of one concerns them all: nothing is due before, and the next failure has all wait for longer. */
  postponeAll({ attempts }: WaitingAlert, dueAt: number): void {
    this.#sql.exec(
      'UPDATE alerts SET due_at = max(due_at, ?1), attempts = max(attempts, ?2) WHERE due_at < ?1 OR attempts < ?2',
      dueAt,
      attempts + 1,
    );
  }

  get isEmpty(): boolean {
    return this.nextDueAt() === null;
  }

  /** No topic is configured any more. */
  clear(): void {
    this.#sql.exec('DELETE FROM alerts');
  }

  /** When the next is due; null if none is waiting. */
  nextDueAt(): number | null {
    return this.#rows.nextDueAt();
  }
}
