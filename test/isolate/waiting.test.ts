/** Turns: one request at a time for a key, also if one of them dies. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Turns } from '../../src/isolate/waiting.ts';
import { PatientClock } from '../host/support/scripted-host.ts';

let clock: PatientClock;
let turns: Turns;

beforeEach(() => {
  [clock, turns] = [new PatientClock(), new Turns()];
});

describe('a turn', () => {
  it('is taken at once if nobody has it, and by one key without regard to others', async () => {
    const startedAt = clock.now();
    const first = await turns.take('a', clock);
    const second = await turns.take('b', clock);
    first.end();
    const third = await turns.take('a', clock);
    expect([first, second, third].map(({ hasWaited }) => hasWaited)).toEqual([false, false, false]);
    expect(clock.now()).toBe(startedAt);
  });

  it('is given to one after the other', async () => {
    let [working, most, done] = [0, 0, 0];
    const work = async () => {
      const turn = await turns.take('a', clock);
      most = Math.max(most, (working += 1));
      for (let i = 0; i < 3; i++) await clock.sleep(10);
      working -= 1;
      done += 1;
      turn.end();
      return turn.hasWaited;
    };
    const hasWaited = await Promise.all(Array.from({ length: 6 }, work));
    expect(hasWaited).toEqual([false, true, true, true, true, true]);
    expect([most, done]).toEqual([1, 6]);
  });

  it('is noticed soon after the one before it has ended', async () => {
    const first = await turns.take('a', clock);
    const startedAt = clock.now();
    await turns.take('a', {
      now: () => clock.now(),
      async sleep(ms) {
        await clock.sleep(ms);
        if (clock.now() >= startedAt + 200) first.end();
      },
    });
    expect(clock.now() - startedAt).toBeLessThan(1.3 * 200);
  });

  it('passes on when its request has died, and what is late of that one ends no other', async () => {
    const dead = await turns.take('a', clock);
    const startedAt = clock.now();
    const next = await turns.take('a', clock);
    expect(next.hasWaited).toBe(true);
    expect(clock.now() - startedAt).toBeLessThan(31_000);
    dead.end();
    expect((await turns.take('a', clock)).hasWaited).toBe(true);
  });

  it('is refused as busy after a long wait', async () => {
    await turns.take('a', clock);
    // Others are always faster.
    const late = turns.take('a', {
      now: () => clock.now(),
      sleep: async () => {
        await turns.take('a', clock);
      },
    });
    await expect(late).rejects.toMatchObject({ code: 'busy' });
  });
});
