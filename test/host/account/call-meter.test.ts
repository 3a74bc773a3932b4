/** Reads from answers how many calls are left, and tests how often that is passed on. */
import { describe, expect, it } from 'vitest';
import type { CallsLeft } from '../../../src/host/account/account-budget.ts';
import {
  callMeter,
  callsLeftSaidBy,
  pointsWaitMs,
  readsPauseMs,
  spend,
} from '../../../src/host/account/account-budget.ts';
import { PatientClock } from '../support/scripted-host.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
/** The host's clock is five minutes ahead. */
const HOST_DATE = 'Sun, 22 Nov 2026 12:05:00 GMT';
const RESET = String(Date.parse(HOST_DATE) / 1000 + 600);
const HEADERS = { 'X-RateLimit-Limit': '5000', 'X-RateLimit-Remaining': '4990', 'X-RateLimit-Reset': RESET };

const answer = (headers: Record<string, string>) => ({
  header: (name: string) => new Headers(headers).get(name),
});
const said = (headers: Record<string, string>) => callsLeftSaidBy(answer(headers), NOW);

describe('an answer', () => {
  it('tells what is left, and until when by the host’s clock', () => {
    const calls = { limit: 5000, left: 4990, resetsInMs: 600_000 };
    expect(said({ ...HEADERS, Date: HOST_DATE })).toEqual(calls);
    expect(said({ ...HEADERS, Date: HOST_DATE, 'X-RateLimit-Resource': 'core' })).toEqual(calls);
    expect(said(HEADERS)).toEqual({ ...calls, resetsInMs: 900_000 });
  });

  it.each([
    ['of another budget', { ...HEADERS, 'X-RateLimit-Resource': 'search' }],
    ['without headers', {}],
    ['with a part of them', { 'X-RateLimit-Limit': '5000', 'X-RateLimit-Remaining': '1' }],
    ['with nonsense', { ...HEADERS, 'X-RateLimit-Remaining': '-1' }],
    ['with a number that is none', { ...HEADERS, 'X-RateLimit-Limit': '1e99' }],
  ])('%s tells nothing', (_, headers) => {
    expect(said(headers as Record<string, string>)).toBeNull();
  });
});

it('is passed on every ten seconds, and every second when little is left', () => {
  const clock = new PatientClock();
  const told: CallsLeft[] = [];
  const meter = callMeter('metered', clock, false, (calls) => void told.push(calls));
  const see = (left: number, times: number) => {
    for (let time = 0; time < times; time++) {
      meter.observe(answer({ ...HEADERS, 'X-RateLimit-Remaining': String(left) }), 'read');
      clock.at += 500;
    }
  };
  see(4000, 40);
  expect(told).toHaveLength(2);
  see(1000, 20);
  expect(told).toHaveLength(2 + 10);
  // A clock that was set back does not silence it.
  clock.at -= 24 * 60 * 60 * 1000;
  see(4000, 1);
  expect(told).toHaveLength(13);
});

describe('the points of a host that counts them', () => {
  it('are told with the next news, once, and pages wait when two thirds of a minute’s are spent', () => {
    const clock = new PatientClock();
    const told: number[] = [];
    const meter = callMeter('counted', clock, true, (_, points) => void told.push(points));
    const see = (operation: 'read' | 'post', times: number) => {
      for (let time = 0; time < times; time++) meter.observe(answer(HEADERS), operation);
    };
    see('read', 1);
    see('post', 100);
    clock.at += 10_000;
    see('read', 1);
    expect(told).toEqual([1, 501]);
    expect(readsPauseMs('counted', clock.at)).toBe(0);
    see('read', 98);
    expect(readsPauseMs('counted', clock.at)).toBe(50_000);
    clock.at += 50_000;
    expect(readsPauseMs('counted', clock.at)).toBe(0);
  });

  it('take a minute’s memory, however many calls there are, and are free again when a clock jumps', () => {
    const now = Date.parse('2026-11-22T12:00:00Z');
    let spent = spend([], 5, now);
    for (let ms = 0; ms < 200_000; ms += 50) spent = spend(spent, 1, now + ms);
    expect(spent.length).toBeLessThanOrEqual(60);
    expect(pointsWaitMs(spent, false, now + 200_000)).toBeGreaterThan(0);
    expect(pointsWaitMs(spent, false, now - 3_600_000)).toBe(0);
  });
});
