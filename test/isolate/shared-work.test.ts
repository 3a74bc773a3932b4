/** A long piece of work lets others go on, after so many bytes of it, whatever a clock says. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/isolate/clock.ts';
import { MemoryBudget } from '../../src/isolate/memory-budget.ts';
import { SharedWork, TURN_BYTES, WorkOfNetworks } from '../../src/isolate/shared-work.ts';

function counted() {
  const turns = { taken: 0 };
  const work = new SharedWork({ giveWay: async () => void (turns.taken += 1) });
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

describe('while several networks are at work', () => {
  const START = 1_800_000_000_000;
  /** Work of a network, in turns, on a clock that only sleep moves. */
  function isolate() {
    let now = START;
    const all = new WorkOfNetworks();
    const slept: string[] = [];
    const open = (network: string | null) => {
      const sleep = async (ms: number) => {
        slept.push(String(network));
        now += ms;
      };
      const work = new SharedWork({
        network,
        clock: { now: () => now, sleep },
        giveWay: async () => {},
        all,
      });
      return {
        turns: (count: number, isShared?: boolean) => work.count(count * TURN_BYTES, isShared),
        ask: () => work.countRequest(),
        end: () => work.charge(),
      };
    };
    return { open, slept, pass: (ms: number) => void (now += ms) };
  }

  it('one alone waits for nobody, whatever it has done, and neither does the service', async () => {
    const { open, slept } = isolate();
    await open('a').turns(1_000);
    await open('a').turns(1_000);
    await open(null).turns(1_000);
    await open('a').turns(1_000);
    expect(slept).toEqual([]);
  });

  it('who has had more waits until the others have paused, and who has had less waits for nobody', async () => {
    const { open, slept } = isolate();
    await open('a').turns(100);
    await open('b').turns(1);
    await open('a').turns(1);
    expect(slept).toEqual(Array(5).fill('a'));
    await open('a').turns(1);
    await open('b').turns(1);
    expect(slept).toHaveLength(5);
  });

  it('who does what others wait for, too, waits for nobody, and pays for it later', async () => {
    const { open, slept } = isolate();
    await open('b').turns(1);
    await open('a').turns(100, true);
    await open('a').turns(1, true);
    expect(slept).toEqual([]);
    await open('a').turns(1);
    expect(slept).not.toEqual([]);
  });

  it('who has asked the host hundreds of times waits before the next time, if anybody is at work', async () => {
    const { open, slept, pass } = isolate();
    for (let request = 0; request < 200; request++) await open('a').ask();
    expect(slept).toEqual([]);
    await open('b').turns(1);
    for (let request = 0; request < 10; request++) await open('c').ask();
    expect(slept).toEqual([]);
    await open('a').ask();
    expect(slept).toEqual(Array(5).fill('a'));
    pass(10 * 60_000);
    await open('b').turns(1);
    await open('a').ask();
    expect(slept).toHaveLength(5);
  });

  it('little more is no reason to wait, also of a crowd of short requests', async () => {
    const { open, slept } = isolate();
    for (let request = 0; request < 7; request++) {
      await open('a').turns(1);
      await open('b').turns(0.01);
    }
    expect(slept).toEqual([]);
    // What is less than a turn is charged, too.
    for (let request = 0; request < 40; request++) await open('a').turns(0.25);
    await open('b').turns(1);
    await open('a').turns(1);
    expect(slept).not.toEqual([]);
  });

  it('thousands of requests that each do next to nothing have had what they have done', async () => {
    const { open, slept } = isolate();
    for (let request = 0; request < 10_000; request++) {
      const work = open('a');
      await work.turns(0.001);
      work.end();
    }
    await open('b').turns(1);
    await open('a').turns(0.1);
    expect(slept).toEqual([]);
    await open('a').turns(1);
    expect(slept).not.toEqual([]);
  });

  it('a few bytes now and then make nobody wait', async () => {
    const { open, slept, pass } = isolate();
    const [a, b] = [open('a'), open('b')];
    await b.turns(1);
    pass(1_000);
    for (let turn = 0; turn < 40; turn++) {
      await b.turns(0.0001);
      await a.turns(1);
    }
    expect(slept).toEqual([]);
  });

  it('what was done long ago counts no more', async () => {
    const { open, slept, pass } = isolate();
    await open('a').turns(100);
    pass(10 * 60_000);
    await open('b').turns(1);
    await open('a').turns(1);
    expect(slept).toEqual([]);
  });

  it('nobody waits for more than ten seconds in one request', async () => {
    const { open, slept } = isolate();
    const [a, b] = [open('a'), open('b')];
    await a.turns(10_000);
    for (let turn = 0; turn < 300; turn++) {
      await b.turns(1);
      await a.turns(1);
    }
    expect(slept).toHaveLength(500);
  });
});
