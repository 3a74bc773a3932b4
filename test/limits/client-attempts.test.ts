import { describe, expect, it } from 'vitest';
import { ClientAttempts } from '../../src/limits/client-attempts.ts';

const START = 1_800_000_000_000;
const LIMITS = [{ most: 60, withinMs: 60_000 }];

it('serves ten thousand clients at once, counts each attempt once, and holds up only the one that floods', () => {
  const attempts = new ClientAttempts();
  const allowed = new Map<string, number>();
  let total = 0;
  const tryOnce = (client: string, at: number) => {
    const hit = attempts.hit(client, LIMITS, at);
    total += 1;
    if (hit.allowed) allowed.set(client, (allowed.get(client) ?? 0) + 1);
    return hit;
  };
  for (let second = 0; second < 5; second++) {
    for (let client = 0; client < 10_000; client++) tryOnce(`${client}`, START + second * 1000);
    for (let time = 0; time < 200; time++) tryOnce('flood', START + second * 1000 + time);
  }
  expect(total).toBe(51_000);
  expect([...allowed.values()].reduce((sum, count) => sum + count)).toBe(50_060);
  expect(allowed.get('flood')).toBe(60);
  expect(tryOnce('flood', START + 59_999)).toMatchObject({ allowed: false, waitMs: 1 });
  expect(tryOnce('flood', START + 60_000).allowed).toBe(true);
});

it('forgets clients that count no more', () => {
  const attempts = new ClientAttempts();
  for (let client = 0; client < 1000; client++) attempts.hit(`${client}`, LIMITS, START);
  attempts.hit('later', LIMITS, START + 60_000);
  expect(attempts.size).toBe(1);
});

it('remembers a bounded number of clients, those that tried last', () => {
  const attempts = new ClientAttempts();
  for (let client = 0; client <= 100_000; client++) attempts.hit(`${client}`, LIMITS, START);
  expect(attempts.size).toBe(100_000);
  expect(['0', '1'].map((client) => attempts.count(client, 60_000, START))).toEqual([0, 1]);
});

describe('acts that are only counted', () => {
  const HOUR_MS = 60 * 60_000;
  const EVERY = [{ most: Infinity, withinMs: HOUR_MS }];

  it('are each client’s own, and end after an hour', () => {
    const acts = new ClientAttempts();
    for (let time = 0; time < 3; time++) expect(acts.hit('a', EVERY, START).allowed).toBe(true);
    acts.hit('b', EVERY, START);
    expect(['a', 'b', 'c'].map((client) => acts.count(client, HOUR_MS, START))).toEqual([3, 1, 0]);
    expect(acts.count('a', HOUR_MS, START + HOUR_MS - 1)).toBe(3);
    acts.hit('a', EVERY, START + HOUR_MS);
    expect(acts.count('a', HOUR_MS, START + HOUR_MS)).toBe(1);
  });

  it('begin anew when a clock jumps, in either direction', () => {
    for (const jump of [-24 * HOUR_MS, 24 * HOUR_MS]) {
      const acts = new ClientAttempts();
      acts.hit('a', EVERY, START);
      expect(acts.count('a', HOUR_MS, START + jump)).toBe(0);
    }
  });
});
