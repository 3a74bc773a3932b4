/**
 * Sets and maps of object ids, and lists of bytes, in few arrays: they answer as a Map and an array
 * would.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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
        expect(table.sortedList()).toBe(JSON.stringify(expected.toSorted()));
      }),
      runs(35),
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
