/** Sets and maps of object ids, and lists of bytes, in few arrays: they answer as a Map and an array would. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteArrays } from '../../../src/git/byte-arrays.ts';
import { OidTable } from '../../../src/git/objects/oid-table.ts';
import { oidNumber } from '../../support/objects.ts';
import { runs } from '../../support/runs.ts';

const digits = fc.nat(15).map((digit) => digit.toString(16));
/** Alike in all but a few digits, so that some are met twice. */
const oids = fc.array(
  fc.tuple(fc.nat(39), digits).map(([at, digit]) => '0'.repeat(at) + digit + '0'.repeat(39 - at)),
  { maxLength: 200 },
);

describe('OidTable', () => {
  it('numbers ids in the order in which they come', () => {
    fc.assert(
      fc.property(oids, (added) => {
        const table = new OidTable();
        const expected: string[] = [];
        for (const oid of added) {
          if (!expected.includes(oid)) expected.push(oid);
          expect(table.add(oid)).toBe(expected.indexOf(oid));
        }
        expect(table.size).toBe(expected.length);
        expect(expected.map((_, index) => table.at(index))).toEqual(expected);
        expect(expected.every((oid, index) => table.indexOf(oid) === index && table.has(oid))).toBe(true);
        expect(table.indexOf('f'.repeat(40))).toBe(-1);
      }),
      runs(100),
    );
  });

  it('holds many', () => {
    const table = new OidTable();
    for (let i = 0; i < 20_000; i++) table.add(oidNumber(i));
    expect([table.size, table.indexOf(oidNumber(19_999)), table.at(12_345)]).toEqual([
      20_000,
      19_999,
      oidNumber(12_345),
    ]);
  });
});

describe('ByteArrays', () => {
  it('gives back what it was given, of any length', () => {
    const lengths = [1, 0, 100, 65_000, 536, 70_000, 3, 65_536, 1_000_000, 12];
    const given = lengths.map((length, index) => new Uint8Array(length).fill(index + 1));
    const arrays = new ByteArrays();
    expect(given.map((bytes) => arrays.push(bytes))).toEqual(lengths.map((_, index) => index));
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
