import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LimitedAction } from '../../../src/durable/clients/client-windows.ts';
import type { Env } from '../../../src/env.ts';
import type { Limit } from '../../../src/limits/sliding-window.ts';

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let count = 0;
/** The window of this test's address, after a crash, too. */
function sameWindow(client = 'a') {
  const object = bindings.CLIENT_WINDOWS.get(bindings.CLIENT_WINDOWS.idFromName(`address-${count}`));
  return {
    object,
    hit: (action: LimitedAction, limits: readonly Limit[]) => object.hit(client, action, limits),
    takeBack: (action: LimitedAction) => object.takeBack(client, action),
    reservePlace: (key: string, most: number) => object.reservePlace(client, key, most),
    releasePlace: (key: string) => object.releasePlace(client, key),
  };
}
/** The window of an address that has done nothing yet. */
function newWindow() {
  count += 1;
  return sameWindow();
}
type Window = ReturnType<typeof newWindow>;

const storedKeys = ({ object }: Window) =>
  runInDurableObject(object, (_, state) => [...state.storage.kv.list()].map(([key]) => key));

/** How many comments of a window are written down. */
const written = ({ object }: Window) =>
  runInDurableObject(
    object,
    (_, { storage }) => storage.kv.get<{ hits: number[] }>('a comments')?.hits.length ?? 0,
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
    const stored = () => runInDurableObject(window.object, (_, { storage }) => storage.kv.get('a places'));
    const before = await stored();
    expect((await window.reservePlace('g', 5)).attempts).toBe(7);
    expect((await window.reservePlace('h', 5)).attempts).toBe(8);
    expect(await stored()).toEqual(before);
    await window.releasePlace('a');
    expect((await window.reservePlace('g', 5)).isReserved).toBe(true);
    expect(await stored()).not.toEqual(before);
  });

  it('says how long a push would wait for a place, and takes and writes nothing', async () => {
    const window = newWindow();
    const wait = (key: string) => window.object.placeWaitMs('a', key, 2);
    pass(0);
    expect(await wait('a')).toBe(0);
    expect(await storedKeys(window)).toEqual([]);
    await window.reservePlace('a', 2);
    pass(10 * MINUTE_MS);
    expect(await wait('b')).toBe(0);
    await window.reservePlace('b', 2);
    expect(await wait('b')).toBe(0);
    expect(await wait('c')).toBe(50 * MINUTE_MS);
    // The attempts that were refused: none.
    expect((await window.reservePlace('c', 2)).attempts).toBe(3);
  });

  it('remembers across a restart', async () => {
    const window = newWindow();
    for (const key of ['a', 'b', 'c', 'd', 'e']) await window.reservePlace(key, 5);
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

  it('counts no more what was taken back, also after a restart, and takes back nothing that was not there', async () => {
    const limits = [{ most: 3, withinMs: HOUR_MS }];
    const window = newWindow();
    await window.takeBack('target');
    for (let time = 0; time < 3; time++) await window.hit('target', limits);
    await window.takeBack('target');
    await abortAllDurableObjects();
    expect(await sameWindow().hit('target', limits)).toMatchObject({ allowed: true, attempts: 3 });
    expect((await sameWindow().hit('target', limits)).allowed).toBe(false);
  });

  it('is forgotten when nothing of it counts any more, and not before', async () => {
    const window = newWindow();
    pass(0);
    await window.hit('reports', [{ most: 10, withinMs: HOUR_MS }]);
    pass(HOUR_MS / 2);
    await window.reservePlace('a', 5);
    pass(HOUR_MS / 2);
    await runDurableObjectAlarm(window.object);
    expect(await storedKeys(window)).not.toEqual([]);
    pass(HOUR_MS);
    await runDurableObjectAlarm(window.object);
    expect(await storedKeys(window)).toEqual([]);
  });

  it('counts each client of its object for itself', async () => {
    const limits = [{ most: 1, withinMs: HOUR_MS }];
    const [a, b] = [newWindow(), sameWindow('b')];
    expect((await a.hit('reports', limits)).allowed).toBe(true);
    expect((await a.hit('reports', limits)).allowed).toBe(false);
    expect((await b.hit('reports', limits)).allowed).toBe(true);
    await a.reservePlace('x', 1);
    expect((await b.reservePlace('y', 1)).isReserved).toBe(true);
  });

  it('forgets who is over, and keeps who is not, in memory and on disk', async () => {
    const limits = [{ most: 20, withinMs: HOUR_MS }];
    const [early, late] = [newWindow(), sameWindow('late')];
    pass(0);
    for (let time = 0; time < 3; time++) await early.hit('reports', limits);
    pass(HOUR_MS - 1);
    for (let time = 0; time < 3; time++) await late.hit('reports', limits);
    pass(1);
    await runDurableObjectAlarm(early.object);
    expect(await storedKeys(early)).toEqual(['late reports']);
    expect((await early.hit('reports', limits)).attempts).toBe(1);
    expect((await late.hit('reports', limits)).attempts).toBe(4);
    await abortAllDurableObjects();
    expect((await sameWindow('late').hit('reports', limits)).attempts).toBe(5);
  });

  it('has an alarm that forgets also what was never written down', async () => {
    const window = newWindow();
    pass(0);
    await window.hit('discoveries', [{ most: 240, withinMs: MINUTE_MS }]);
    expect(await storedKeys(window)).toEqual([]);
    pass(HOUR_MS);
    expect(await runDurableObjectAlarm(window.object)).toBe(true);
    const alarm = await runInDurableObject(window.object, (_, { storage }) => storage.getAlarm());
    expect(alarm).toBeNull();
  });

  it('writes down those that came first when too many come', async () => {
    const limits = [{ most: 240, withinMs: HOUR_MS }];
    const window = newWindow();
    const seen = await runInDurableObject(window.object, async (instance) => {
      for (let client = 0; client < 20_002; client++) await instance.hit(`${client}`, 'discoveries', limits);
      return (await instance.hit('0', 'discoveries', limits)).attempts;
    });
    expect(seen).toBe(2);
    expect(await storedKeys(window)).toEqual(expect.arrayContaining(['0 discoveries', '1 discoveries']));
    expect((await storedKeys(window)).length).toBeLessThan(5);
  });
});
