/**
 * Numbers of a pack's entries, against known bytes and an encoder that shares nothing with the
 * service's.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeDistance,
  encodeEntryHeader,
  EntryHeaderReader,
  OBJ_BLOB,
  OBJ_COMMIT,
  OBJ_OFS_DELTA,
  OBJ_REF_DELTA,
  OBJ_TREE,
} from '../../../src/git/pack/entry-header.ts';
import { distanceBytes, sizeBytes, TYPE_NUMBERS } from '../../support/pack-builder.ts';
import { runs } from '../../support/runs.ts';

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Reads a header; null if it asks for more bytes. */
function read(bytes: Uint8Array): EntryHeaderReader | null {
  const reader = new EntryHeaderReader();
  reader.begin();
  for (const [index, byte] of bytes.entries()) {
    if (!reader.push(byte)) continue;
    expect(index).toBe(bytes.byteLength - 1);
    return reader;
  }
  return null;
}

/** Type, size, and the header as Git writes it. */
const SIZES: readonly (readonly [number, number, string])[] = [
  [OBJ_COMMIT, 0, '10'],
  [OBJ_COMMIT, 15, '1f'],
  [OBJ_COMMIT, 16, '9001'],
  [OBJ_TREE, 17, 'a101'],
  [OBJ_BLOB, 2047, 'bf7f'],
  [OBJ_BLOB, 2048, 'b08001'],
  [TYPE_NUMBERS.tag, 65_535, 'cfff1f'],
  [OBJ_BLOB, 10 * 1024 * 1024, 'b0808028'],
  [OBJ_BLOB, 2 ** 31 - 1, 'bfffffff3f'],
  [OBJ_BLOB, 2 ** 31, 'b080808040'],
  [OBJ_BLOB, 2 ** 32 - 1, 'bfffffff7f'],
  [OBJ_BLOB, 2 ** 32, 'b08080808001'],
  [OBJ_BLOB, 2 ** 40 + 5, 'b5808080808002'],
  [OBJ_BLOB, Number.MAX_SAFE_INTEGER, 'bfffffffffffff7f'],
];

/**
 * Distance and the bytes that Git writes for it; the next number of bytes begins where one is
 * exhausted.
 */
const DISTANCES: readonly (readonly [number, string])[] = [
  [0, '00'],
  [1, '01'],
  [127, '7f'],
  [128, '8000'],
  [129, '8001'],
  [255, '807f'],
  [256, '8100'],
  [16_511, 'ff7f'],
  [16_512, '808000'],
  [2_113_663, 'ffff7f'],
  [2_113_664, '80808000'],
  [2 ** 31 - 1, '86fefefe7f'],
  [2 ** 31, '86fefeff00'],
  [2 ** 32, '8efefeff00'],
];

describe('the size encoding', () => {
  it.each(SIZES)('of type %i and size %i is %s', (type, size, hex) => {
    expect(hexOf(sizeBytes(type, size))).toBe(hex);
    expect(hexOf(encodeEntryHeader(type, size))).toBe(hex);
    expect(read(Buffer.from(hex, 'hex'))).toMatchObject({ type, size, length: hex.length / 2 });
  });

  it('may be longer than it need be', () => {
    expect(read(Buffer.from('b08000', 'hex'))).toMatchObject({ type: OBJ_BLOB, size: 0, length: 3 });
  });

  it.each([
    ['00', 'type 0'],
    ['50', 'type 5'],
    ['d001', 'type 5 with a longer size'],
    ['b0808080808080808080', 'a size without an end'],
  ])('%s is refused: %s', (hex) => {
    expect(() => read(Buffer.from(hex, 'hex'))).toThrow(expect.objectContaining({ code: 'bad-pack' }));
  });

  it('is written and read alike by two implementations, for any size', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom(1, 2, 3, 4), (size, type) => {
        const bytes = sizeBytes(type, size);
        expect(hexOf(encodeEntryHeader(type, size))).toBe(hexOf(bytes));
        expect(read(bytes)).toMatchObject({ type, size });
      }),
      runs(70),
    );
  });
});

describe('the offset encoding', () => {
  it.each(DISTANCES)('of %i is %s', (distance, hex) => {
    expect(hexOf(distanceBytes(distance))).toBe(hex);
    expect(hexOf(encodeDistance(distance))).toBe(hex);
    expect(read(Buffer.from(`65${hex}`, 'hex'))).toMatchObject({
      type: OBJ_OFS_DELTA,
      size: 5,
      distance,
      baseStart: 1,
    });
  });

  it('is refused where it passes every pack', () => {
    expect(() => read(Buffer.from(`65${'ff'.repeat(9)}7f`, 'hex'))).toThrow(
      expect.objectContaining({ code: 'bad-pack' }),
    );
  });

  it('is written and read alike by two implementations, for any distance', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 40), (distance) => {
        const bytes = distanceBytes(distance);
        expect(hexOf(encodeDistance(distance))).toBe(hexOf(bytes));
        expect(read(Buffer.concat([Buffer.from([0x60]), bytes]))).toMatchObject({ distance });
      }),
      runs(70),
    );
  });
});

describe('an EntryHeaderReader', () => {
  it('reads the base of a ref-delta behind a size of any length', () => {
    const base = 'ab'.repeat(20);
    const reader = read(Buffer.from(`f50a${base}`, 'hex'));
    expect(reader).toMatchObject({ type: OBJ_REF_DELTA, size: 165, baseStart: 2, length: 22 });
    expect(hexOf(reader?.bytes.subarray(2, 22) ?? new Uint8Array())).toBe(base);
  });

  it('asks for more while a header is incomplete', () => {
    for (const hex of ['90', 'e5', 'e50180', '75', `75${'ab'.repeat(19)}`])
      expect(read(Buffer.from(hex, 'hex'))).toBeNull();
  });

  it('keeps nothing of the header before', () => {
    const reader = new EntryHeaderReader();
    for (const hex of ['e5810005', '3a', `75${'cd'.repeat(20)}`, '6101']) {
      reader.begin();
      const bytes = Buffer.from(hex, 'hex');
      const completeAt = bytes.findIndex((byte: number) => reader.push(byte));
      expect(completeAt).toBe(bytes.byteLength - 1);
    }
    expect(reader).toMatchObject({ type: OBJ_OFS_DELTA, size: 1, distance: 1, length: 2 });
  });
});
