/** While a person is asked, the commits of their push take no memory, and none is lost. */
import { expect, it } from 'vitest';
import { KeptObjects } from '../../src/git/pack/kept-objects.ts';
import { OidTable } from '../../src/git/objects/oid-table.ts';
import { PlannedCommits } from '../../src/git/objects/planned-commits.ts';
import { systemClock } from '../../src/isolate/clock.ts';
import { MemoryBudget } from '../../src/isolate/memory-budget.ts';
import { fewInMemory, gather } from '../../src/push/receive/receive.ts';
import { setAside, takeBack } from '../../src/spool/set-aside.ts';
import type { RowStore } from '../../src/spool/sealed-rows.ts';
import { PushSpool } from '../../src/spool/spool.ts';
import { SpoolBudget } from '../../src/spool/spool-budget.ts';
import { oidNumber } from '../support/objects.ts';

const KiB = 1024;

/** Keeps rows in memory that nobody counts. */
function rowsOf(stored: Map<number, ArrayBuffer>): RowStore {
  return {
    write: async (_attempt, number, sealed) => void stored.set(number, sealed.slice(0)),
    read: async (_attempt, number) => stored.get(number) ?? null,
    keep: async () => {},
    remove: async () => false,
  };
}

function commitsOf(count: number, messageBytes: number): PlannedCommits {
  const commits = new PlannedCommits();
  for (let number = 0; number < count; number++) {
    const bytes = new Uint8Array(messageBytes).fill(number);
    const parents = number === 0 ? [oidNumber(1)] : [number - 1];
    commits.push({ tree: oidNumber(number), parents, encoding: null, message: { bytes, mentions: [] } });
  }
  return commits;
}

it.each([
  [1, 10],
  [300, 8 * KiB],
])('%i commits with %i bytes each come back as they were', async (count, messageBytes) => {
  const budget = new MemoryBudget();
  const memory = budget.open(systemClock);
  const stored = new Map<number, ArrayBuffer>();
  const open = (rows: Map<number, ArrayBuffer>) =>
    new PushSpool({
      open: () => rowsOf(rows),
      memory,
      client: 'a',
      mostBytes: 100_000 * KiB,
      clock: systemClock,
      budget: new SpoolBudget(),
    });
  const spool = open(stored);
  const pack = { kept: new KeptObjects({ memory }), spool: open(new Map()), namedBases: new OidTable() };
  pack.namedBases.add(oidNumber(1));
  const entries = new Uint8Array(20 * KiB).fill(7);
  await pack.spool.write([entries]);
  await pack.spool.close();
  expect(budget.heldBytes).toBeGreaterThanOrEqual(entries.byteLength);
  const commits = commitsOf(count, messageBytes);
  await setAside(pack, commits, spool);
  expect([budget.heldBytes, pack.namedBases.size]).toEqual([0, 0]);
  const few = await fewInMemory(pack.spool, memory);
  expect(few.isInMemory).toBe(true);
  expect(await gather(few.read())).toEqual(entries);
  expect(await gather(few.read(20 * KiB - 2))).toEqual(entries.subarray(-2));
  expect(budget.heldBytes).toBe(entries.byteLength);
  const back = await takeBack(spool, memory);
  expect([...back]).toEqual([...commitsOf(count, messageBytes)]);
  await spool.discard();
  expect(budget.heldBytes).toBe(entries.byteLength + back.byteLength + 4 * count);
});
