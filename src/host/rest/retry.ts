/**
 * Retries a call to the host if that is safe.
 *
 * Octokit's own plugins retry every call and put a second between writes. Here the caller decides whether a call may be
 * repeated (a second pull request would be worse than an error), and a wait is only as long as the host asks for, up to
 * a limit for people who wait at a terminal.
 */
import type { Clock } from '../../isolate/clock.ts';

const ATTEMPTS = 3;
const FIRST_DELAY_MS = 200;
/** Nobody waits longer than this, neither for a retry nor for the attempt before it. */
export const LONGEST_WAIT_MS = 10_000;

/** What a failed attempt means for the next one. */
export type RetryAdvice =
  /** It failed before it took effect, or may be repeated: retry after `waitMs`, or after a growing delay. */
  { readonly kind: 'again'; readonly waitMs: number | null } | { readonly kind: 'final' };

/**
 * Calls until it succeeds, the advice is final, or three attempts have failed; then rejects with the last error. A host
 * that has taken its time to fail, or to say nothing at all, is not asked again.
 */
export async function withRetries<T>(
  clock: Clock,
  call: () => Promise<T>,
  advise: (error: unknown) => RetryAdvice,
): Promise<T> {
  const startedAt = clock.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const advice = advise(error);
      const waitMs = advice.kind === 'final' ? null : (advice.waitMs ?? FIRST_DELAY_MS * 4 ** (attempt - 1));
      const isLate = clock.now() - startedAt >= LONGEST_WAIT_MS;
      if (waitMs === null || waitMs > LONGEST_WAIT_MS || isLate || attempt === ATTEMPTS) throw error;
      await clock.sleep(waitMs);
    }
  }
}
