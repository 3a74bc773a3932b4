/** The slowest pace that is allowed, in numbers. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pace } from '../../src/streams/pace.ts';
import { runs } from '../support/runs.ts';

const KiB = 1024;
const MOST_BYTES = 100 * KiB * KiB;

/** After how many seconds a sender of so many bytes in each is given up; null: all of its bytes have come. */
function givenUpAfter(bytesPerSecond: number, bytes: number, pace = new Pace(30_000)): number | null {
  for (let second = 1; second * bytesPerSecond < bytes; second++) {
    if (!pace.keepsUp(1_000, bytesPerSecond)) return second;
  }
  return null;
}

describe('a pace', () => {
  it.each([
    [1, 301],
    [1 * KiB, 343],
    [1_300, 357],
    [2 * KiB, 401],
    [4 * KiB, 601],
  ])('of %i bytes a second is given up after %i seconds, however little was expected', (rate, seconds) => {
    expect(givenUpAfter(rate, MOST_BYTES)).toBe(seconds);
  });

  it.each([
    [500, 100_000],
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
    expect(givenUpAfter(1 * KiB, MOST_BYTES, pace)).toBe(343);
  });

  it('waits as long as a single wait may be', () => {
    const pace = new Pace(600_000);
    expect(pace.keepsUp(600_000, 0)).toBe(true);
    expect(pace.keepsUp(1, 0)).toBe(false);
  });

  it('of at least 8 KiB a second is always enough, however it is spread', () => {
    const wait = fc.nat(30_000);
    fc.assert(
      fc.property(fc.array(wait, { maxLength: 100 }), (waits) => {
        const pace = new Pace(30_000);
        for (const ms of waits) expect(pace.keepsUp(ms, Math.ceil((ms * 8 * KiB) / 1000))).toBe(true);
      }),
      runs(100),
    );
  });
});
