/** Clocks: which moments count as lately, and what goes on, also where the clock was set back. */
import { expect, it } from 'vitest';
import { isAhead, isWithin, randomMoment, systemClock } from '../../src/isolate/clock.ts';

const NOW = 1_800_000_000_000;

it.each([
  [NOW, true],
  [NOW - 59, true],
  [NOW - 60, false],
  [NOW + 59, true],
  [NOW + 60, false],
])('what was at %i is within the last 60 ms: %s', (at, is) => {
  expect(isWithin(at, 60, NOW)).toBe(is);
});

it.each([
  [NOW, false],
  [NOW + 1, true],
  [NOW + 60, true],
  [NOW + 61, false],
])('what ends at %i, and takes at most 60 ms, goes on: %s', (until, is) => {
  expect(isAhead(until, 60, NOW)).toBe(is);
});

it('a moment is any from the first to the last', () => {
  const moments = new Set(Array.from({ length: 500 }, () => randomMoment(NOW, NOW + 2)));
  expect(moments).toEqual(new Set([NOW, NOW + 1, NOW + 2]));
  expect(randomMoment(NOW, NOW - 1)).toBe(NOW);
});

it('a pause ends early, and without an error, when its signal says so', async () => {
  const over = new AbortController();
  const pause = systemClock.sleep(60 * 60_000, over.signal);
  over.abort();
  await expect(pause).resolves.toBeUndefined();
});
