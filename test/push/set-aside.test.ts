/** While a person is asked, the commits of their push take no memory, and none is lost. */
import { expect, it } from 'vitest';
import { PlannedCommits } from '../../src/git/objects/planned-commits.ts';
import { systemClock } from '../../src/isolate/clock.ts';
import { MemoryBudget } from '../../src/isolate/memory-budget.ts';
import { setAside, takeBack } from '../../src/push/set-aside.ts';
import type { RowStore } from '../../src/spool/sealed-rows.ts';
import { PushSpool, SpoolBudget } from '../../src/spool/spool.ts';
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
  [1, 10, 'in memory'],
  [300, 8 * KiB, 'in rows'],
])('%i commits with %i bytes each come back as they were: %s', async (count, messageBytes, where) => {
  const budget = new MemoryBudget();
  const memory = budget.open(systemClock);
  const stored = new Map<number, ArrayBuffer>();
  const spool = new PushSpool({
    open: () => rowsOf(stored),
    memory,
    client: 'a',
    mostBytes: 100_000 * KiB,
    clock: systemClock,
    budget: new SpoolBudget(),
  });
  const commits = commitsOf(count, messageBytes);
  await setAside(commits, spool);
  expect(stored.size > 0).toBe(where === 'in rows');
  expect(budget.heldBytes).toBeLessThanOrEqual(where === 'in rows' ? 0 : 16 * KiB);
  const back = await takeBack(spool, memory);
  expect([...back]).toEqual([...commitsOf(count, messageBytes)]);
  await spool.discard();
  expect(budget.heldBytes).toBe(back.byteLength + 4 * count);
});
