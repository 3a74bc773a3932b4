/** Timeouts and pauses that a test does not wait for. */
import { vi } from 'vitest';
import { systemClock } from '../../src/isolate/clock.ts';

const sleepReally = systemClock.sleep.bind(systemClock);

/**
 * These timeouts are over at once, and no other one ever is. Answers all that were asked for, in
 * milliseconds. `vi.restoreAllMocks` ends it.
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

/**
 * The service's pauses are over at once, but for those that a signal ends: they last as long as
 * something beside them. Answers all of them, in milliseconds. `vi.restoreAllMocks` ends it.
 */
export function withoutPauses(): number[] {
  const asked: number[] = [];
  vi.spyOn(systemClock, 'sleep').mockImplementation((ms, signal) => {
    if (signal !== undefined) return sleepReally(ms, signal);
    asked.push(ms);
    return scheduler.wait(0);
  });
  return asked;
}
