/**
 * Attempts of all clients against one kind of limit, in memory only.
 *
 * Pure. Cost: constant time for each attempt, and memory for the clients that tried something within the longest
 * window; for each of them, no more times than the limits allow.
 */
import {
  EMPTY_WINDOW,
  type Hit,
  hit,
  isQuiet,
  type Limit,
  longestOf,
  type SlidingWindow,
} from './sliding-window.ts';

export class ClientAttempts {
  /** The client that tried last is the last one. */
  readonly #windows = new Map<string, SlidingWindow>();

  /** How many clients are remembered. */
  get size(): number {
    return this.#windows.size;
  }

  /** @param client as a keyed hash. */
  hit(client: string, limits: readonly Limit[], now: number): Hit {
    const after = hit(this.#windows.get(client) ?? EMPTY_WINDOW, limits, now);
    this.#windows.delete(client);
    this.#windows.set(client, after.window);
    this.#forget(longestOf(limits), now);
    return after.hit;
  }

  /** A client whose refused attempts keep it at the end is remembered longer, which only costs memory. */
  #forget(longestMs: number, now: number): void {
    for (const [client, window] of this.#windows) {
      if (!isQuiet(window, longestMs, now)) break;
      this.#windows.delete(client);
    }
  }
}
