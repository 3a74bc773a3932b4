/**
 * Retries a call to the host if that is safe.
 *
 * Octokit's own plugins retry every call and put a second between writes. Here the caller decides whether a call may be
 * repeated (a second pull request would be worse than an error), and a wait is only as long as the host asks for, up to
 * a limit for people who wait at a terminal.
 */
import type { Clock } from '../../isolate/clock.ts';
import { askedPauseMs } from '../failure.ts';

const ATTEMPTS = 3;
const FIRST_DELAY_MS = 200;
/** Nobody waits longer than this, neither for a retry nor for the attempt before it. */
export const LONGEST_WAIT_MS = 10_000;

/**
 * Calls until it succeeds, the failure is final, or three attempts have failed; then rejects with the last error. A host
 * that has taken its time to fail, or to say nothing at all, is not asked again.
 * @param mayPass whether a call that failed so may succeed when it is repeated. A host that asks for a pause is asked
 * again after it in any case, because it has done nothing.
 */
export async function withRetries<T>(
  clock: Clock,
  call: () => Promise<T>,
  mayPass: (error: unknown) => boolean,
): Promise<T> {
  const startedAt = clock.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const growingMs = mayPass(error) ? FIRST_DELAY_MS * 4 ** (attempt - 1) : null;
      const waitMs = askedPauseMs(error) ?? growingMs;
      const isLate = clock.now() - startedAt >= LONGEST_WAIT_MS;
      if (waitMs === null || waitMs > LONGEST_WAIT_MS || isLate || attempt === ATTEMPTS) throw error;
      await clock.sleep(waitMs);
    }
  }
}
