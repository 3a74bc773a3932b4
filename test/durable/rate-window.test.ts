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
    ['report', 10, HOUR_MS],
  ] as const)('lets %s through %i times in %i ms', async (action, most, withinMs) => {
    const window = newWindow();
    pass(0);
    for (let attempt = 1; attempt <= most; attempt++) {
      expect(await window.hit(action)).toEqual({ allowed: true, attempts: attempt });
    }
    expect(await window.hit(action)).toEqual({ allowed: false, attempts: most + 1 });
    pass(withinMs - 1);
    expect((await window.hit(action)).allowed).toBe(false);
    pass(1);
    expect((await window.hit(action)).allowed).toBe(true);
  });

  it('gives five places to a hundred pushes at once, and one alert', async () => {
    const window = newWindow();
    const reservations = await Promise.all(
      Array.from({ length: 100 }, (_, index) => window.reservePlace(`${index}`)),
    );
    expect(reservations.filter(({ isReserved }) => isReserved)).toHaveLength(5);
    expect(reservations.filter(({ isAlertDue }) => isAlertDue)).toHaveLength(1);
  });

  it('remembers across a restart', async () => {
    const window = newWindow();
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      await window.reservePlace(key);
      await window.confirmPlace(key);
    }
    await abortAllDurableObjects();
    expect((await sameWindow().reservePlace('f')).isReserved).toBe(false);
    pass(HOUR_MS);
    expect((await sameWindow().reservePlace('f')).isReserved).toBe(true);
  });

  it('gives back the place of a push that failed', async () => {
    const window = newWindow();
    for (const key of ['a', 'b', 'c', 'd', 'e']) await window.reservePlace(key);
    await window.releasePlace('c');
    expect((await window.reservePlace('f')).isReserved).toBe(true);
    expect((await window.reservePlace('g')).isReserved).toBe(false);
  });

  it('is forgotten when nothing of it counts any more, and not before', async () => {
    const window = newWindow();
    pass(0);
    await window.hit('report');
    pass(HOUR_MS / 2);
    await window.reservePlace('a');
    await window.confirmPlace('a');
    pass(HOUR_MS / 2);
    await runDurableObjectAlarm(window);
    expect(await storedKeys(window)).not.toEqual([]);
    pass(HOUR_MS);
    await runDurableObjectAlarm(window);
    expect(await storedKeys(window)).toEqual([]);
  });
});
