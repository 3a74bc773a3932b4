import { describe, expect, it } from 'vitest';
import { FreshCopy } from '../../src/isolate/fresh-copy.ts';

/** A value that changes every millisecond, somewhere else. */
class Elsewhere {
  time = 1_800_000_000_000;
  questions = 0;
  answer: (value: number) => Promise<number> = async (value) => value;
  readonly work: Promise<unknown>[] = [];
  readonly world = {
    now: () => this.time,
    ask: () => {
      this.questions += 1;
      return this.answer(this.time);
    },
    later: (work: Promise<unknown>) => void this.work.push(work),
  };
}

describe('a copy', () => {
  it('is never older than two seconds, and costs one question a second, however many read it', async () => {
    const [copy, elsewhere] = [new FreshCopy<number>(), new Elsewhere()];
    for (let ms = 0; ms < 10_000; ms += 5) {
      elsewhere.time += 5;
      for (let reader = 0; reader < 10; reader++) {
        expect(elsewhere.time - (await copy.read(elsewhere.world))).toBeLessThan(2_000);
      }
    }
    expect(elsewhere.questions).toBeLessThanOrEqual(11);
  });

  it('is asked for again after a pause, and when the clock was set back', async () => {
    const [copy, elsewhere] = [new FreshCopy<number>(), new Elsewhere()];
    await copy.read(elsewhere.world);
    elsewhere.time += 2_000;
    expect(await copy.read(elsewhere.world)).toBe(elsewhere.time);
    elsewhere.time -= 60_000;
    expect(await copy.read(elsewhere.world)).toBe(elsewhere.time);
  });

  it('stays while it is good and a renewal fails; then its readers are told', async () => {
    const [copy, elsewhere] = [new FreshCopy<number>(), new Elsewhere()];
    const first = await copy.read(elsewhere.world);
    elsewhere.answer = () => Promise.reject(new Error('Network connection lost.'));
    elsewhere.time += 1_999;
    expect(await copy.read(elsewhere.world)).toBe(first);
    await Promise.all(elsewhere.work);
    elsewhere.time += 1;
    await expect(copy.read(elsewhere.world)).rejects.toThrow('lost');
  });

  it('is not replaced by an answer from before a change', async () => {
    const [copy, elsewhere] = [new FreshCopy<string>(), new Elsewhere()];
    const { world } = elsewhere;
    const { promise, resolve } = Promise.withResolvers<string>();
    const slow = copy.read({ ...world, ask: () => promise });
    copy.forget();
    expect(await copy.read({ ...world, ask: async () => 'new' })).toBe('new');
    resolve('old');
    await slow;
    expect(await copy.read({ ...world, ask: () => expect.unreachable() })).toBe('new');
  });
});
