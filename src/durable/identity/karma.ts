/**
 * The karma of one pseudonym (contract, 2.3), stored here and copied to the ledger.
 *
 * The ledger is read once, when nothing is known here. The object's alarm sends changes to it, and only the last of
 * several. While the ledger cannot be reached, comments continue. Its value is added when it is back.
 */
import type { Ledger } from '../../stats/ledger.ts';
import { within } from '../../isolate/within.ts';
import { backOffMs } from '../due-rows.ts';

/** Changes within this time are sent as one. */
const DELIVERY_DELAY_MS = 5_000;
/** How long a comment waits for the ledger. */
const LEDGER_TIMEOUT_MS = 3_000;

interface KarmaRow extends Record<string, SqlStorageValue> {
  karma: number;
  /** Whether `karma` includes what the ledger knew. */
  is_complete: number;
  /** When the ledger must be updated; null if it is up to date. */
  due_at: number | null;
  failures: number;
}

export class Karma {
  readonly #sql: SqlStorage;
  readonly #hash: string;
  readonly #ledger: () => Ledger;
  /** Undefined until it has been read. */
  #cached: KarmaRow | null | undefined;

  constructor(sql: SqlStorage, hash: string, ledger: () => Ledger) {
    this.#sql = sql;
    this.#hash = hash;
    this.#ledger = ledger;
    sql.exec(`CREATE TABLE IF NOT EXISTS karma (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      karma INTEGER NOT NULL, is_complete INTEGER NOT NULL, due_at INTEGER, failures INTEGER NOT NULL
    )`);
  }

  /** The present karma. The first call asks the ledger. */
  async current(now: number): Promise<number> {
    if (this.#row() === null) await this.#complete(now);
    return this.#row()?.karma ?? 0;
  }

  /** As far as it is known here. */
  get known(): number {
    return this.#row()?.karma ?? 0;
  }

  set(karma: number, now: number): void {
    this.#write({ ...this.#known(), karma }, now);
  }

  /** Raises it to at least this value. */
  raise(karma: number, now: number): void {
    if (karma > this.#known().karma) this.set(karma, now);
  }

  /** The value in the ledger does not matter any more. */
  reset(now: number): void {
    this.#write({ ...this.#known(), karma: 0, is_complete: 1 }, now);
  }

  /** Updates the ledger if that is due. Never rejects. */
  async deliver(now: number): Promise<void> {
    const before = this.#row();
    if (before === null || before.due_at === null || before.due_at > now) return;
    if (before.is_complete === 0 && !(await this.#complete(now))) return;
    const { karma } = this.#known();
    try {
      await within(LEDGER_TIMEOUT_MS, this.#ledger().setKarma(this.#hash, karma));
      const after = this.#known();
      // Changes that were made in between are sent next.
      const due_at = after.karma === karma ? null : now + DELIVERY_DELAY_MS;
      this.#store({ ...after, due_at, failures: 0 });
    } catch {
      this.#postpone(now);
    }
  }

  /** When the ledger is updated with a change that is made now. */
  dueAfter(now: number): number {
    return this.nextDueAt() ?? now + DELIVERY_DELAY_MS;
  }

  /** There is no karma, and nothing to send. */
  isNothing(): boolean {
    return (this.#row()?.karma ?? 0) === 0 && this.nextDueAt() === null;
  }

  nextDueAt(): number | null {
    return this.#row()?.due_at ?? null;
  }

  /** Adds what the ledger knows. False if it cannot be reached. */
  async #complete(now: number): Promise<boolean> {
    try {
      const earlier = (await within(LEDGER_TIMEOUT_MS, this.#ledger().karma(this.#hash))) ?? 0;
      const known = this.#known();
      if (known.is_complete === 0) this.#store({ ...known, karma: known.karma + earlier, is_complete: 1 });
      return true;
    } catch {
      this.#postpone(now);
      return false;
    }
  }

  #row(): KarmaRow | null {
    if (this.#cached === undefined) {
      const rows = this.#sql.exec<KarmaRow>('SELECT karma, is_complete, due_at, failures FROM karma');
      this.#cached = rows.toArray()[0] ?? null;
    }
    return this.#cached;
  }

  #known(): KarmaRow {
    return this.#row() ?? { karma: 0, is_complete: 0, due_at: null, failures: 0 };
  }

  #write(row: KarmaRow, now: number): void {
    this.#store({ ...row, due_at: this.dueAfter(now) });
  }

  #store(row: KarmaRow): void {
    this.#cached = row;
    const { karma, is_complete, due_at, failures } = row;
    this.#sql.exec(
      'INSERT OR REPLACE INTO karma VALUES (1, ?, ?, ?, ?)',
      karma,
      is_complete,
      due_at,
      failures,
    );
  }

  #postpone(now: number): void {
    const known = this.#known();
    this.#store({ ...known, due_at: now + backOffMs(known.failures), failures: known.failures + 1 });
  }
}
