/** A long piece of work lets others go on, after so many bytes of it, whatever a clock says. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/isolate/clock.ts';
import { MemoryBudget } from '../../src/isolate/memory-budget.ts';
import { SharedWork, TURN_BYTES } from '../../src/isolate/shared-work.ts';

function counted() {
  const turns = { taken: 0 };
  const work = new SharedWork(async () => void (turns.taken += 1));
  return { turns, work };
}

describe('work', () => {
  it('gives way to others once for each mebibyte, in whatever pieces it is counted', async () => {
    for (const piece of [1_000, TURN_BYTES / 2, TURN_BYTES]) {
      const { turns, work } = counted();
      for (let done = 0; done < 8 * TURN_BYTES; done += piece) await work.count(piece);
      expect(turns.taken).toBeGreaterThanOrEqual(7);
      expect(turns.taken).toBeLessThanOrEqual(8);
      expect(work.bytes).toBeGreaterThanOrEqual(8 * TURN_BYTES);
    }
  });

  it('gives way once behind a piece of any size, and never for little', async () => {
    const { turns, work } = counted();
    await work.count(100 * TURN_BYTES);
    expect(turns.taken).toBe(1);
    await work.count(TURN_BYTES - 1);
    expect(turns.taken).toBe(1);
  });

  it('lets requests that came later end first', async () => {
    const ended: string[] = [];
    const hold = new MemoryBudget().open(systemClock);
    const long = async () => {
      for (let piece = 0; piece < 20; piece++) await hold.worked(TURN_BYTES);
      ended.push('long');
    };
    const short = async () => {
      await scheduler.wait(0);
      ended.push('short');
    };
    await Promise.all([long(), short(), short()]);
    expect(ended).toEqual(['short', 'short', 'long']);
    expect(hold.workedBytes).toBe(20 * TURN_BYTES);
    hold.end();
  });
});
