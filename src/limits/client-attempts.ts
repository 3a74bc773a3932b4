/**
 * What each client has done lately, in memory only: attempts against one kind of limit, or acts that are only counted.
 * Cost: memory for the clients that tried something within the longest window, up to a limit.
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
import { isWithin } from '../isolate/clock.ts';

/** With more of them, the one that tried longest ago counts as new, so a crowd can only make a limit milder. */
const MOST_CLIENTS = 100_000;

export class ClientAttempts {
  /** The client that tried last is the last one. */
  readonly #windows = new Map<string, SlidingWindow>();

  /** How many clients are remembered. */
  get size(): number {
    return this.#windows.size;
  }

  /** @param client as a keyed hash. @param now milliseconds since 1970. */
  hit(client: string, limits: readonly Limit[], now: number): Hit {
    const after = hit(this.#windows.get(client) ?? EMPTY_WINDOW, limits, now);
    this.#windows.delete(client);
    this.#windows.set(client, after.window);
    this.#forget(longestOf(limits), now);
    return after.hit;
  }

  /** How many attempts of the client were accepted within the time before `now`. */
  count(client: string, withinMs: number, now: number): number {
    const { hits } = this.#windows.get(client) ?? EMPTY_WINDOW;
    return hits.filter((at) => isWithin(at, withinMs, now)).length;
  }

  clear(): void {
    this.#windows.clear();
  }

  /** A client whose refused attempts keep it at the end is remembered longer, which only costs memory. */
  #forget(longestMs: number, now: number): void {
    for (const [client, window] of this.#windows) {
      if (this.#windows.size <= MOST_CLIENTS && !isQuiet(window, longestMs, now)) break;
      this.#windows.delete(client);
    }
  }
}
