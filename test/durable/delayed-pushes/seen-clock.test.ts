/** Time for what waits, when the clock is set back, jumps, or the machine was off. */
import { expect, it } from 'vitest';
import { DAY_MS, see, type SeenTime } from '../../../src/durable/delayed-pushes/seen-clock.ts';

const NOW = 1_800_000_000_000;

function afterAll(clocks: readonly number[]): SeenTime | null {
  return clocks.reduce<SeenTime | null>(see, null);
}

it('follows the clock', () => {
  expect(afterAll([NOW])).toEqual({ latest: NOW, jumpedTo: null });
  expect(afterAll([NOW, NOW + DAY_MS])).toEqual({ latest: NOW + DAY_MS, jumpedTo: null });
});

it('stands still while the clock is behind, however far, and goes on when it has caught up', () => {
  expect(afterAll([NOW, NOW - 20 * DAY_MS, NOW - 1])).toEqual({ latest: NOW, jumpedTo: null });
  expect(afterAll([NOW, NOW - DAY_MS, NOW + 1])).toEqual({ latest: NOW + 1, jumpedTo: null });
});

it('believes a jump of more than a day after a day', () => {
  const jumped = NOW + 20 * DAY_MS;
  expect(afterAll([NOW, jumped])).toEqual({ latest: NOW, jumpedTo: jumped });
  expect(afterAll([NOW, jumped, jumped + DAY_MS - 1])).toEqual({ latest: NOW, jumpedTo: jumped });
  expect(afterAll([NOW, jumped, jumped + DAY_MS])).toEqual({ latest: jumped + DAY_MS, jumpedTo: null });
});

it('forgets a jump that was corrected', () => {
  expect(afterAll([NOW, NOW + 20 * DAY_MS, NOW + 1])).toEqual({ latest: NOW + 1, jumpedTo: null });
  const second = NOW + 10 * DAY_MS;
  expect(afterAll([NOW, NOW + 20 * DAY_MS, second])).toEqual({ latest: NOW, jumpedTo: second });
});
