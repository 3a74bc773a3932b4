/**
 * Remembers what a discovery has learned for the push that follows it. A client discovers and pushes within a second or
 * two, and each request to the host would be a round trip that it waits for. Another isolate asks again.
 */
import type { Clock } from '../../clock.ts';

export class Recent<T> {
  readonly #lifeMs: number;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, { readonly value: T; readonly at: number }>();

  constructor(lifeMs: number, maxEntries: number) {
    this.#lifeMs = lifeMs;
    this.#maxEntries = maxEntries;
  }

  set(key: string, value: T, clock: Clock): void {
    if (this.#entries.size >= this.#maxEntries) this.#entries.clear();
    this.#entries.set(key, { value, at: clock.now() });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Null if it was never set, or has expired. */
  get(key: string, clock: Clock): T | null {
    const entry = this.#entries.get(key);
    return entry !== undefined && clock.now() - entry.at < this.#lifeMs ? entry.value : null;
  }
}
