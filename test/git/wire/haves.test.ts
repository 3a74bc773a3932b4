/** Which commits are advertised as `.have`: every recent one, then ever sparser ones. */
import { describe, expect, it } from 'vitest';
import { selectHaves } from '../../../src/git/wire/ref-advertisement.ts';
import { oidNumber } from '../../support/objects.ts';

const newestFirst = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe('selectHaves', () => {
  it('names nothing for an empty history', () => {
    expect(selectHaves([])).toEqual([]);
  });

  it('names every commit of a short history', () => {
    expect(selectHaves(newestFirst(60))).toEqual(newestFirst(60));
    expect(selectHaves([oidNumber(1)])).toEqual([oidNumber(1)]);
  });

  it('starts with all of the newest, keeps the order and repeats none', () => {
    const haves = selectHaves(newestFirst(5000)).map(Number);
    expect(haves.slice(0, 64)).toEqual(newestFirst(64).map(Number));
    expect(haves).toEqual([...new Set(haves)].toSorted((a, b) => a - b));
  });

  it('never leaves a gap wider than the way to its newer end', () => {
    const haves = selectHaves(newestFirst(5000)).map(Number);
    for (const [index, have] of haves.slice(0, -1).entries())
      expect((haves[index + 1] as number) - have).toBeLessThanOrEqual(Math.max(1, have));
  });

  it('reaches beyond a thousand commits with at most 200 lines', () => {
    const haves = selectHaves(newestFirst(100_000)).map(Number);
    expect(haves.length).toBeLessThanOrEqual(200);
    expect(haves.at(-1)).toBeGreaterThan(1_000);
  });
});
