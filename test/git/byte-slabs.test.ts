/** Small arrays cut from large ones: each has its own bytes, and together they follow one another. */
import { describe, expect, it } from 'vitest';
import { ByteSlabs } from '../../src/git/byte-slabs.ts';

const joined = (slabs: ByteSlabs) => Buffer.concat([...slabs.pieces()]);

describe('ByteSlabs', () => {
  it('gives bytes of its own to everyone, of any length', () => {
    const slabs = new ByteSlabs();
    const lengths = [1, 0, 100, 65_000, 536, 70_000, 3, 65_536, 1_000_000, 12];
    const taken = lengths.map((length) => slabs.take(length));
    expect(taken.map(({ byteLength }) => byteLength)).toEqual(lengths);
    expect(taken.every((bytes) => bytes.every((byte) => byte === 0))).toBe(true);
    for (const [index, bytes] of taken.entries()) bytes.fill(index + 1);
    for (const [index, bytes] of taken.entries())
      expect(bytes.every((byte) => byte === index + 1)).toBe(true);
    expect(joined(slabs)).toEqual(Buffer.concat(taken));
  });

  it('has few pieces for many arrays', () => {
    const slabs = new ByteSlabs();
    for (let i = 0; i < 10_000; i++) slabs.take(300);
    expect(slabs.pieces().length).toBeLessThan(50);
    expect(joined(slabs)).toHaveLength(3_000_000);
  });

  it('goes on where it stopped after its pieces were asked for', () => {
    const slabs = new ByteSlabs();
    slabs.take(2).fill(1);
    slabs.pieces();
    slabs.take(2).fill(2);
    expect([...joined(slabs)]).toEqual([1, 1, 2, 2]);
  });
});
