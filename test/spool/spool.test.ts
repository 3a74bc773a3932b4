/**
 * Proves of all that a push has sent: nothing is lost or mixed up, little of it is in memory, and
 * nobody else can read it.
 */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Env } from '../../src/env.ts';
import { UNCOUNTED } from '../../src/git/memory.ts';
import { MemoryBudget } from '../../src/isolate/memory-budget.ts';
import { spoolOf } from '../../src/objects.ts';
import {
  type KeptSpool,
  MEMORY_BYTES,
  readKept,
  ROW_BYTES,
  PushSpool,
  type SpoolOptions,
} from '../../src/spool/spool.ts';
import { SpoolBudget } from '../../src/spool/spool-budget.ts';
import { type RowStore, SealedRows } from '../../src/spool/sealed-rows.ts';
import { PatientClock } from '../host/support/scripted-host.ts';
import { runs } from '../support/runs.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bindings = env as unknown as Env;
const KiB = 1024;
const MANY = 1_000 * ROW_BYTES;
const BUSY = { code: 'busy', publicMessage: 'The service is busy. Try again in a minute.' };
const FIRST_BYTES = 16 * KiB;
/** The size of so many rows, all full. */
const fullRows = (count: number): number => MEMORY_BYTES + (count - 1) * ROW_BYTES;

let clock: PatientClock;
let budget: SpoolBudget;
let rows: FakeRows;

beforeEach(() => {
  [clock, budget, rows] = [new PatientClock(), new SpoolBudget(), new FakeRows()];
});

/** A store that records its calls, and waits before each as long as it is told to. */
class FakeRows implements RowStore {
  readonly stored = new Map<number, ArrayBuffer>();
  readonly calls: string[] = [];
  readonly attempts = new Set<string>();
  underWay = 0;
  mostUnderWay = 0;
  wait = async (_call: string): Promise<void> => {};

  write(attempt: string, number: number, sealed: ArrayBuffer): Promise<void> {
    // As a call to an object does: the caller may change what it has given.
    const copy = sealed.slice(0);
    return this.#call(attempt, `write ${number}`, () => void this.stored.set(number, copy));
  }

  read(attempt: string, number: number): Promise<ArrayBuffer | null> {
    return this.#call(attempt, `read ${number}`, () => this.stored.get(number)?.slice(0) ?? null);
  }

  keep(attempt: string, until: number): Promise<void> {
    return this.#call(attempt, `keep until ${until}`, () => {});
  }

  remove(attempt: string): Promise<boolean> {
    return this.#call(attempt, 'remove', () => {
      const [first] = this.stored.keys();
      if (first !== undefined) this.stored.delete(first);
      return this.stored.size > 0;
    });
  }

  async #call<T>(attempt: string, call: string, answer: () => T): Promise<T> {
    this.calls.push(call);
    this.attempts.add(attempt);
    this.mostUnderWay = Math.max(this.mostUnderWay, ++this.underWay);
    try {
      await this.wait(call);
      return answer();
    } finally {
      this.underWay -= 1;
    }
  }
}

function open(options: Partial<SpoolOptions> = {}): PushSpool {
  return new PushSpool({
    open: () => rows,
    memory: UNCOUNTED,
    client: 'a',
    mostBytes: MANY,
    clock,
    budget,
    ...options,
  });
}

const inObject = (attempt: string): RowStore => spoolOf(bindings, attempt);

/** No two rows of it are the same. */
function pattern(byteLength: number): Buffer {
  const words = new Uint32Array(Math.ceil(byteLength / 4));
  for (let index = 0; index < words.length; index++) words[index] = Math.imul(index, 0x9e3779b1);
  return Buffer.from(words.buffer, 0, byteLength);
}

async function filled(byteLength: number, options: Partial<SpoolOptions> = {}): Promise<PushSpool> {
  const spool = open(options);
  await spool.write([pattern(byteLength)]);
  await spool.close();
  return spool;
}

