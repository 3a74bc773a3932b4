/**
 * Waits for something that other requests of this isolate do.
 *
 * It looks again every few milliseconds on timers of the waiting request. A promise of another request cannot be
 * awaited, because it never settles once that request's client disconnects.
 */
import type { Clock } from './clock.ts';
import { HostError } from '../host-error.ts';

const FIRST_POLL_MS = 10;
const MAX_POLL_MS = 160;
/** So nobody waits for a quarter longer than necessary. */
const POLL_GROWTH = 1.25;

/** Too many others want the same. */
export function busy(cause?: unknown): HostError {
  return new HostError('busy', 'The service is busy. Try again in a minute.', cause);
}

/**
 * Tries until it succeeds. Answers whether it had to wait.
 * @param attempt takes at once what is free: when this function returns, someone else may have it.
 * @throws HostError `busy` after too long a wait.
 */
export async function waitUntil(attempt: () => boolean, maxWaitMs: number, clock: Clock): Promise<boolean> {
  const giveUpAt = clock.now() + maxWaitMs;
  let hasWaited = false;
  for (let pollMs = FIRST_POLL_MS; !attempt(); pollMs = Math.min(POLL_GROWTH * pollMs, MAX_POLL_MS)) {
    if (clock.now() >= giveUpAt) throw busy();
    await clock.sleep(pollMs);
    hasWaited = true;
  }
  return hasWaited;
}

/** Of a turn. Long enough for slow work, short enough that a crashed holder does not block others for long. */
const TURN_MS = 30_000;
/** A person gives up soon after that. */
const MAX_TURN_WAIT_MS = 40_000;

/** Beyond these, turns that have expired are removed. */
const MAX_TURNS = 1_000;

export interface Turn {
  /** Whether another request may have done the work meanwhile. */
  readonly hasWaited: boolean;
  /** May be called more than once. */
  end(): void;
}

/**
 * Lets one request of this isolate at a time do a piece of work whose result all of them can use. A turn expires, because
 * a request may die while it has one.
 */
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
    const hasWaited = await waitUntil(isTakenNow, MAX_TURN_WAIT_MS, clock);
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
