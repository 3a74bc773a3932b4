import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let count = 0;
/** The window of this test's address, after a crash, too. */
function sameWindow() {
  return bindings.RATE_WINDOWS.get(bindings.RATE_WINDOWS.idFromName(`address-${count}`));
}
/** The window of an address that has done nothing yet. */
function newWindow() {
  count += 1;
  return sameWindow();
}
type Window = ReturnType<typeof newWindow>;

const storedKeys = (window: Window) =>
  runInDurableObject(window, (_, state) => [...state.storage.kv.list()].map(([key]) => key));

/** How many comments of a window are written down. */
const written = (window_: Window) =>
  runInDurableObject(
    window_,
    (_, { storage }) => storage.kv.get<{ hits: number[] }>('comments')?.hits.length ?? 0,
  );

function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

afterEach(() => {
  vi.useRealTimers();
});

describe('the window of an address', () => {
  it.each([
    ['admin', 10, MINUTE_MS],
    ['rollback', 5, MINUTE_MS],
    ['reports', 10, HOUR_MS],
  ] as const)('lets %s through %i times in %i ms', async (action, most, withinMs) => {
    const limits = [{ most, withinMs }];
    const window = newWindow();
    pass(0);
    for (let attempt = 1; attempt <= most; attempt++) {
      expect(await window.hit(action, limits)).toEqual({ allowed: true, attempts: attempt, waitMs: 0 });
    }
    expect(await window.hit(action, limits)).toEqual({
      allowed: false,
      attempts: most + 1,
      waitMs: withinMs,
    });
    pass(withinMs - 1);
    expect((await window.hit(action, limits)).allowed).toBe(false);
    pass(1);
    expect((await window.hit(action, limits)).allowed).toBe(true);
  });

  it('writes down every sixth of sixty attempts, forgets less than a tenth in a restart, and writes no refusal', async () => {
    const limits = [{ most: 60, withinMs: HOUR_MS }];
    const window = newWindow();
    pass(0);
    const seen = new Set<number>();
    for (let attempt = 0; attempt < 23; attempt++) {
      await window.hit('comments', limits);
      seen.add(await written(window));
    }
    expect([...seen]).toEqual([0, 6, 12, 18]);
    await abortAllDurableObjects();
    const again = sameWindow();
    for (let attempt = 0; attempt < 42; attempt++)
      expect((await again.hit('comments', limits)).allowed).toBe(true);
    for (let attempt = 0; attempt < 20; attempt++)
      expect((await again.hit('comments', limits)).allowed).toBe(false);
    expect(await written(again)).toBe(60);
  });

  it('gives so many places to a hundred pushes at once, and one alert', async () => {
    const window = newWindow();
    const reservations = await Promise.all(
      Array.from({ length: 100 }, (_, index) => window.reservePlace(`${index}`, 5)),
    );
    expect(reservations.filter(({ isReserved }) => isReserved)).toHaveLength(5);
    expect(reservations.filter(({ isAlertDue }) => isAlertDue)).toHaveLength(1);
  });

  it('writes nothing for a push that gets no place, after the alert', async () => {
    const window = newWindow();
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await window.reservePlace(key, 5);
    const stored = () => runInDurableObject(window, (_, { storage }) => storage.kv.get('places'));
    const before = await stored();
    expect((await window.reservePlace('g', 5)).attempts).toBe(7);
    expect((await window.reservePlace('h', 5)).attempts).toBe(8);
    expect(await stored()).toEqual(before);
    await window.releasePlace('a');
    expect((await window.reservePlace('g', 5)).isReserved).toBe(true);
    expect(await stored()).not.toEqual(before);
  });

  it('remembers across a restart', async () => {
    const window = newWindow();
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      await window.reservePlace(key, 5);
      await window.confirmPlace(key);
    }
    await abortAllDurableObjects();
    expect((await sameWindow().reservePlace('f', 5)).isReserved).toBe(false);
    pass(HOUR_MS);
    expect((await sameWindow().reservePlace('f', 5)).isReserved).toBe(true);
  });

  it('gives back the place of a push that failed', async () => {
    const window = newWindow();
    for (const key of ['a', 'b', 'c', 'd', 'e']) await window.reservePlace(key, 5);
    await window.releasePlace('c');
    expect((await window.reservePlace('f', 5)).isReserved).toBe(true);
    expect((await window.reservePlace('g', 5)).isReserved).toBe(false);
  });

  it('is forgotten when nothing of it counts any more, and not before', async () => {
    const window = newWindow();
    pass(0);
    await window.hit('reports', [{ most: 10, withinMs: HOUR_MS }]);
    pass(HOUR_MS / 2);
    await window.reservePlace('a', 5);
    await window.confirmPlace('a');
    pass(HOUR_MS / 2);
    await runDurableObjectAlarm(window);
    expect(await storedKeys(window)).not.toEqual([]);
    pass(HOUR_MS);
    await runDurableObjectAlarm(window);
    expect(await storedKeys(window)).toEqual([]);
  });
});
