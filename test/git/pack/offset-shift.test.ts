/** How far entries move: against a model that remembers every removed byte. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_CUTS } from '../../../src/git/pack/memory-limits.ts';
import { OffsetShift } from '../../../src/git/pack/pack-scanner.ts';
import { runs } from '../../support/runs.ts';

function shiftOf(...cuts: readonly (readonly [start: number, end: number])[]): OffsetShift {
  const shift = new OffsetShift();
  for (const [start, end] of cuts) shift.cut(start, end);
  return shift;
}

describe('OffsetShift', () => {
  it('moves nothing before the first cut', () => {
    expect(shiftOf().removedSince(12)).toBe(0);
  });

  it('counts what was cut behind a base, and nothing that was cut before it', () => {
    const shift = shiftOf([12, 100], [150, 160]);
    expect(shift.removedSince(100)).toBe(10);
    expect(shift.removedSince(149)).toBe(10);
    expect(shift.removedSince(160)).toBe(0);
    expect(shift.removedSince(500)).toBe(0);
  });

  it('joins cuts that touch', () => {
    const shift = shiftOf([12, 20], [20, 30], [30, 50], [60, 61]);
    expect(shift.removedSince(11)).toBe(39);
    expect(shift.removedSince(50)).toBe(1);
  });

  it('knows which offsets are gone themselves', () => {
    const shift = shiftOf([12, 20], [20, 30], [60, 61]);
    for (const gone of [12, 19, 20, 29, 60]) expect(shift.removedSince(gone)).toBe(-1);
    expect(shift.removedSince(30)).toBe(1);
    expect(shift.removedSince(59)).toBe(1);
  });

  it('counts past 2^31', () => {
    const shift = shiftOf([20, 2 ** 32], [2 ** 33, 2 ** 33 + 5]);
    expect(shift.removedSince(2 ** 32)).toBe(5);
    expect(shift.removedSince(12)).toBe(2 ** 32 - 20 + 5);
  });

  it('remembers a bounded number of places', () => {
    const shift = new OffsetShift();
    for (let at = 0; at < MAX_CUTS; at++) shift.cut(12 + at * 20, 13 + at * 20);
    expect(() => shift.cut(1e9, 1e9 + 1)).toThrow(expect.objectContaining({ code: 'not-rewritable' }));
  });

  it('agrees with a count of removed bytes, for any run of entries', () => {
    const entry = fc.record({ bytes: fc.integer({ min: 1, max: 30 }), isCut: fc.boolean() });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), (entries) => {
        const shift = new OffsetShift();
        const kept: { oldOffset: number; newOffset: number }[] = [];
        let oldOffset = 12;
        let newOffset = 12;
        for (const { bytes, isCut } of entries) {
          for (const base of kept)
            expect(shift.removedSince(base.oldOffset)).toBe(
              oldOffset - base.oldOffset - (newOffset - base.newOffset),
            );
          if (isCut) shift.cut(oldOffset, oldOffset + bytes);
          else {
            kept.push({ oldOffset, newOffset });
            newOffset += bytes;
          }
          oldOffset += bytes;
        }
      }),
      runs(200),
    );
  });
});
