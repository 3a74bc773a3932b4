/** Retries a call to the host if that is safe: a second pull request would be worse than an error. */
import type { Clock } from '../../isolate/clock.ts';
import { HostError } from '../../host-error.ts';

const ATTEMPTS = 3;
const FIRST_DELAY_MS = 200;
/** Nobody waits longer than this, neither for a retry nor for the attempt before it. */
export const LONGEST_WAIT_MS = 10_000;

/**
 * Calls until it succeeds, the failure is final, or three attempts have failed; then rejects with the last error. A host
 * that has taken its time to fail is not asked again, and one that has refused only after the pause that it asks for.
 * @param isRepeatable false: not where the host may have done it already.
 */
export async function withRetries<T>(clock: Clock, call: () => Promise<T>, isRepeatable = true): Promise<T> {
  const startedAt = clock.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const { effect, lasts, retryAfterMs } = error.failure;
      const isFault = error.code === 'unreachable' && lasts === 'moment';
      const waitMs = retryAfterMs ?? (isFault ? FIRST_DELAY_MS * 4 ** (attempt - 1) : Infinity);
      const isLate = clock.now() - startedAt >= LONGEST_WAIT_MS;
      const mayRepeat = (isRepeatable || effect === 'none') && !isLate && attempt < ATTEMPTS;
      if (waitMs > LONGEST_WAIT_MS || !mayRepeat) throw error;
      await clock.sleep(waitMs);
    }
  }
}