async function bytesOf(spool: PushSpool, start?: number, end?: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of spool.read(start, end)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** Not by `toEqual`, which takes its time over megabytes. */
async function expectBytes(spool: PushSpool, expected: Buffer, start?: number, end?: number): Promise<void> {
  const actual = await bytesOf(spool, start, end);
  expect([actual.byteLength, actual.equals(expected)]).toEqual([expected.byteLength, true]);
}

/**
 * From now on, calls wait until they are let go, by the functions that it answers.
 * @param only this call.
 */
function holdBack(only?: string): (() => void)[] {
  const waiting: (() => void)[] = [];
  rows.wait = async (call) => {
    if (only === undefined || call === only) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return waiting;
}

/** Promises of a test settle before. */
const soon = (): Promise<void> => scheduler.wait(5);

/**
 * Lets calls through. Of what is in memory, all rows but the last are written before more is taken.
 */
async function letThrough(waiting: (() => void)[], calls: number): Promise<void> {
  for (let call = 0; call < calls; call++) {
    await soon();
    waiting.shift()?.();
  }
  await soon();
}

describe('what was written', () => {
  it('is read again, whatever its size and its pieces', exhaustive, async () => {
    const size = fc.oneof(
      fc.nat(3 * FIRST_BYTES),
      fc.constantFrom(FIRST_BYTES, ROW_BYTES, MEMORY_BYTES - 1, MEMORY_BYTES, MEMORY_BYTES + 1),
      fc.nat(MEMORY_BYTES),
    );
    const part = fc.tuple(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(size, { maxLength: 3 }), { maxLength: 4 }),
        fc.array(part, { maxLength: 4 }),
        async (writes, parts) => {
          rows = new FakeRows();
          const total = writes.flat().reduce((sum, bytes) => sum + bytes, 0);
          const all = pattern(total);
          const spool = open();
          let offset = 0;
          for (const sizes of writes) {
            const pieces = sizes.map((bytes) => Buffer.from(all.subarray(offset, (offset += bytes))));
            await spool.write(pieces);
            for (const piece of pieces) piece.fill(0xee);
          }
          await spool.close();
          await spool.close();
          expect(spool.byteLength).toBe(total);
          expect(spool.isInMemory).toBe(total <= MEMORY_BYTES);
          await expectBytes(spool, all);
          for (const [a, b] of parts) {
            const [start, end] = [Math.floor(a * total), Math.floor(b * total)];
            await expectBytes(spool, all.subarray(start, Math.max(start, end)), start, end);
          }
          await spool.discard();
          expect([rows.stored.size, budget.bytes]).toEqual([0, 0]);
        },
      ),
      runs(40),
    );
  });

  it.each([0, 1, FIRST_BYTES + 1, MEMORY_BYTES, MEMORY_BYTES + 1, fullRows(2), fullRows(3.5)])(
    'is read again from the object: %i bytes',
    async (byteLength) => {
      const spool = await filled(byteLength, { open: inObject });
      const all = pattern(byteLength);
      await expectBytes(spool, all);
      const [from, to] = [Math.floor(byteLength / 3), Math.ceil(byteLength / 2)];
      await expectBytes(spool, all.subarray(from, to), from, to);
      await spool.discard();
    },
  );

  it('ends where all ends', async () => {
    const spool = await filled(MEMORY_BYTES + 10);
    const end = pattern(MEMORY_BYTES + 10).subarray(MEMORY_BYTES - 5);
    await expectBytes(spool, end, MEMORY_BYTES - 5, 5 * MEMORY_BYTES);
    await expectBytes(spool, Buffer.alloc(0), MEMORY_BYTES + 10);
  });

  it('is gone from memory as soon as the next piece is asked for', async () => {
    const spool = await filled(fullRows(2));
    const reading = spool.read()[Symbol.asyncIterator]();
    const { value: first } = (await reading.next()) as IteratorYieldResult<Uint8Array>;
    expect(first.byteLength).toBe(ROW_BYTES);
    await reading.next();
    expect(first.byteLength).toBe(0);
  });

  it('can be read by several at once', async () => {
    const spool = await filled(fullRows(4), { open: inObject });
    const all = pattern(fullRows(4));
    const starts = [0, 1, MEMORY_BYTES, fullRows(2) - 1];
    await Promise.all(starts.map((start) => expectBytes(spool, all.subarray(start), start)));
    await spool.discard();
  });

  it('stays in memory up to a mebibyte, and asks no object for anything', async () => {
    const spool = await filled(MEMORY_BYTES);
    await bytesOf(spool);
    await spool.discard();
    expect(rows.calls).toEqual([]);
    expect((await filled(MEMORY_BYTES + 1)).isInMemory).toBe(false);
    expect(rows.calls).toEqual(['write 0', 'write 1', 'write 2', 'write 3', 'write 4']);
  });

  it('goes by a name that is random', async () => {
    for (let time = 0; time < 3; time++) await filled(MEMORY_BYTES + 1);
    expect([...rows.attempts]).toEqual(
      Array.from({ length: 3 }, () => expect.stringMatching(/^[0-9a-f]{32}$/)),
    );
  });
});

