/** Who is let through while little is left to the bot account. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AccountUse,
  CALLS_PER_WRITE,
  callsLeft,
  callsWaitMs,
  creationsLeft,
  creationWaitMs,
  latestCalls,
} from '../../../src/host/account/account-budget.ts';

const NOW = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LIMITS = [
  { most: 80, withinMs: MINUTE_MS },
  { most: 500, withinMs: HOUR_MS },
];

/** An account that has created so much within the last second. */
const used = (created: number, calls: AccountUse['calls'] = null, begun = 0): AccountUse => ({
  createdAt: Array.from({ length: created }, () => NOW - 1000),
  limits: LIMITS,
  calls,
  begun,
});
const saidCalls = (left: number, resetsInMs = HOUR_MS) => ({ limit: 5000, left, resetsInMs, at: NOW });

describe('what may be created', () => {
  it.each([
    // Before the last fifth nobody is refused, whatever they had.
    [0, 1000, 0],
    [63, 1000, 0],
    // In the last fifth, whoever had at least as much as is left.
    [64, 16, 59_000],
    [64, 15, 0],
    [78, 2, 59_000],
    [78, 1, 0],
    [79, 0, 0],
    [80, 0, 59_000],
  ])('with %i of 80 used by a client that had %i, waits %i ms', (created, had, waitMs) => {
    expect(creationWaitMs(used(created), had, NOW)).toBe(waitMs);
  });

  it('is refused to nobody who has had less than somebody who gets it', () => {
    const acts = fc.array(fc.integer({ min: -HOUR_MS, max: 0 }), { maxLength: 600 });
    fc.assert(
      fc.property(acts, fc.nat(200), fc.nat(200), (ages, one, other) => {
        const createdAt = ages.map((age) => NOW + age).toSorted((a, b) => a - b);
        const use = { ...used(0), createdAt };
        const [less, more] = [one, other].toSorted((a, b) => a - b) as [number, number];
        const waits = [less, more].map((had) => creationWaitMs(use, had, NOW)) as [number, number];
        expect(waits[0]).toBeLessThanOrEqual(waits[1]);
        expect(waits[1]).toBeLessThanOrEqual(HOUR_MS);
        // Whoever has had nothing gets all that is left.
        expect(waits[0] === 0 || less > 0 || Math.min(...creationsLeft(use, NOW)) === 0).toBe(true);
      }),
    );
  });

  it('is what is left of each limit', () => {
    const createdAt = [NOW - HOUR_MS, NOW - HOUR_MS + 1, NOW - MINUTE_MS, NOW - 1];
    expect(creationsLeft({ ...used(0), createdAt }, NOW)).toEqual([79, 497]);
    expect(creationsLeft(used(81), NOW)).toEqual([0, 419]);
  });
});

describe('the calls that the host allows', () => {
  it.each([
    [5000, 400, 0],
    [1010, 400, 0],
    [1000, 400, HOUR_MS],
    [1000, 98, 0],
    [20, 2, HOUR_MS],
    [20, 1, 0],
    [10, 0, 0],
    // A push would break off half-way.
    [9, 0, HOUR_MS],
  ])('if %i are left to a client that had %i, it waits %i ms', (left, had, waitMs) => {
    expect(callsWaitMs(used(0, saidCalls(left)), had, NOW)).toBe(waitMs);
  });

  it('are fewer by what has begun since it said so', () => {
    const use = used(0, saidCalls(100), 9);
    expect(callsLeft(use, NOW)).toBe(100 - 9 * CALLS_PER_WRITE);
    expect(callsWaitMs(use, 0, NOW)).toBe(0);
    expect(callsWaitMs({ ...use, begun: 10 }, 0, NOW)).toBe(HOUR_MS);
  });

  it.each([
    ['its period is over', NOW + HOUR_MS],
    ['the clock was set back by a day', NOW - 24 * HOUR_MS],
    ['the clock was set forward by a day', NOW + 24 * HOUR_MS],
  ])('are not known when %s', (_, now) => {
    expect(callsLeft(used(0, saidCalls(0)), now)).toBeNull();
    expect(callsWaitMs(used(0, saidCalls(0)), 1000, now)).toBe(0);
  });

  it('only become fewer within a period, whatever comes late', () => {
    const known = saidCalls(100);
    expect(latestCalls(null, known)).toBe(known);
    expect(latestCalls(known, { ...known, left: 120 })).toBe(known);
    const fewer = { ...known, left: 90, at: NOW + 1000, resetsInMs: HOUR_MS - 1500 };
    expect(latestCalls(known, fewer)).toBe(fewer);
    const next = { ...known, left: 4999, at: NOW + HOUR_MS };
    expect(latestCalls(known, next)).toBe(next);
    const another = { ...known, left: 4999, at: NOW + 1000, resetsInMs: 30 * MINUTE_MS };
    expect(latestCalls(known, another)).toBe(another);
  });
});
