/**
 * Lets the requests of an isolate wait for each other. A request that has died never settles its
 * promises, so whoever waits looks again and again.
 * Proved by test/isolate/memory-budget.test.ts.
 */
import { HostError } from '../words/host-error.ts';
import type { Clock } from './clock.ts';
import { Recent } from './recent.ts';

/**
 * Maximum length of a turn: enough for slow work, and short enough that a request that died with it
 * does not block others for long.
 */
const TURN_MS = 30_000;
/** Maximum wait for a turn. A person gives up soon after that. */
const MAX_TURN_WAIT_MS = 40_000;
const MAX_TURNS = 1_000;

interface Turn {
  /** True if another request may have done the work meanwhile. */
  readonly hasWaited: boolean;
  /** Ends the turn. It may be called more than once. */
  end(): void;
}

/**
 * Lets one request of this isolate at a time do a piece of work whose result all of them can use.
 */
export class SingleFlight {
  readonly #taken = new Recent<object>({ lifeMs: TURN_MS, most: MAX_TURNS });

  /**
   * Waits until nobody works on `key`.
   * @throws HostError `busy` after too long a wait.
   */
  async take(key: string, clock: Clock): Promise<Turn> {
    const turn = {};
    const attempt = (): boolean => {
      if (this.#taken.get(key, clock.now()) !== null) return false;
      this.#taken.set(key, turn, clock.now());
      return true;
    };
    const hasWaited = await waitUntil(attempt, MAX_TURN_WAIT_MS, clock);
    const end = (): void => {
      if (this.#taken.get(key, clock.now()) === turn) this.#taken.delete(key);
    };
    return { hasWaited, end };
  }
}

const FIRST_POLL_MS = 10;
const MAX_POLL_MS = 160;
/**
 * Growth of the interval. A wait is longer than necessary by ten milliseconds and a quarter at
 * most.
 */
const POLL_GROWTH = 1.25;

/**
 * Tries until it succeeds.
 * @returns whether it had to wait.
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

/** Makes the error for a request that waits for too many others. */
export function busy(cause?: unknown): HostError {
  return new HostError('busy', 'The service is busy. Try again in a minute.', cause);
}
