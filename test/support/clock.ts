/** Time that stands still until a test lets it pass. */
import { vi } from 'vitest';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Time is the test's from here on: far in the future, so that no alarm goes off by itself. */
export function holdClock(): void {
  vi.setSystemTime(Date.now() + 3650 * DAY_MS);
}

export function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}
