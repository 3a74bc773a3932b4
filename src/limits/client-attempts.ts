/**
 * What each client has tried lately against one kind of limit, in memory only. Cost: memory for the clients that tried
 * something within the longest window, up to a limit.
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

/** With more of them, the one that tried longest ago counts as new, so a crowd can only make a limit milder. */
const MOST_CLIENTS = 100_000;

export class ClientAttempts {
  /** The client that tried last is the last one. */
  readonly #windows = new Map<string, SlidingWindow>();

  /** What a client has tried. @param client as a keyed hash. */
  of(client: string): SlidingWindow {
    return this.#windows.get(client) ?? EMPTY_WINDOW;
  }

  /** @param now milliseconds since 1970. */
  hit(client: string, limits: readonly Limit[], now: number): Hit {
    const after = hit(this.of(client), limits, now);
    this.#windows.delete(client);
    this.#windows.set(client, after.window);
    const longestMs = longestOf(limits);
    // A client whose refused attempts keep it at the end is remembered longer, which only costs memory.
    for (const [oldest, window] of this.#windows) {
      if (this.#windows.size <= MOST_CLIENTS && !isQuiet(window, longestMs, now)) break;
      this.#windows.delete(oldest);
    }
    return after.hit;
  }

  clear(): void {
    this.#windows.clear();
  }
}
