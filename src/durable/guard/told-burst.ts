/** Which burst the operator was told last: kept, so that a restart of the guard does not begin anew. */
import { BURST_PAUSE_MS, type ToldBurst } from '../../guard/burst-alerts.ts';

const KEY = 'told-burst';

export class ToldBurstRecord {
  readonly #kv: SyncKvStorage;
  #told: ToldBurst | null;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    this.#told = kv.get<ToldBurst>(KEY) ?? null;
  }

  get last(): ToldBurst | null {
    return this.#told;
  }

  /** Cost: one write. */
  set(told: ToldBurst): void {
    this.#told = told;
    this.#kv.put(KEY, told);
  }

  /** Answers when it counts no more, or null. */
  forgetOld(now: number): number | null {
    if (this.#told === null) return null;
    const endsAt = this.#told.at + BURST_PAUSE_MS;
    if (now < endsAt) return endsAt;
    this.#told = null;
    this.#kv.delete(KEY);
    return null;
  }
}
