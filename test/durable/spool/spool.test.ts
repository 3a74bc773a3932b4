/** The rows of pushes under way: by attempt, until they are removed, or their push has died. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LIFE_MS } from '../../../src/durable/spool/spool.ts';
import type { Env } from '../../../src/env.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bindings = env as unknown as Env;
const EMPTY_BYTES = 10_000;

let count = 0;
beforeEach(() => {
  count += 1;
  vi.setSystemTime(Date.now());
});

afterEach(() => {
  vi.useRealTimers();
});

/** The object of this test. A stub does not outlive the object's death. */
const object = () => bindings.SPOOL.get(bindings.SPOOL.idFromName(`${count}`));

const bytes = (byteLength: number, value = 7): ArrayBuffer => new Uint8Array(byteLength).fill(value).buffer;

async function write(attempt: string, rowCount: number, byteLength = 10): Promise<void> {
  for (let number = 0; number < rowCount; number++) await object().write(attempt, number, bytes(byteLength));
}

/** How many rows of an attempt there are. */
const rowsOf = (attempt: string): Promise<number> =>
  runInDurableObject(object(), (_, { storage }) => {
    const tables = storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'rows'").toArray();
    if (tables.length === 0) return 0;
    const query = 'SELECT count(*) AS rows FROM rows WHERE attempt = ?';
    return storage.sql.exec<{ rows: number }>(query, attempt).one().rows;
  });

const stateOf = () =>
  runInDurableObject(object(), async (_, { storage }) => ({
    alarm: await storage.getAlarm(),
    bytes: storage.sql.databaseSize,
  }));

function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

describe('a row', () => {
  it('is read as it was written, by attempt and number, also after a crash', async () => {
    await object().write('a', 0, bytes(1_900_000, 1));
    await object().write('a', 1, bytes(1, 2));
    await object().write('b', 0, bytes(2, 3));
    await restartObjects();
    expect(Buffer.from((await object().read('a', 0))!).equals(Buffer.alloc(1_900_000, 1))).toBe(true);
    expect(await object().read('a', 1)).toEqual(bytes(1, 2));
    expect(await object().read('b', 0)).toEqual(bytes(2, 3));
    expect([await object().read('b', 1), await object().read('c', 0)]).toEqual([null, null]);
  });

  it('is not written over', async () => {
    await object().write('a', 0, bytes(1, 1));
    await expect(
      runInDurableObject(object(), (instance) => instance.write('a', 0, bytes(1, 2))),
    ).rejects.toThrow('UNIQUE');
    expect(await object().read('a', 0)).toEqual(bytes(1, 1));
  });

  it('is copied to each of many readers', exhaustive, async () => {
    for (let number = 0; number < 8; number++) await object().write('a', number, bytes(1_000_000, number));
    const reading = Array.from({ length: 64 }, (_, index) => object().read('a', index % 8));
    const writing = Array.from({ length: 8 }, (_, number) => object().write('b', number, bytes(100_000)));
    const answers = await Promise.all(reading);
    await Promise.all(writing);
    const isRight = answers.map((row, index) => Buffer.alloc(1_000_000, index % 8).equals(Buffer.from(row!)));
    expect(isRight).toEqual(answers.map(() => true));
  });
});

describe('an attempt that is over', () => {
  it('is removed some rows at a time while others are under way, and leaves them', async () => {
    await write('a', 160);
    await write('b', 2);
    const answers = [];
    for (let call = 0; call < 3; call++) answers.push(await object().remove('a'), await rowsOf('a'));
    expect(answers).toEqual([true, 96, true, 32, false, 0]);
    expect([await rowsOf('b'), (await stateOf()).alarm]).toEqual([2, expect.any(Number)]);
  });

  it('takes the whole file with it if it is the last one', async () => {
    await write('a', 40, 100_000);
    expect((await stateOf()).bytes).toBeGreaterThan(4_000_000);
    expect(await object().remove('a')).toBe(false);
    const { alarm, bytes: left } = await stateOf();
    expect([alarm, left < EMPTY_BYTES]).toEqual([null, true]);
    await write('b', 1);
    expect([await rowsOf('a'), await rowsOf('b')]).toEqual([0, 1]);
  });

  it('leaves its room to others', async () => {
    await write('a', 1);
    for (let time = 0; time < 5; time++) {
      await write('b', 10, 100_000);
      while (await object().remove('b'));
    }
    expect((await stateOf()).bytes).toBeLessThan(1_200_000);
  });

  it('may be removed more than once', async () => {
    expect([await object().remove('a'), await object().remove('a')]).toEqual([false, false]);
  });

  it('loses no row of another that is written meanwhile', async () => {
    await write('a', 3);
    const writing = Array.from({ length: 10 }, (_, number) => object().write('b', number, bytes(1)));
    await Promise.all([
      ...writing.slice(0, 5),
      object().remove('a'),
      ...writing.slice(5),
      object().remove('a'),
    ]);
    expect([await rowsOf('a'), await rowsOf('b')]).toEqual([0, 10]);
    expect((await stateOf()).alarm).not.toBeNull();
  });
});

describe('an attempt that has died', () => {
  it('is removed some hours after its last row, and nothing is left', async () => {
    await write('a', 1);
    const { alarm } = await stateOf();
    expect(alarm).toBe(Date.now() + LIFE_MS);
    pass(LIFE_MS - 1);
    await runDurableObjectAlarm(object());
    expect(await rowsOf('a')).toBe(1);
    await object().write('a', 1, bytes(1));
    pass(LIFE_MS - 1);
    await runDurableObjectAlarm(object());
    expect(await rowsOf('a')).toBe(2);
    pass(1);
    await runDurableObjectAlarm(object());
    expect(await rowsOf('a')).toBe(0);
    const left = await stateOf();
    expect([left.alarm, left.bytes < EMPTY_BYTES]).toEqual([null, true]);
  });

  it('is removed some rows at a time, and leaves those that live', async () => {
    await write('a', 80);
    pass(LIFE_MS);
    await write('b', 1);
    await runDurableObjectAlarm(object());
    expect([await rowsOf('a'), (await stateOf()).alarm]).toEqual([16, Date.now()]);
    await runDurableObjectAlarm(object());
    expect([await rowsOf('a'), await rowsOf('b')]).toEqual([0, 1]);
    expect((await stateOf()).alarm).toBe(Date.now() + LIFE_MS);
  });

  it('of an earlier process is removed, too', async () => {
    await write('a', 2);
    await restartObjects();
    pass(LIFE_MS);
    await runDurableObjectAlarm(object());
    expect(await rowsOf('a')).toBe(0);
  });
});
