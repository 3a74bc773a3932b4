/** Until when the account must not call the code host. Stored, because the host's limit outlives the object. */
import { isAhead } from '../../isolate/clock.ts';
import { LONGEST_PAUSE_MS } from '../../host/failure.ts';

/** Under which it is kept. */
export const PAUSE_KEY = 'pause';

export class Pause {
  readonly #kv: SyncKvStorage;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** Milliseconds from now on; 0: the account need not wait. */
  left(now: number): number {
    const until = this.#kv.get<number>(PAUSE_KEY) ?? 0;
    return isAhead(until, LONGEST_PAUSE_MS, now) ? until - now : 0;
  }

  /** Cost: one write. A pause is never made shorter. */
  begin(pauseMs: number, now: number): void {
    if (pauseMs > this.left(now)) this.#kv.put(PAUSE_KEY, now + pauseMs);
  }
}
