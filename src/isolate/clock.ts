/** The clock, and what it says of times that it may have been set back since. */
import { randomInt } from 'node:crypto';

/** The service's clock, so that a test can stop time or skip ahead. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Ends early, and without an error, when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => scheduler.wait(ms, signal && { signal }).catch(() => {}),
};

/**
 * Also drops times in the future, after a clock was set back: nothing may count for longer than the
 * window.
 */
export function isWithin(at: number, withinMs: number, now: number): boolean {
  return Math.abs(now - at) < withinMs;
}

/**
 * Whether what ends at `until`, and takes at most `mostMs`, is still going on. It is over if a
 * clock was set back.
 */
export function isAhead(until: number, mostMs: number, now: number): boolean {
  return now < until && until - now <= mostMs;
}

/**
 * A moment that nobody can foretell, each as likely.
 * @param from
 * @param to milliseconds since 1970.
 */
export function randomMoment(from: number, to: number): number {
  return to <= from ? from : randomInt(from, to + 1);
}
