/** Reads of a repository's files count in the memory of all requests, until their request ends. */
import { expect, it } from 'vitest';
import { systemClock } from '../../src/isolate/clock.ts';
import { heldReads } from '../../src/upstream/tree-reader.ts';
import type { KeptObject } from '../../src/git/pack/kept-objects.ts';
import { MemoryBudget } from '../../src/isolate/memory-budget.ts';

const sent = (type: KeptObject['type'], bytes: number) =>
  new Map([['a'.repeat(40), { type, oid: 'a'.repeat(40), content: new Uint8Array(bytes) }]]);

it('counts folders and files with what becomes of them, and nothing that is too large', async () => {
  const budget = new MemoryBudget();
  const memory = budget.open(systemClock);
  const answers = [sent('tree', 1_000), sent('blob', 500), null];
  const transport = { readObjects: async () => answers.shift() ?? null };
  const read = heldReads({ transport, memory }, { owner: 'octo', name: 'hello' });
  for (const bytes of [10_000, 12_000, 12_000]) {
    await read({ wants: [] }, 1);
    expect(budget.heldBytes).toBe(bytes);
  }
  memory.end();
  expect(budget.heldBytes).toBe(0);
});
