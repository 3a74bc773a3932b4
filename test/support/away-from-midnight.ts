import { setTimeout as wait } from 'node:timers/promises';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Hardly a test takes longer, and a hook may take twice as long. */
const LONG_TEST_MS = 45_000;

/**
 * Waits where midnight (UTC) is so near that it may come in the midst of a test: from then on, a
 * client counts as another one, and has its whole limits again.
 */
export async function awayFromMidnight(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < LONG_TEST_MS) await wait(leftMs + 100);
}
