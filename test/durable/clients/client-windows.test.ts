import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { TriedName } from '../../../src/limits/limits.ts';
import type { Env } from '../../../src/env.ts';
import type { Limit } from '../../../src/limits/sliding-window.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { withFailingWrite } from '../support/failed-write.ts';

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let count = 0;
/** The window of this test's address, after a crash, too. */
function sameWindow(client = 'a') {
  const object = bindings.CLIENT_WINDOWS.get(bindings.CLIENT_WINDOWS.idFromName(`address-${count}`));
  return {
    object,
    hit: (action: TriedName, limits: readonly Limit[]) => object.hit(client, action, limits),
    /** Whether one more would be let through, beside so many; it is not counted. */
    hasHad: async (times: number, action: TriedName, withinMs: number) => {
      const wait = async (most: number) =>
        (await object.hit(client, action, [{ most, withinMs }], false)).waitMs;
      return (await wait(times + 1)) === 0 && (times === 0 || (await wait(times)) > 0);
    },
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
      expect(await window.hit(action, limits)).toEqual({ waitMs: 0, withinMs: 0 });
    }
    expect(await window.hit(action, limits)).toEqual({ waitMs: withinMs, withinMs });
    pass(withinMs - 1);
    expect((await window.hit(action, limits)).waitMs).toBe(1);
    pass(1);
    expect((await window.hit(action, limits)).waitMs).toBe(0);
  });

  it('counts an attempt for the networks around the client, too, or for neither', async () => {
    const limits = [{ most: 2, withinMs: HOUR_MS }];
    const { object } = newWindow();
    const wider = { key: 'around', limits: [{ most: 3, withinMs: HOUR_MS }] };
    const tryAs = (client: string) => object.hit(client, 'comments', limits, true, wider);
    pass(0);
    for (const client of ['a', 'a', 'b']) expect((await tryAs(client)).waitMs).toBe(0);
    expect(await tryAs('a')).toEqual({ waitMs: HOUR_MS, withinMs: HOUR_MS });
    expect(await tryAs('b')).toEqual({ waitMs: HOUR_MS, withinMs: HOUR_MS, wider: wider.limits });
    expect(await object.hit('b', 'comments', limits)).toEqual({ waitMs: 0, withinMs: 0 });
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
    await restartObjects();
    const again = sameWindow();
    for (let attempt = 0; attempt < 42; attempt++)
      expect((await again.hit('comments', limits)).waitMs).toBe(0);
    for (let attempt = 0; attempt < 20; attempt++)
      expect((await again.hit('comments', limits)).waitMs).toBeGreaterThan(0);
    expect(await written(again)).toBe(60);
  });

  it('lets nothing through that is not stored, once a write has failed, until one succeeds', async () => {
    const limits = [{ most: 60, withinMs: HOUR_MS }];
    pass(0);
    newWindow();
    for (let attempt = 0; attempt < 5; attempt++) await sameWindow().hit('comments', limits);
    expect(await written(sameWindow())).toBe(0);
    // The sixth is to be written down, and after that each.
    for (let attempt = 0; attempt < 3; attempt++) {
      const hit = withFailingWrite(sameWindow().object, (instance) => instance.hit('a', 'comments', limits));
      await expect(hit).rejects.toThrow('was reset');
      expect(await written(sameWindow())).toBe(0);
    }
    expect((await sameWindow().hit('comments', limits)).waitMs).toBe(0);
    expect(await written(sameWindow())).toBe(1);
    await sameWindow().hit('comments', limits);
    expect(await written(sameWindow())).toBe(1);
  });

  it('forgets the names of clients that an older version has stored for delayed pushes', async () => {
    const window = newWindow();
    pass(0);
    await window.hit('reports', [{ most: 10, withinMs: HOUR_MS }]);
    const old = { tag: crypto.randomUUID(), until: Date.now() + 24 * HOUR_MS };
    await runInDurableObject(window.object, (_, { storage }) => storage.kv.put('client tag', old));
    await runDurableObjectAlarm(window.object);
    expect((await storedKeys(window)).filter((key) => key.endsWith(' tag'))).toEqual([]);
    expect(await window.hasHad(1, 'reports', HOUR_MS)).toBe(true);
  });

  it('is forgotten when nothing of it counts any more, and not before', async () => {
    const window = newWindow();
    pass(0);
    await window.hit('reports', [{ most: 10, withinMs: HOUR_MS }]);
    pass(HOUR_MS / 2);
    await window.hit('admin', [{ most: 1, withinMs: HOUR_MS }]);
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
    expect((await a.hit('reports', limits)).waitMs).toBe(0);
    expect((await a.hit('reports', limits)).waitMs).toBeGreaterThan(0);
    expect((await b.hit('reports', limits)).waitMs).toBe(0);
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
    expect(await early.hasHad(0, 'reports', HOUR_MS)).toBe(true);
    expect(await late.hasHad(3, 'reports', HOUR_MS)).toBe(true);
    await late.hit('reports', limits);
    await restartObjects();
    expect(await sameWindow('late').hasHad(4, 'reports', HOUR_MS)).toBe(true);
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
    await runInDurableObject(window.object, async (instance) => {
      for (let client = 0; client < 20_002; client++) await instance.hit(`${client}`, 'discoveries', limits);
    });
    expect(await sameWindow('0').hasHad(1, 'discoveries', HOUR_MS)).toBe(true);
    expect(await storedKeys(window)).toEqual(expect.arrayContaining(['0 discoveries', '1 discoveries']));
    expect((await storedKeys(window)).length).toBeLessThan(5);
  });

  it(
    'of 45,000 addresses at /admin keeps a bounded number of rows, and those that came last',
    { ...exhaustive, timeout: 60_000 },
    async () => {
      const limits = [{ most: 10, withinMs: MINUTE_MS }];
      const window = newWindow();
      pass(0);
      const most = await runInDurableObject(window.object, async (instance, { storage }) => {
        let seen = 0;
        for (let client = 0; client < 45_000; client++) {
          await instance.hit(`${client}`, 'admin', limits);
          if (client % 15_000 === 14_999) seen = Math.max(seen, [...storage.kv.list()].length);
        }
        return seen;
      });
      expect(most).toBeLessThanOrEqual(40_000);
      expect(await sameWindow('44999').hasHad(1, 'admin', MINUTE_MS)).toBe(true);
      pass(HOUR_MS);
      await runDurableObjectAlarm(window.object);
      expect(await storedKeys(window)).toEqual([]);
    },
  );

  it(
    'keeps the windows of this minute rather than those of yesterday',
    { ...exhaustive, timeout: 60_000 },
    async () => {
      const limits = [{ most: 10, withinMs: HOUR_MS }];
      const window = newWindow();
      pass(0);
      await runInDurableObject(window.object, async (instance) => {
        const daily = [{ most: 10, withinMs: 24 * HOUR_MS }];
        for (let client = 0; client < 21_000; client++) await instance.hit(`${client}`, 'comments', daily);
        pass(23 * HOUR_MS);
        for (let client = 0; client < 20_000; client++) await instance.hit(`${client}`, 'admin', limits);
      });
      const stored = await storedKeys(window);
      expect(stored.filter((key) => key.endsWith(' admin'))).toHaveLength(20_000);
    },
  );
});
