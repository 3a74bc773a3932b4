/** The slowest pace that is allowed, in numbers. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pace } from '../../src/streams/pace.ts';
import { runs } from '../support/runs.ts';

const KEPT = 60 * 1024;

describe('a pace', () => {
  it('is judged once in a minute of waiting, at 60 KiB', () => {
    const fast = new Pace(30_000);
    expect(fast.keepsUp(59_999, 0)).toBe(true);
    expect(fast.keepsUp(1, KEPT)).toBe(true);
    const slow = new Pace(30_000);
    expect(slow.keepsUp(59_999, KEPT - 1)).toBe(true);
    expect(slow.keepsUp(1, 0)).toBe(false);
  });

  it('is judged anew in each minute', () => {
    const pace = new Pace(30_000);
    expect(pace.keepsUp(60_000, 100 * KEPT)).toBe(true);
    expect(pace.keepsUp(60_000, KEPT - 1)).toBe(false);
  });

  it('is judged more rarely where one wait may be longer than a minute', () => {
    const pace = new Pace(300_000);
    expect(pace.keepsUp(299_999, 0)).toBe(true);
    expect(pace.keepsUp(1, 5 * KEPT - 1)).toBe(false);
  });

  const wait = fc.nat(30_000);

  it.each([
    // For as long as the five minutes last.
    [1, 10],
    [8, 100],
  ])('of at least %i KiB a second is enough for %i waits, however it is spread', (rate, maxLength) => {
    fc.assert(
      fc.property(fc.array(wait, { maxLength }), (waits) => {
        const pace = new Pace(30_000);
        for (const ms of waits) expect(pace.keepsUp(ms, Math.ceil((ms * rate * 1024) / 1000))).toBe(true);
      }),
      runs(35),
    );
  });
});

const MOST_BYTES = 100 * 1024 * 1024;

/**
 * After how many seconds a sender of so many bytes in each is given up; null: all of its bytes have
 * come.
 */
function givenUpAfter(bytesPerSecond: number, bytes: number, pace = new Pace(30_000)): number | null {
  for (let second = 1; second * bytesPerSecond < bytes; second++) {
    if (!pace.keepsUp(1_000, bytesPerSecond)) return second;
  }
  return null;
}

describe('in the long run, a pace', () => {
  it.each([
    [1_024, 343],
    [1_300, 357],
    [2_048, 401],
    [4_096, 601],
  ])('of %i bytes a second is given up after %i seconds', (rate, seconds) => {
    expect(givenUpAfter(rate, MOST_BYTES)).toBe(seconds);
  });

  it.each([
    [4_000, 2_000_000],
    [15_000, 5_000_000],
    [15_000, MOST_BYTES],
    [20_000, MOST_BYTES],
  ])('of %i bytes a second brings %i bytes to their end', (rate, bytes) => {
    expect(givenUpAfter(rate, bytes)).toBeNull();
  });

  it('cannot be saved up: whoever crawls in the end is given up as soon as whoever always did', () => {
    const pace = new Pace(30_000);
    expect(pace.keepsUp(1_000, MOST_BYTES)).toBe(true);
    expect(givenUpAfter(1_024, MOST_BYTES, pace)).toBe(343);
  });

  it('is judged no earlier than the longest wait', () => {
    const pace = new Pace(600_000);
    expect(pace.keepsUp(599_999, 0)).toBe(true);
    expect(new Pace(600_000).keepsUp(600_000, 600 * 1024)).toBe(true);
  });
});
