/**
 * Lets one request of this isolate at a time do an expensive piece of work.
 *
 * Waiting requests look again every few milliseconds on timers of their own. They cannot await a promise of the request
 * that works, because it never settles once that request's client disconnects. For the same reason a turn expires.
 */
import type { Clock } from './clock.ts';
import { HostError } from './host/host-error.ts';

const FIRST_POLL_MS = 10;
const MAX_POLL_MS = 160;
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
    const giveUpAt = clock.now() + MAX_WAIT_MS;
    let hasWaited = false;
    for (let pollMs = FIRST_POLL_MS; this.#isTaken(key, clock); pollMs = Math.min(2 * pollMs, MAX_POLL_MS)) {
      if (clock.now() >= giveUpAt) {
        throw new HostError('busy', 'The service is busy. Try again in a minute.');
      }
      await clock.sleep(pollMs);
      hasWaited = true;
    }
    const turn = { expiresAt: clock.now() + TURN_MS };
    if (this.#taken.size >= MAX_TURNS) this.#removeExpired(clock);
    this.#taken.set(key, turn);
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
