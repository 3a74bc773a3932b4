/** The clock, and comparisons with times that allow for a clock that was set back. */
import { randomInt } from 'node:crypto';

/** The service's clock, so that a test can stop time or skip ahead. */
export interface Clock {
  /** Returns the time in milliseconds since 1970. */
  now(): number;
  /** Waits. It ends early, without an error, when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  // It rejects only if `signal` is aborted, which ends the wait without an error.
  sleep: (ms, signal) => scheduler.wait(ms, signal && { signal }).catch(() => {}),
};

/**
 * Tells if a time is within a window. One that is as far in the future counts, too, but not longer:
 * after a clock was set back, nothing may count for longer than the window.
 */
export function isWithin(at: number, withinMs: number, now: number): boolean {
  return Math.abs(now - at) < withinMs;
}

/**
 * Tells if something is still going on that ends at `until` and takes at most `mostMs`. If it would
 * take longer, because the clock was set back, it counts as over.
 */
export function isAhead(until: number, mostMs: number, now: number): boolean {
  return now < until && until - now <= mostMs;
}

/**
 * Chooses a random time that nobody can foretell, each with the same chance.
 * @param from is in milliseconds since 1970, as `to`.
 */
export function randomMoment(from: number, to: number): number {
  return to <= from ? from : randomInt(from, to + 1);
}
