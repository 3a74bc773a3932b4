/** Lists in typed arrays. */
import { describe, expect, it } from 'vitest';
import { ByteArrays, NumberList } from '../../src/git/compact-lists.ts';

describe('NumberList', () => {
  it('finds the first number above another, in any ascending list', () => {
    const list = new NumberList('float64');
    expect(list.firstAbove(0)).toBe(0);
    const numbers = [...Array.from({ length: 100 }, (_, index) => 3 * index), 2 ** 40, Infinity, Infinity];
    for (const number of numbers) list.push(number);
    for (const value of [-1, 0, 1, 2, 3, 150, 297, 298, 2 ** 40, 2 ** 41, Infinity]) {
      const index = numbers.findIndex((number) => number > value);
      expect(list.firstAbove(value), `${value}`).toBe(index < 0 ? numbers.length : index);
    }
  });
});

describe('ByteArrays', () => {
  it('gives back what it was given, of any length', () => {
    const lengths = [1, 0, 100, 65_000, 536, 70_000, 3, 65_536, 1_000_000, 12];
    const given = lengths.map((length, index) => new Uint8Array(length).fill(index + 1));
    const arrays = new ByteArrays();
    for (const bytes of given) arrays.push(bytes);
    expect(arrays).toHaveLength(lengths.length);
    expect(Buffer.compare(Buffer.concat([...arrays]), Buffer.concat(given))).toBe(0);
    expect(given.every((bytes, index) => Buffer.compare(arrays.at(index), bytes) === 0)).toBe(true);
  });

  it('gives its memory back at once', () => {
    const arrays = new ByteArrays();
    arrays.push(Uint8Array.of(1, 2, 3));
    const view = arrays.at(0);
    arrays.free();
    expect(view.byteLength).toBe(0);
  });
});
