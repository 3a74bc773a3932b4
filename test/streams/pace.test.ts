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

  it('of at least 1 KiB a second is always enough, however it is spread', () => {
    const wait = fc.nat(30_000);
    fc.assert(
      fc.property(fc.array(wait, { maxLength: 100 }), (waits) => {
        const pace = new Pace(30_000);
        for (const ms of waits) expect(pace.keepsUp(ms, Math.ceil((ms * 1024) / 1000))).toBe(true);
      }),
      runs(100),
    );
  });
});