describe('the calls to the object', () => {
  it('are one write at a time, while the next row is filled', async () => {
    const waiting = holdBack();
    const spool = open();
    const writing = spool.write([pattern(fullRows(2))]);
    await letThrough(waiting, 3);
    await writing;
    expect(rows.calls).toEqual(['write 0', 'write 1', 'write 2', 'write 3']);
    const more = spool.write([pattern(1)]);
    await soon();
    expect(rows.calls.at(-1)).toBe('write 3');
    waiting.shift()?.();
    await more;
    expect(rows.calls.at(-1)).toBe('write 4');
    const closing = spool.close();
    await soon();
    waiting.shift()?.();
    await soon();
    expect([rows.calls.at(-1), rows.underWay]).toEqual(['write 5', 1]);
    waiting.shift()?.();
    await closing;
    expect(rows.mostUnderWay).toBe(1);
  });

  it('read one row ahead at most', async () => {
    const spool = await filled(fullRows(4));
    rows.calls.length = 0;
    const reading = spool.read()[Symbol.asyncIterator]();
    await reading.next();
    await soon();
    expect(rows.calls).toEqual(['read 0', 'read 1']);
    await reading.next();
    await soon();
    expect(rows.calls).toEqual(['read 0', 'read 1', 'read 2']);
    await reading.return?.();
  });

  it('read no row that is not asked for', async () => {
    const spool = await filled(fullRows(4));
    rows.calls.length = 0;
    await bytesOf(spool, MEMORY_BYTES + 1, fullRows(2));
    expect(rows.calls).toEqual(['read 4']);
  });
});

