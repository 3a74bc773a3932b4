/** Who may still ask the code host while it allows the bot account few calls. */
import { describe, expect, it } from 'vitest';
import {
  CALLS_PER_WRITE,
  callsLeft,
  latestCalls,
  readsWaitMs,
} from '../../../src/host/account/account-budget.ts';
import { callsWait } from '../../../src/durable/host-account/host-account.ts';

const NOW = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const said = (left: number, resetsInMs = HOUR_MS) => ({ limit: 5000, left, resetsInMs, at: NOW });
const ASKER = { by: 'asker', repository: null, takesPart: false };
/**
 * @param had writes of the asker.
 * @param others by others, a network each.
 */
function writesOf(had: number, others: number) {
  const writers = Array.from({ length: others + had }, (_, index) => (index < others ? `${index}` : 'asker'));
  return new Map(writers.map((by, index) => [`${index}`, { at: NOW, by, repository: null }]));
}
const waitMs = (calls: Parameters<typeof callsWait>[0], had: number, others: number, begun = 0) =>
  callsWait(calls, writesOf(had, others), begun, ASKER, NOW).waitMs;

describe('the calls that the host allows', () => {
  it.each([
    [5000, 400, 1, 0],
    // For 201 more, of 602 in all: in the last third, whoever has had its part waits, as others
    // have written, too.
    [2010, 400, 1, 0],
    [1990, 400, 1, HOUR_MS],
    [1990, 400, 0, 0],
    [1990, 2, 398, HOUR_MS],
    [1990, 0, 400, 0],
    [20, 1, 1000, HOUR_MS],
    [400, 0, 360, 0],
    // A push would break off half-way.
    [9, 0, 0, HOUR_MS],
  ])(
    'if %i are left to a network that had %i writes, beside %i others, it waits %i ms',
    (left, had, others, expected) => {
      expect(waitMs(said(left), had, others)).toBe(expected);
    },
  );

  it('stop for pages before they do for whoever writes', () => {
    expect([readsWaitMs(said(1667), NOW), readsWaitMs(said(1666), NOW)]).toEqual([0, HOUR_MS]);
    expect(waitMs(said(1666), 0, 50)).toBe(0);
    expect([readsWaitMs(null, NOW), readsWaitMs(said(0), NOW + HOUR_MS)]).toEqual([0, 0]);
  });

  it('are fewer by what has begun since it said so', () => {
    expect(callsLeft(said(100), 9, NOW)).toBe(100 - 9 * CALLS_PER_WRITE);
    expect(waitMs(said(100), 0, 0, 9)).toBe(0);
    expect(waitMs(said(100), 0, 0, 10)).toBe(HOUR_MS);
  });

  it.each([
    ['its period is over', NOW + HOUR_MS],
    ['the clock was set back by a day', NOW - 24 * HOUR_MS],
    ['the clock was set forward by a day', NOW + 24 * HOUR_MS],
  ])('are not known when %s', (_, now) => {
    expect(callsLeft(said(0), 0, now)).toBeNull();
    expect(callsWait(said(0), writesOf(1000, 1), 0, ASKER, now).waitMs).toBe(0);
  });

  it('only become fewer within a period, whatever comes late', () => {
    const known = said(100);
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
