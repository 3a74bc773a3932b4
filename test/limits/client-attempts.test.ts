import { expect, it } from 'vitest';
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
  expect(attempts.of('999').hits).toEqual([]);
  expect(attempts.of('later').hits).toHaveLength(1);
});

it('remembers a bounded number of clients, those that tried last', () => {
  const attempts = new ClientAttempts();
  for (let client = 0; client <= 100_000; client++) attempts.hit(`${client}`, LIMITS, START);
  expect(['0', '1'].map((client) => attempts.of(client).hits.length)).toEqual([0, 1]);
});

it('begins anew when a clock is set back', () => {
  const attempts = new ClientAttempts();
  for (let time = 0; time < 60; time++) attempts.hit('a', LIMITS, START);
  expect(attempts.hit('a', LIMITS, START - 24 * 60 * 60_000).allowed).toBe(true);
});
