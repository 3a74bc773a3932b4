/** The cache of the isolate: what is found in it, what is dropped, and when. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forgetEverything, onForget, Recent } from '../../src/isolate/recent.ts';
import { runs } from '../support/runs.ts';

const START = 1_800_000_000_000;

/** Steps with a cache of numbers that weigh what they are. */
const step = fc.record({
  what: fc.constantFrom('set', 'set', 'get', 'get', 'delete'),
  key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  value: fc.nat(12),
  /** Sometimes the clock is set back. */
  passMs: fc.integer({ min: -30, max: 100 }),
});

/** The same, as slow and plain as can be: entries in order of use. */
class Plain {
  entries: { key: string; value: number; at: number }[] = [];

  get weight(): number {
    return this.entries.reduce((sum, { value }) => sum + Math.max(1, value), 0);
  }

  sweptAt = -Infinity;

  /** As seldom as the cache does. */
  sweep(now: number, lifeMs: number) {
    if (this.sweptAt <= now && now - this.sweptAt < lifeMs) return;
    this.sweptAt = now;
    this.entries = this.entries.filter(({ at }) => at <= now && now - at < lifeMs);
  }

  take(key: string) {
    const entry = this.entries.find((each) => each.key === key);
    this.entries = this.entries.filter((each) => each !== entry);
    return entry;
  }
}

describe('a cache', () => {
  it.each([undefined, 150])('holds what was used last, and no more than it may: life %s', (lifeMs) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const cache = new Recent<number>({ ...(lifeMs && { lifeMs }), most: 10, weightOf: (value) => value });
        const plain = new Plain();
        let now = START;
        for (const { what, key, value, passMs } of steps) {
          now += passMs;
          if (what === 'set' && lifeMs !== undefined) plain.sweep(now, lifeMs);
          const known = plain.take(key);
          if (what === 'set') {
            cache.set(key, value, now);
            if (value <= 10) plain.entries.push({ key, value, at: now });
            while (plain.weight > 10) plain.entries.shift();
          } else if (what === 'get') {
            const isGood =
              known !== undefined && (lifeMs === undefined || (known.at <= now && now - known.at < lifeMs));
            expect(cache.get(key, now)).toBe(isGood ? known.value : null);
            if (isGood) plain.entries.push(known);
          } else {
            expect(cache.delete(key)).toBe(known !== undefined);
          }
        }
      }),
      runs(100),
    );
  });

  it('holds a number of entries when they have no weight', () => {
    const cache = new Recent<string>({ most: 2 });
    for (const key of ['a', 'b', 'c']) cache.set(key, key);
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([null, 'b', 'c']);
  });

  it('keeps a value in the place of the one before, and its weight instead', () => {
    const cache = new Recent<string>({ most: 5, weightOf: ({ length }) => length });
    cache.set('a', '1');
    for (let time = 0; time < 5; time++) cache.set('b', '1234');
    expect(cache.get('a')).toBe('1');
    cache.set('b', '123456');
    expect(cache.get('b')).toBeNull();
  });

  it('has not heard of what the clock says is still to come', () => {
    const cache = new Recent<string>({ lifeMs: 1_000, most: 2 });
    cache.set('a', 'x', START);
    expect(cache.get('a', START + 999)).toBe('x');
    expect(cache.get('a', START - 1)).toBeNull();
    // It would be good again now, although more time has passed than it may.
    expect(cache.get('a', START + 500)).toBeNull();
  });
});

it('what has expired is dropped when something else comes, also if nobody asks for it', () => {
  const cache = new Recent<string>({ lifeMs: 1_000, most: 100 });
  for (let at = 0; at < 50; at++) cache.set(String(at), 'x', START);
  cache.set('b', 'y', START + 999);
  expect(cache.size).toBe(51);
  cache.set('c', 'z', START + 1_500);
  expect(cache.size).toBe(2);
});

it('all that the isolate remembers is forgotten at once', () => {
  const cache = new Recent<string>({ most: 2 });
  cache.set('a', 'x');
  let isForgotten = false;
  onForget(() => (isForgotten = true));
  forgetEverything();
  expect(cache.get('a')).toBeNull();
  expect(isForgotten).toBe(true);
});
