import { describe, expect, it } from 'vitest';
import { lowered, waitText } from '../../src/service/limits.ts';
import { limitText, rateLimits } from '../../src/config/values.ts';

const limits = (text: string) => (text === '' ? [] : (rateLimits(24).parse(text) ?? []));

describe('limits', () => {
  it.each([
    ['30/1h', '', '30 in 1h'],
    ['30/1h', '5/1h', '5 in 1h'],
    ['30/1h', '5/24h', '5 in 24h'],
    ['30/1h', '30/1h', '30 in 1h'],
    ['30/1h', '31/1h', '30 in 1h'],
    ['30/1h', '30/1m', '30 in 1h'],
    ['30/1h', '100/24h', '30 in 1h and 100 in 24h'],
    ['3/1m,30/1h', '5/1h', '3 in 1m and 5 in 1h'],
    ['3/1m,30/1h', '2/1h,1/1m', '2 in 1h and 1 in 1m'],
  ])('of %s are at most lowered by %s', (own, more, both) => {
    expect(limitText(lowered(limits(own), limits(more)))).toBe(both);
  });
});

describe('a wait', () => {
  it.each([
    [1, 60_000, 'about a minute'],
    [44_001, 60_000, 'about a minute'],
    [60_001, 20 * 60_000, 'about 2 minutes'],
    // The exact time says when somebody who shares the address has done something.
    [1, 3_600_000, 'about 15 minutes'],
    [42.5 * 60_000, 3_600_000, 'about 45 minutes'],
    [45 * 60_000, 3_600_000, 'about 45 minutes'],
    [45 * 60_000 + 1, 3_600_000, 'about an hour'],
    [3_600_000, 3_600_000, 'about an hour'],
    [3_600_001, 24 * 3_600_000, 'about 75 minutes'],
    [90 * 60_000 + 1, 24 * 3_600_000, 'about 2 hours'],
    [24 * 3_600_000, 24 * 3_600_000, 'about 24 hours'],
  ])('of %i ms in a window of %i is %s', (waitMs, withinMs, text) => {
    expect(waitText({ waitMs, withinMs })).toBe(text);
  });
});