describe('the memory of a spool', () => {
  const memories = new MemoryBudget(8 * MEMORY_BYTES);

  it('grows with what has come, and is two rows once it is more than a mebibyte', async () => {
    const spool = open({ memory: memories.open(clock, 'a') });
    const waiting = holdBack();
    const seen: number[] = [];
    for (const bytes of [1, FIRST_BYTES - 1, 1, 100 * KiB, MEMORY_BYTES - 116 * KiB - 1]) {
      await spool.write([pattern(bytes)]);
      seen.push(memories.heldBytes / KiB);
    }
    expect(seen).toEqual([16, 16, 32, 128, 1024]);
    const writing = spool.write([pattern(1)]);
    await letThrough(waiting, 3);
    await writing;
    expect(memories.heldBytes / KiB).toBe(256 + 16);
    await spool.write([pattern(ROW_BYTES - 1)]);
    expect(memories.heldBytes).toBe(2 * ROW_BYTES);
    waiting.shift()?.();
    await soon();
    // Who sends slowly holds what is not written.
    expect(memories.heldBytes).toBe(ROW_BYTES);
    rows.wait = async () => {};
    for (let time = 0; time < 9; time++) {
      await spool.write([pattern(ROW_BYTES / 2 + 1)]);
      expect(memories.heldBytes).toBeLessThanOrEqual(2 * ROW_BYTES);
    }
    await spool.close();
    expect(memories.heldBytes).toBe(0);
    for await (const _ of spool.read()) expect(memories.heldBytes).toBe(2 * ROW_BYTES);
    for await (const _ of spool.read(5, 6)) expect(memories.heldBytes).toBe(ROW_BYTES);
    for await (const _ of spool.read()) break;
    expect(memories.heldBytes).toBe(0);
  });

  it('is counted by the rows that are there, which may grow, and which an earlier version made larger', async () => {
    const MiB = MEMORY_BYTES;
    for (const [rowEnds, most] of [
      [[64 * KiB, 320 * KiB, 576 * KiB], 512 * KiB],
      [[MiB, 2 * MiB, 3 * MiB], 2 * MiB],
    ] as const) {
      const memory = memories.open(clock, 'a');
      const sealed = new SealedRows(() => rows);
      for (const [number, end] of rowEnds.entries()) {
        await sealed.write(number, new Uint8Array(end - (rowEnds[number - 1] ?? 0)));
      }
      const kept = { ...(await sealed.keep(1)), rowEnds };
      const whole = readKept(kept, () => rows, memory, 0, rowEnds.at(-1) as number);
      for await (const _ of whole) expect(memories.heldBytes).toBe(most);
      rows.stored.clear();
    }
  });

  it.each([1, MEMORY_BYTES, fullRows(3)])('is given back: %i bytes', async (byteLength) => {
    const memory = memories.open(clock, 'a');
    const spool = open({ memory });
    await spool.write([pattern(byteLength)]);
    await spool.discard();
    expect(memories.heldBytes).toBe(0);
  });

  it('is a few rows of 64 KiB where others have taken half of it, and is read again', async () => {
    const shared = new MemoryBudget(4 * MEMORY_BYTES);
    const [spool, others] = [open({ memory: shared.open(clock, 'a') }), shared.open(clock, 'b').claim()];
    const all = pattern(MEMORY_BYTES + 200 * KiB);
    await spool.write([all.subarray(0, 900 * KiB)]);
    expect(rows.calls).toEqual([]);
    others.setNow(3 * MEMORY_BYTES);
    // What was kept until then leaves with the next bytes.
    for (let at = 900; at < 1_100; at += 4) await spool.write([all.subarray(at * KiB, (at + 4) * KiB)]);
    await soon();
    expect(shared.heldBytes).toBeLessThanOrEqual(3 * MEMORY_BYTES + 128 * KiB);
    expect([...rows.stored.values()].map(({ byteLength }) => Math.floor(byteLength / KiB))).toEqual([
      256, 256, 256, 132, 64, 64, 64,
    ]);
    others.setNow(0);
    await spool.write([all.subarray(1_100 * KiB)]);
    await spool.close();
    await expectBytes(spool, all);
    for (const [start, end] of [
      [903, 905],
      [968, 969],
      [1_000, 1_224],
    ] as const)
      await expectBytes(spool, all.subarray(start * KiB, end * KiB), start * KiB, end * KiB);
    expect(shared.heldBytes).toBe(0);
    await spool.discard();
  });

  it('is refused when the isolate has none', async () => {
    const small = new MemoryBudget(FIRST_BYTES);
    small
      .open(clock, 'b')
      .claim()
      .setNow(2 * MEMORY_BYTES);
    const spool = open({ memory: small.open(clock, 'a') });
    await expect(spool.write([pattern(2 * MEMORY_BYTES)])).rejects.toMatchObject(BUSY);
    await spool.discard();
    expect([budget.bytes, rows.calls]).toEqual([0, []]);
  });
});

