/**
 * Lets one request of this isolate at a time do a piece of work whose result all of them can use. For how much memory
 * requests may take together, see memory-budget.ts.
 *
 * A turn expires, because a request may die while it has one.
 */
import type { Clock } from './clock.ts';
import { waitUntil } from './waiting.ts';

/** Long enough for slow work, short enough that a crashed holder does not block others for long. */
const TURN_MS = 30_000;
/** A person gives up soon after that. */
const MAX_WAIT_MS = 40_000;

/** Beyond these, turns that have expired are removed. */
const MAX_TURNS = 1_000;

/** `end` may be called more than once. */
export interface Turn {
  /** Whether another request may have done the work meanwhile. */
  readonly hasWaited: boolean;
  end(): void;
}

export class Turns {
  readonly #taken = new Map<string, { readonly expiresAt: number }>();

  /** Waits until nobody works on `key`. @throws HostError `busy` after too long a wait. */
  async take(key: string, clock: Clock): Promise<Turn> {
    const turn = { expiresAt: 0 };
    const isTakenNow = (): boolean => {
      if (this.#isTaken(key, clock)) return false;
      turn.expiresAt = clock.now() + TURN_MS;
      if (this.#taken.size >= MAX_TURNS) this.#removeExpired(clock);
      this.#taken.set(key, turn);
      return true;
    };
    const hasWaited = await waitUntil(isTakenNow, MAX_WAIT_MS, clock);
    return {
      hasWaited,
      end: () => {
        if (this.#taken.get(key) === turn) this.#taken.delete(key);
      },
    };
  }

  #removeExpired(clock: Clock): void {
    for (const key of this.#taken.keys()) if (!this.#isTaken(key, clock)) this.#taken.delete(key);
  }

  #isTaken(key: string, clock: Clock): boolean {
    return clock.now() < (this.#taken.get(key)?.expiresAt ?? -Infinity);
  }
}
