import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FreshCopy } from '../../src/isolate/fresh-copy.ts';

const START = 1_800_000_000_000;

beforeEach(() => void vi.setSystemTime(START));
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

/** A value that changes every millisecond, somewhere else. */
class Elsewhere {
  questions = 0;
  answer: (value: number) => Promise<number> = async (value) => value;
  readonly work: Promise<unknown>[] = [];
  readonly #copy = new FreshCopy<number>();

  read(): Promise<number> {
    const ask = (): Promise<number> => {
      this.questions += 1;
      return this.answer(Date.now());
    };
    return this.#copy.read(ask, (work) => void this.work.push(work));
  }
}

describe('a copy', () => {
  it('is never older than two seconds, and costs one question a second, however many read it', async () => {
    const elsewhere = new Elsewhere();
    for (let ms = 0; ms < 10_000; ms += 5) {
      pass(5);
      for (let reader = 0; reader < 10; reader++) {
        expect(Date.now() - (await elsewhere.read())).toBeLessThan(2_000);
      }
    }
    expect(elsewhere.questions).toBeLessThanOrEqual(11);
  });

  it('is renewed behind its readers once it is a second old, and once for all of them', async () => {
    const elsewhere = new Elsewhere();
    await elsewhere.read();
    const slow = Promise.withResolvers<number>();
    elsewhere.answer = () => slow.promise;
    pass(1_500);
    for (let reader = 0; reader < 3; reader++) expect(await elsewhere.read()).toBe(START);
    slow.resolve(Date.now());
    await Promise.all(elsewhere.work);
    expect([await elsewhere.read(), elsewhere.questions]).toEqual([START + 1_500, 2]);
  });

  it('is asked for again after a pause, and when the clock was set back', async () => {
    const elsewhere = new Elsewhere();
    await elsewhere.read();
    pass(2_000);
    expect(await elsewhere.read()).toBe(Date.now());
    pass(-60_000);
    expect(await elsewhere.read()).toBe(Date.now());
  });

  it('stays while it is good and a renewal fails; then its readers are told', async () => {
    const elsewhere = new Elsewhere();
    const first = await elsewhere.read();
    elsewhere.answer = () => Promise.reject(new Error('Network connection lost.'));
    pass(1_999);
    expect(await elsewhere.read()).toBe(first);
    await Promise.all(elsewhere.work);
    pass(1);
    await expect(elsewhere.read()).rejects.toThrow('lost');
  });

  it('is not replaced by an answer from before a change', async () => {
    const copy = new FreshCopy<string>();
    const read = (ask: () => Promise<string>) => copy.read(ask, () => {});
    const { promise, resolve } = Promise.withResolvers<string>();
    const slow = read(() => promise);
    copy.forget();
    expect(await read(async () => 'new')).toBe('new');
    resolve('old');
    await slow;
    expect(await read(() => expect.unreachable())).toBe('new');
  });
});