describe('the bounds', () => {
  it('hold for one client, which has a tenth', async () => {
    const [first, second, other] = [
      open({ mostBytes: 100 }),
      open({ mostBytes: 100 }),
      open({ mostBytes: 100, client: 'b' }),
    ];
    await first.write([pattern(6), pattern(2)]);
    await expect(second.write([pattern(3)])).rejects.toMatchObject(BUSY);
    await second.write([pattern(2)]);
    await other.write([pattern(10)]);
    await first.discard();
    await second.write([pattern(8)]);
    await expect(second.write([pattern(1)])).rejects.toMatchObject(BUSY);
  });

  it('hold for all', async () => {
    const spools = Array.from({ length: 11 }, (_, client) => open({ mostBytes: 100, client: `${client}` }));
    const last = spools.pop()!;
    for (const spool of spools) await spool.write([pattern(10)]);
    await expect(last.write([pattern(1)])).rejects.toMatchObject(BUSY);
    await spools[0]!.discard();
    await last.write([pattern(10)]);
    expect(budget.bytes).toBe(100);
  });

  it('count those whose client is not known as one', async () => {
    await open({ mostBytes: 100, client: null }).write([pattern(8)]);
    const second = open({ mostBytes: 100, client: null });
    await expect(second.write([pattern(3)])).rejects.toMatchObject(BUSY);
  });

  it('forget a push that has died, and not one that lives', async () => {
    const [dead, alive] = [open({ mostBytes: 100 }), open({ mostBytes: 100, client: 'b' })];
    await dead.write([pattern(10)]);
    await alive.write([pattern(9)]);
    clock.at += 9 * 60_000;
    await alive.close();
    await bytesOf(alive);
    clock.at += 60_000;
    await open({ mostBytes: 100 }).write([pattern(10)]);
    await expect(open({ mostBytes: 100, client: 'b' }).write([pattern(2)])).rejects.toMatchObject(BUSY);
    expect(budget.bytes).toBe(19);
  });

  it('never end a read', async () => {
    const slow = await filled(9, { mostBytes: 100 });
    clock.at += 60 * 60_000;
    await open({ mostBytes: 100 }).write([pattern(9)]);
    await expectBytes(slow, pattern(9));
    expect(budget.bytes).toBe(18);
  });
});

describe('when the object fails', () => {
  it.each([
    ['rejects', () => Promise.reject(new Error('the object is gone'))],
    ['does not answer', () => new Promise<void>(() => {})],
  ])('so that it %s, the push is told to come back', async (_what, failure) => {
    const options = { patienceMs: 20 };
    rows.wait = failure;
    const writing = open(options);
    await expect(writing.write([pattern(MEMORY_BYTES + 1)])).rejects.toMatchObject(BUSY);
    await writing.discard();
    rows.wait = async (call) => (call === 'write 3' ? failure() : undefined);
    const closing = open(options);
    await closing.write([pattern(MEMORY_BYTES + 1)]);
    await expect(closing.close()).rejects.toMatchObject(BUSY);
    await expect(closing.close()).rejects.toMatchObject(BUSY);
    await closing.discard();
    rows.wait = async () => {};
    const reading = await filled(fullRows(3), options);
    rows.wait = async (call) => (call === 'read 1' ? failure() : undefined);
    await expect(bytesOf(reading)).rejects.toMatchObject(BUSY);
    await expectBytes(reading, pattern(fullRows(3)).subarray(0, 9), 0, 9);
    rows.wait = failure;
    await reading.discard();
    expect(budget.bytes).toBe(0);
  });

  it('because it has lost a row, too', async () => {
    const spool = await filled(fullRows(2));
    rows.stored.delete(1);
    await expect(bytesOf(spool)).rejects.toMatchObject(BUSY);
  });
});

