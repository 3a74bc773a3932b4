/**
 * A pseudonym's karma (contract, 2.3). The ledger is read once, and told by the alarm; without it,
 * comments go on.
 * Proved by test/durable/identity/identity.test.ts.
 */
import { succeeds, within } from '../../isolate/within.ts';
import type { Ledger } from '../../stats/ledger.ts';
import { backOffMs } from '../due-rows.ts';

/** Changes within this time are sent as one. */
const DELIVERY_DELAY_MS = 5_000;
/** The longest that a comment waits for the ledger. */
const LEDGER_TIMEOUT_MS = 3_000;

const KEY = 'karma';

interface KeptKarma {
  readonly karma: number;
  /** Whether `karma` includes what the ledger knew. */
  readonly isComplete: boolean;
  /** The moment when the ledger must be updated; null: it is up to date. */
  readonly dueAt: number | null;
  readonly failures: number;
}

const NOTHING: KeptKarma = { karma: 0, isComplete: false, dueAt: null, failures: 0 };

export class Karma {
  readonly #kv: SyncKvStorage;
  readonly #hash: string;
  readonly #ledger: () => Ledger;

  constructor(kv: SyncKvStorage, hash: string, ledger: () => Ledger) {
    this.#kv = kv;
    this.#hash = hash;
    this.#ledger = ledger;
  }

  /** Answers the present karma. The first call asks the ledger. */
  async current(now: number): Promise<number> {
    if (this.#kv.get(KEY) === undefined) await this.#complete(now);
    return this.known;
  }

  /** The karma as far as it is known here. */
  get known(): number {
    return this.#kept.karma;
  }

  set(karma: number, now: number): void {
    this.#change({ karma }, now);
  }

  /** Raises it to at least this value. */
  raise(karma: number, now: number): void {
    if (karma > this.known) this.set(karma, now);
  }

  /** Sets it to 0. The value in the ledger does not matter any more. */
  reset(now: number): void {
    this.#change({ karma: 0, isComplete: true }, now);
  }

  /** Updates the ledger if that is due. Never rejects. */
  async deliver(now: number): Promise<void> {
    const { dueAt, isComplete } = this.#kept;
    if (dueAt === null || dueAt > now) return;
    if (!isComplete && !(await this.#complete(now))) return;
    await this.#orLater(now, async () => {
      const karma = this.known;
      await within(LEDGER_TIMEOUT_MS, this.#ledger().setKarma(this.#hash, karma));
      // Changes that were made in between are sent next.
      this.#keep({ dueAt: this.known === karma ? null : now + DELIVERY_DELAY_MS, failures: 0 });
    });
  }

  /** Computes when the ledger is updated with a change that is made now. */
  dueAfter(now: number): number {
    return this.nextDueAt() ?? now + DELIVERY_DELAY_MS;
  }

  /** Answers whether there is no karma, and nothing to send. */
  isNothing(): boolean {
    return this.known === 0 && this.nextDueAt() === null;
  }

  nextDueAt(): number | null {
    return this.#kept.dueAt;
  }

  /** Adds what the ledger knows. False if it cannot be reached. */
  #complete(now: number): Promise<boolean> {
    return this.#orLater(now, async () => {
      const earlier = (await within(LEDGER_TIMEOUT_MS, this.#ledger().karma(this.#hash))) ?? 0;
      if (!this.#kept.isComplete) this.#keep({ karma: this.known + earlier, isComplete: true });
    });
  }

  /** Asks or updates the ledger. False: it has failed, and the next attempt is later. */
  async #orLater(now: number, ask: () => Promise<void>): Promise<boolean> {
    const isDone = await succeeds(ask());
    const { failures } = this.#kept;
    if (!isDone) this.#keep({ dueAt: now + backOffMs(failures), failures: failures + 1 });
    return isDone;
  }

  get #kept(): KeptKarma {
    return this.#kv.get<KeptKarma>(KEY) ?? NOTHING;
  }

  #keep(changed: Partial<KeptKarma>): void {
    this.#kv.put(KEY, { ...this.#kept, ...changed });
  }

  /** Stores a change, of which the ledger is to hear. */
  #change(changed: Partial<KeptKarma>, now: number): void {
    this.#keep({ ...changed, dueAt: this.dueAfter(now) });
  }
}
