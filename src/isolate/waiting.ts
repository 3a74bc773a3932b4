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