describe('a discarded spool', () => {
  it('has no rows, and takes and gives nothing more', async () => {
    const spool = await filled(fullRows(3));
    await Promise.all([spool.discard(), spool.discard()]);
    expect(rows.calls.slice(6)).toEqual(Array.from({ length: 6 }, () => 'remove'));
    await spool.discard();
    expect([rows.stored.size, rows.calls.length]).toEqual([0, 12]);
    await expect(spool.write([pattern(1)])).rejects.toMatchObject(BUSY);
    await expect(bytesOf(spool)).rejects.toMatchObject(BUSY);
    expect(budget.bytes).toBe(0);
  });

  it('leaves no row that was still on its way', async () => {
    const waiting = holdBack('write 0');
    const spool = open();
    const writing = spool.write([pattern(fullRows(3))]);
    await soon();
    const discarding = spool.discard();
    await soon();
    waiting.shift()?.();
    await expect(writing).rejects.toMatchObject(BUSY);
    await discarding;
    await soon();
    expect([rows.stored.size, rows.calls]).toEqual([0, ['write 0', 'remove']]);
    expect(budget.bytes).toBe(0);
  });
});

describe('a spool that is kept', () => {
  it('outlives its request, for whoever has its key, and says when it has lost a row', async () => {
    const byteLength = fullRows(3);
    const spool = await filled(byteLength);
    const kept = await spool.keep(clock.now() + 1);
    await spool.discard();
    expect([rows.calls.at(-1), budget.bytes]).toEqual([`keep until ${clock.now() + 1}`, 0]);
    const read = async (from: KeptSpool) => {
      const pieces: Buffer[] = [];
      for await (const piece of readKept(from, () => rows, UNCOUNTED, 0, byteLength))
        pieces.push(Buffer.from(piece));
      return Buffer.concat(pieces);
    };
    expect((await read(kept)).equals(pattern(byteLength))).toBe(true);
    const key = Buffer.alloc(32).toString('base64');
    await expect(read({ ...kept, key })).rejects.toThrow('a row of the spool was changed');
    rows.stored.delete(1);
    await expect(read(kept)).rejects.toThrow('a row of the spool is gone');
  });
});

describe('the stored rows', () => {
  it('hold nothing that can be read, and never the same twice', async () => {
    const marker = 'Ada Lovelace <ada@example.org>';
    let attempt = '';
    const spool = open({ open: (name) => inObject((attempt = name)) });
    await spool.write([Buffer.alloc(fullRows(3), marker.padEnd(32))]);
    await spool.close();
    const stored = await runInDurableObject(
      bindings.SPOOL.get(bindings.SPOOL.idFromName(attempt)),
      (_, { storage }) =>
        storage.sql
          .exec<{ attempt: string; number: number; sealed: ArrayBuffer }>('SELECT * FROM rows')
          .toArray(),
    );
    expect(stored.map((row) => [row.attempt, row.number])).toEqual(
      [0, 1, 2, 3, 4, 5].map((number) => [attempt, number]),
    );
    const sealed = stored.map((row) => Buffer.from(row.sealed));
    // A shorter word may stand in random bytes by chance.
    for (const row of sealed) expect(row.includes('Ada Lovelace')).toBe(false);
    // Their contents are the same. Only their ends differ if both have one initialisation vector.
    const [first, second] = sealed.map((row) => row.subarray(0, 64));
    expect(first!.equals(second as Buffer)).toBe(false);
    for (const row of sealed) expect(row.byteLength).toBeLessThanOrEqual(1_900_000);
    await spool.discard();
  });

  it.each([
    ['a row that was changed', () => (new Uint8Array(rows.stored.get(1)!)[5]! ^= 1)],
    ['a row that was cut', () => rows.stored.set(1, rows.stored.get(1)!.slice(0, -1))],
    ['a row in another’s place', () => rows.stored.set(1, rows.stored.get(0)!)],
  ])('are refused: %s', async (_what, change) => {
    const spool = await filled(fullRows(3));
    change();
    await expect(bytesOf(spool)).rejects.toThrow('a row of the spool was changed');
  });

  it('of one attempt are nothing to another, and to nobody without the key', async () => {
    await filled(fullRows(2));
    const other = new SealedRows(() => rows);
    await expect(other.read(0)).rejects.toMatchObject(BUSY);
    // It has a key now.
    await other.write(7, new Uint8Array(1));
    await expect(other.read(0)).rejects.toThrow('a row of the spool was changed');
  });
});
