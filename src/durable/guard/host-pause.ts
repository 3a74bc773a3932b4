/** Until when the code host wants to be left alone by the bot account. Outlives the object: the host remembers, too. */

interface StoredPause {
  readonly account: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

const KEY = 'host-pause';

export class HostPause {
  readonly #kv: SyncKvStorage;
  #stored: StoredPause | null;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    this.#stored = kv.get<StoredPause>(KEY) ?? null;
  }

  /** Milliseconds from now on; 0: the account need not wait. */
  left(account: string, now: number): number {
    return this.#stored?.account === account ? Math.max(0, this.#stored.until - now) : 0;
  }

  /** Cost: one write. A pause is never made shorter. */
  begin(account: string, pauseMs: number, now: number): void {
    if (pauseMs <= this.left(account, now)) return;
    this.#stored = { account, until: now + pauseMs };
    this.#kv.put(KEY, this.#stored);
  }
}
