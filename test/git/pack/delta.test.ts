/** Deltas: known instructions, deltas that do not fit, and what a builder of our own writes. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyDelta, parseDeltaHeader } from '../../../src/git/pack/delta.ts';
import { copyInstruction, deltaSize, insertInstructions, makeDelta } from '../../support/pack-builder.ts';
import { runs } from '../../support/runs.ts';

const MAX = 1 << 20;
const bytesOf = (...values: number[]) => Uint8Array.from(values);
const delta = (baseSize: number, resultSize: number, ...instructions: Uint8Array[]) =>
  Buffer.concat([deltaSize(baseSize), deltaSize(resultSize), ...instructions]);
const apply = (base: string | Uint8Array, instructions: Uint8Array, maxBytes = MAX) =>
  Buffer.from(applyDelta(typeof base === 'string' ? Buffer.from(base) : base, instructions, maxBytes));

const badPack = expect.objectContaining({ name: 'ProtocolError', code: 'bad-pack' }) as Error;
const tooLarge = expect.objectContaining({ name: 'ProtocolError', code: 'too-large' }) as Error;

describe('parseDeltaHeader', () => {
  it.each([
    ['0000', 0, 0],
    ['7f01', 127, 1],
    ['80018001', 128, 128],
    ['a08d0605', 100_000, 5],
    ['8080808008ffffffff07', 2 ** 31, 2 ** 31 - 1],
    ['80808080108080808010', 2 ** 32, 2 ** 32],
    ['800000', 0, 0],
  ])('reads %s as %i and %i', (hex, baseSize, resultSize) => {
    expect(parseDeltaHeader(Buffer.from(hex, 'hex'))).toEqual({ baseSize, resultSize });
  });

  it.each([
    ['', 'nothing'],
    ['05', 'no second size'],
    ['80', 'half a size'],
    ['0580', 'half a second size'],
    ['ff'.repeat(20), 'a size without an end'],
  ])('refuses %j: %s', (hex) => {
    expect(() => parseDeltaHeader(Buffer.from(hex, 'hex'))).toThrow(badPack);
  });
});

describe('applyDelta', () => {
  it('copies and inserts', () => {
    const instructions = delta(
      11,
      17,
      copyInstruction(6, 5),
      insertInstructions(Buffer.from(', hello')),
      copyInstruction(5, 1),
      bytesOf(4),
      Buffer.from('bye!'),
    );
    expect(apply('hello world', instructions).toString()).toBe('world, hello bye!');
  });

  it('makes an empty object of anything, and anything of an empty one', () => {
    expect(apply('base', delta(4, 0)).toString()).toBe('');
    expect(apply('', delta(0, 3, insertInstructions(Buffer.from('abc')))).toString()).toBe('abc');
  });

  it.each([
    [0, 1],
    [255, 255],
    [256, 256],
    [65_535, 65_535],
    [65_536, 65_536],
    [70_000, 0x10001],
    [0x10203, 0x20304],
  ])('copies from offset %i a length of %i', (offset, length) => {
    const base = new Uint8Array(300_000).map((_, index) => (index * 7) % 256);
    const result = apply(base, delta(base.length, length, copyInstruction(offset, length)));
    expect(result.equals(base.subarray(offset, offset + length))).toBe(true);
  });

  it('takes a length of zero for 65,536, as Git does', () => {
    const base = new Uint8Array(65_536).fill(7);
    expect(apply(base, delta(65_536, 65_536, bytesOf(0x80))).equals(base)).toBe(true);
  });

  it('inserts up to 127 bytes with one instruction', () => {
    const data = Buffer.alloc(127, 'x');
    expect(apply('', delta(0, 127, bytesOf(127), data)).equals(data)).toBe(true);
  });

  it.each([
    ['a base of another size', delta(5, 1, copyInstruction(0, 1))],
    ['a copy past the end of the base', delta(4, 2, copyInstruction(3, 2))],
    ['a copy that begins past the base', delta(4, 1, copyInstruction(5, 1))],
    ['a copy from beyond 2^31', delta(4, 1, bytesOf(0x98, 0xff, 1))],
    ['a copy of an offset of 2^32 - 1', delta(4, 1, bytesOf(0x9f, 0xff, 0xff, 0xff, 0xff, 1))],
    ['a longer result than it declares', delta(4, 3, copyInstruction(0, 4))],
    ['a shorter result than it declares', delta(4, 5, copyInstruction(0, 4))],
    ['an insert that ends too early', delta(4, 5, bytesOf(5, 1, 2))],
    ['a copy that ends inside its offset', delta(4, 4, bytesOf(0x83, 1))],
    ['a copy that ends inside its length', delta(4, 4, bytesOf(0xb0, 1))],
    ['the reserved instruction', delta(4, 4, bytesOf(0), copyInstruction(0, 4))],
    ['an insert past the result', delta(4, 1, insertInstructions(Buffer.from('abc')))],
  ])('refuses %s', (_, instructions) => {
    expect(() => apply('base', instructions)).toThrow(badPack);
  });

  it('refuses a result over the limit before it allocates it', () => {
    expect(() => apply('base', delta(4, 11, bytesOf(1, 1)), 10)).toThrow(tooLarge);
    expect(() => apply('base', delta(4, 2 ** 40, bytesOf(1, 1)))).toThrow(tooLarge);
  });

  it('undoes what the builder made, for any two objects', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.uint8Array({ maxLength: 200 }),
        fc.uint8Array({ maxLength: 400 }),
        (head, tail, middle) => {
          const base = Buffer.concat([head, tail]);
          const target = Buffer.concat([head, middle, tail]);
          expect(apply(base, makeDelta(base, target)).equals(target)).toBe(true);
        },
      ),
      runs(70),
    );
  });

  it('makes of any bytes an object of the declared size, or refuses them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(100), (instructions, resultSize) => {
        try {
          expect(apply('base', delta(4, resultSize, instructions), 100)).toHaveLength(resultSize);
        } catch (error) {
          expect(error).toEqual(badPack);
        }
      }),
      runs(100),
    );
  });
});
