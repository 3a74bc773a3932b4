import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Recent } from '../../src/isolate/recent.ts';
import { type ClientHits, hit, hitBoth, hitBy, NO_WAIT } from '../../src/limits/sliding-window.ts';
import { runs } from '../support/runs.ts';
import { exhaustive } from '../support/exhaustive.ts';

const LIMIT = { most: 3, withinMs: 1000 };
const START = 1_800_000_000_000;

/** The same by its definition, over everything that ever happened. */
class Model {
  readonly #attempts: { at: number; allowed: boolean }[] = [];

  hit(now: number) {
    const counted = this.#attempts.filter(({ at, allowed }) => allowed && now - at < LIMIT.withinMs);
    const allowed = counted.length < LIMIT.most;
    this.#attempts.push({ at: now, allowed });
    const waitMs = allowed ? 0 : (counted.at(-LIMIT.most)?.at ?? 0) + LIMIT.withinMs - now;
    return { waitMs, withinMs: allowed ? 0 : LIMIT.withinMs };
  }
}

describe('a sliding window', () => {
  it('does what its definition says, whenever the attempts come', () => {
    const pauses = fc.array(fc.oneof(fc.nat(400), fc.constantFrom(0, 999, 1000, 1001)), { maxLength: 60 });
    fc.assert(
      fc.property(pauses, (gaps) => {
        const model = new Model();
        let hits: readonly number[] = [];
        let now = START;
        for (const gap of gaps) {
          now += gap;
          const after = hit(hits, [LIMIT], now);
          expect(after.wait).toEqual(model.hit(now));
          expect(after.hits.length).toBeLessThanOrEqual(LIMIT.most);
          ({ hits } = after);
        }
      }),
      runs(100),
    );
  });

  it('does not close for good when the clock is set back', () => {
    let hits: readonly number[] = [];
    for (let count = 0; count < 3; count++) ({ hits } = hit(hits, [LIMIT], START));
    expect(hit(hits, [LIMIT], START - 5000).wait.waitMs).toBe(0);
  });

  it('may give room back at the quarter hour after its time alone', () => {
    const QUARTER_MS = 15 * 60_000;
    const limit = { most: 1, withinMs: 4 * QUARTER_MS, untilQuarter: true } as const;
    const noon = Date.UTC(2031, 0, 1, 12);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: QUARTER_MS }), (second) => {
        const { hits } = hit([], [limit], noon + second);
        const freed = noon + 5 * QUARTER_MS;
        expect(hit(hits, [limit], freed - 1).wait).toEqual({ waitMs: 1, withinMs: limit.withinMs });
        expect(hit(hits, [limit], freed).wait.waitMs).toBe(0);
      }),
      runs(100),
    );
  });

  it('holds every attempt against all of several limits, and says how long to wait', () => {
    const limits = [
      { most: 2, withinMs: 1000 },
      { most: 3, withinMs: 10_000 },
    ];
    let hits: readonly number[] = [];
    const waits = [0, 10, 20, 1000, 1010, 2000, 10_000].map((after) => {
      const { hits: next, wait } = hit(hits, limits, START + after);
      hits = next;
      return wait.waitMs;
    });
    expect(waits).toEqual([0, 0, 980, 0, 8990, 8000, 0]);
  });

  it('never asks to wait longer than the window, whatever the clock does', () => {
    let hits: readonly number[] = [];
    for (let count = 0; count < 3; count++) ({ hits } = hit(hits, [LIMIT], START));
    expect(hit(hits, [LIMIT], START - 900).wait.waitMs).toBe(LIMIT.withinMs);
    expect(hit(hits, [LIMIT], START + 5000).wait.waitMs).toBe(0);
  });
});

const MINUTELY = [{ most: 60, withinMs: 60_000 }];

it(
  'serves ten thousand clients at once, counts each attempt once, and holds up only the one that floods',
  exhaustive,
  () => {
    const attempts = new Recent<readonly number[]>({ most: 20_000 });
    const allowed = new Map<string, number>();
    let total = 0;
    const tryOnce = (client: string, at: number) => {
      const { waitMs } = hitBy(client, attempts, MINUTELY, at);
      total += 1;
      if (waitMs === 0) allowed.set(client, (allowed.get(client) ?? 0) + 1);
      return waitMs;
    };
    for (let second = 0; second < 5; second++) {
      for (let client = 0; client < 10_000; client++) tryOnce(`${client}`, START + second * 1000);
      for (let time = 0; time < 200; time++) tryOnce('flood', START + second * 1000 + time);
    }
    expect(total).toBe(51_000);
    expect([...allowed.values()].reduce((sum, count) => sum + count)).toBe(50_060);
    expect(allowed.get('flood')).toBe(60);
    expect(tryOnce('flood', START + 59_999)).toBe(1);
    expect(tryOnce('flood', START + 60_000)).toBe(0);
  },
);

it('forgets clients that count no more', () => {
  const attempts = new Recent<readonly number[]>({ most: 20_000 });
  for (let client = 0; client < 1000; client++) hitBy(`${client}`, attempts, MINUTELY, START + client);
  hitBy('later', attempts, MINUTELY, START + 60_500);
  expect([attempts.size, attempts.get('500'), attempts.get('501')]).toEqual([500, null, [START + 501]]);
});

it('goes on counting after the clock was set back a little, and not after more than the window', () => {
  const attempts = new Recent<readonly number[]>({ most: 20_000 });
  for (let time = 0; time < 60; time++) hitBy('a', attempts, MINUTELY, START);
  expect(hitBy('a', attempts, MINUTELY, START - 1)).toMatchObject({ waitMs: 60_000 });
  expect(hitBy('a', attempts, MINUTELY, START - 60_000)).toMatchObject({ waitMs: 0 });
});

it('an attempt counts for the client and for the networks around it, or for neither', () => {
  const attempts: ClientHits = new Recent({ most: 10 });
  const wider = { key: 'around', limits: [{ most: 3, withinMs: 60_000 }] };
  const tryAs = (key: string) =>
    hitBoth({ key, limits: [{ most: 2, withinMs: 60_000 }] }, wider, attempts, START);
  const full = { waitMs: 60_000, withinMs: 60_000 };
  expect([tryAs('a'), tryAs('a'), tryAs('a')]).toEqual([NO_WAIT, NO_WAIT, full]);
  const around = { ...full, wider: wider.limits };
  expect([tryAs('b'), tryAs('b'), tryAs('c')]).toEqual([NO_WAIT, around, around]);
  const alone = { key: 'c', limits: [{ most: 1, withinMs: 60_000 }] };
  expect(hitBoth(alone, null, attempts, START)).toEqual(NO_WAIT);
});
