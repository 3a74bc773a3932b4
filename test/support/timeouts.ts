/** Timeouts that a test does not wait for. */
import { vi } from 'vitest';

/**
 * These timeouts are over at once, and no other one ever is. Answers all that were asked for, in milliseconds.
 * `vi.restoreAllMocks` ends it.
 */
export function timingOutOnly(...over: readonly number[]): number[] {
  const asked: number[] = [];
  const timer = ((run: () => void, ms: number) => {
    asked.push(ms);
    if (over.includes(ms)) queueMicrotask(run);
    return 0;
  }) as unknown as typeof setTimeout;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(timer);
  return asked;
}
