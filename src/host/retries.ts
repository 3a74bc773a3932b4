/**
 * Repeats calls of a host where that may help.
 * Proved by test/host/failure.test.ts and test/host/github-writes.test.ts.
 */
import { HostError } from '../words/host-error.ts';
import type { Clock } from '../isolate/clock.ts';

const ATTEMPTS = 3;
const FIRST_DELAY_MS = 200;
/** Maximum wait for a retry, and maximum time since the first attempt. */
export const LONGEST_REPEAT_WAIT_MS = 10_000;

/**
 * Calls until it succeeds, the failure is final, or three attempts have failed. A host that took
 * long to fail is not asked again. One that asked for a pause is only asked after it.
 * @param isRepeatable is false if a call that may have been carried out must not be repeated.
 */
export async function withRetries<T>(clock: Clock, call: () => Promise<T>, isRepeatable = true): Promise<T> {
  const startedAt = clock.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const { effect, lasts, retryAfterMs: askedMs } = error.failure;
      const isFault = error.code === 'unreachable' && lasts === 'moment';
      const waitMs = askedMs ?? (isFault ? FIRST_DELAY_MS * 4 ** (attempt - 1) : Infinity);
      const isLate = clock.now() - startedAt >= LONGEST_REPEAT_WAIT_MS;
      const mayRepeat = (isRepeatable || effect === 'none') && !isLate && attempt < ATTEMPTS;
      if (waitMs > LONGEST_REPEAT_WAIT_MS || !mayRepeat) throw error;
      await clock.sleep(waitMs);
    }
  }
}
