/** Questions that cost somebody else much: put once in a while, however many ask. */
import { beforeEach, describe, expect, it } from 'vitest';
import { HostError } from '../../src/words/host-error.ts';
import type { Clock } from '../../src/isolate/clock.ts';
import { SharedAnswers } from '../../src/isolate/shared-answers.ts';

const LIFE_MS = 60_000;
let now = 1_800_000_000_000;
const clock: Clock = { now: () => now, sleep: () => scheduler.wait(0) };

let shared: SharedAnswers<string>;
let asked: string[];

beforeEach(() => {
  shared = new SharedAnswers({ lifeMs: LIFE_MS, mostBytes: 100, bytesOf: ({ length }) => length });
  asked = [];
});

/** Answers with as many bytes. */
const read = (key: string, bytes = 10) =>
  shared.read(key, clock, async () => {
    asked.push(key);
    await scheduler.wait(1);
    return key.repeat(bytes);
  });

describe('an answer', () => {
  it('is good for its life, for everybody who asks the same', async () => {
    for (let time = 0; time < 3; time++) expect(await read('a', 2)).toBe('aa');
    await read('b');
    expect(asked).toEqual(['a', 'b']);
    now += LIFE_MS - 1;
    await read('a');
    expect(asked).toEqual(['a', 'b']);
    now += 1;
    await read('a');
    expect(asked).toEqual(['a', 'b', 'a']);
  });

  it('is waited for by those who ask at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => read('a', 2)));
    expect(answers).toEqual(Array.from({ length: 10 }, () => 'aa'));
    expect(asked).toEqual(['a']);
  });

  it('that had to make room is not asked for again within its life', async () => {
    await read('a', 60);
    await read('b', 60);
    await expect(read('a')).rejects.toMatchObject({ code: 'busy' });
    expect(await read('b')).toHaveLength(60);
    expect(asked).toEqual(['a', 'b']);
    now += LIFE_MS;
    expect(await read('a')).toHaveLength(10);
  });

  it('that is not worth it is not kept', async () => {
    const ask = async () => {
      asked.push('a');
      return 'a';
    };
    for (let time = 0; time < 2; time++) await shared.read('a', clock, ask, () => false);
    expect(asked).toHaveLength(2);
  });

  it('that does not come is asked for by the next one', async () => {
    const failing = shared.read('a', clock, async () => {
      await scheduler.wait(1);
      throw new HostError('unreachable', 'No.');
    });
    const next = read('a');
    await expect(failing).rejects.toMatchObject({ code: 'unreachable' });
    expect(await next).toHaveLength(10);
  });
});

it('who waits for memory lets others ask, because they may hold that memory', async () => {
  const freed = Promise.withResolvers<void>();
  const first = shared.read('a', clock, async (beforeWait) => {
    beforeWait();
    await freed.promise;
    return 'first';
  });
  expect(await read('a')).toHaveLength(10);
  freed.resolve();
  expect(await first).toBe('first');
});
