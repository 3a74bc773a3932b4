/** The scanner on a sound pack, in any pieces: what it keeps, and what it passes on untouched. */
import { describe, expect, it } from 'vitest';
import { CHUNKINGS, piecesOf } from '../../support/byte-chunks.ts';
import { commitContent, oidNumber, tagContent, treeContent } from '../../support/objects.ts';
import { buildPack, deltaSize, type Entry, makeDelta, oidOf } from '../../support/pack-builder.ts';
import { scan } from '../../support/scan.ts';
import * as fc from 'fast-check';
import { MAX_CUTS } from '../../../src/git/pack/memory-limits.ts';
import { OffsetShift } from '../../../src/git/pack/offset-shift.ts';
import { runs } from '../../support/runs.ts';

const MiB = 1024 * 1024;
const COMMIT = commitContent({ message: 'first\n' });
const SECOND = commitContent({ message: 'second\n', parents: [oidOf('commit', COMMIT)] });
const THIRD = commitContent({ message: 'third\n', parents: [oidOf('commit', SECOND)] });
const TAG = tagContent(oidOf('commit', THIRD));
const BLOB = Buffer.from('content of a file\n'.repeat(50));
const OTHER_BLOB = Buffer.from(`${'content of a file\n'.repeat(40)}and an end\n`);
const TREE = treeContent([{ name: 'file', oid: oidOf('blob', BLOB) }]);

const whole = (type: 'commit' | 'tree' | 'blob' | 'tag', content: Uint8Array): Entry => ({ type, content });

describe.each(CHUNKINGS)('a scan of %s chunks', (_, cut) => {
  it('keeps commits and tags, whole and as deltas of both kinds, in their order', () => {
    const { bytes } = buildPack([
      whole('commit', COMMIT),
      { type: 'ofs-delta', base: 0, delta: makeDelta(COMMIT, SECOND) },
      { type: 'ref-delta', base: oidOf('commit', SECOND), delta: makeDelta(SECOND, THIRD) },
      whole('tag', TAG),
      { type: 'ofs-delta', base: 3, delta: makeDelta(TAG, Buffer.concat([TAG, TAG])) },
    ]);
    const { kept, passed, refDeltaBases } = scan(cut(bytes));
    expect(kept.map(({ type, oid, content }) => [type, oid, Buffer.from(content)])).toEqual([
      ['commit', oidOf('commit', COMMIT), COMMIT],
      ['commit', oidOf('commit', SECOND), SECOND],
      ['commit', oidOf('commit', THIRD), THIRD],
      ['tag', oidOf('tag', TAG), TAG],
      ['tag', oidOf('tag', Buffer.concat([TAG, TAG])), Buffer.concat([TAG, TAG])],
    ]);
    expect(passed).toHaveLength(0);
    expect(refDeltaBases).toEqual([]);
  });

  it('keeps trees, blobs and their deltas, too, if all objects are wanted', () => {
    const { bytes } = buildPack([
      whole('blob', BLOB),
      whole('commit', COMMIT),
      { type: 'ofs-delta', base: 0, delta: makeDelta(BLOB, OTHER_BLOB) },
      whole('tree', TREE),
      { type: 'ref-delta', base: oidOf('tree', TREE), delta: makeDelta(TREE, Buffer.concat([TREE, TREE])) },
    ]);
    const { kept, passed } = scan(cut(bytes), undefined, 'everything');
    expect(kept.map(({ type, oid, content }) => [type, oid, Buffer.from(content)])).toEqual([
      ['blob', oidOf('blob', BLOB), BLOB],
      ['commit', oidOf('commit', COMMIT), COMMIT],
      ['blob', oidOf('blob', OTHER_BLOB), OTHER_BLOB],
      ['tree', oidOf('tree', TREE), TREE],
      ['tree', oidOf('tree', Buffer.concat([TREE, TREE])), Buffer.concat([TREE, TREE])],
    ]);
    expect(passed).toHaveLength(0);
  });

  it('passes trees, blobs and their deltas on as they came, without the commits', () => {
    const delta = makeDelta(BLOB, OTHER_BLOB);
    const { bytes, offsets } = buildPack([
      whole('commit', COMMIT),
      whole('tree', TREE),
      whole('blob', BLOB),
      { type: 'ofs-delta', base: 2, delta },
      { type: 'ref-delta', base: oidNumber(1), delta },
    ]);
    const { kept, passed, refDeltaBases } = scan(cut(bytes));
    expect(kept).toHaveLength(1);
    expect(passed.equals(bytes.subarray(offsets[1], -20))).toBe(true);
    expect(refDeltaBases).toEqual([oidNumber(1)]);
  });

  it('corrects the distance of a delta whose base stands on the other side of a commit', () => {
    const delta = makeDelta(BLOB, OTHER_BLOB);
    const mixed: Entry[] = [
      whole('blob', BLOB),
      whole('commit', COMMIT),
      { type: 'ofs-delta', base: 0, delta },
      whole('tag', TAG),
      { type: 'ofs-delta', base: 2, delta: makeDelta(OTHER_BLOB, BLOB) },
      { type: 'ofs-delta', base: 4, delta },
    ];
    const expected = buildPack([
      whole('blob', BLOB),
      { type: 'ofs-delta', base: 0, delta },
      { type: 'ofs-delta', base: 1, delta: makeDelta(OTHER_BLOB, BLOB) },
      { type: 'ofs-delta', base: 2, delta },
    ]);
    const { passed } = scan(cut(buildPack(mixed).bytes));
    expect(passed.equals(expected.bytes.subarray(12, -20))).toBe(true);
  });

  it('takes a pack without objects', () => {
    expect(scan(cut(buildPack([]).bytes))).toMatchObject({ kept: [], passedRuns: 0 });
  });

  it('takes objects of no bytes', () => {
    const { bytes } = buildPack([whole('blob', Buffer.alloc(0)), whole('tree', Buffer.alloc(0))]);
    expect(scan(cut(bytes)).passed.equals(bytes.subarray(12, -20))).toBe(true);
  });

  it('takes streams that end their last block late, and blocks of every kind', () => {
    const entries = [0, 1, 6, 9].map((level): Entry => ({ type: 'blob', content: BLOB, zlib: { level } }));
    const { bytes } = buildPack(entries);
    expect(scan(cut(bytes)).passed.equals(bytes.subarray(12, -20))).toBe(true);
  });
});

describe('a scan', () => {
  it('hands a chunk of passed entries on in one piece', () => {
    const blobs = Array.from({ length: 200 }, (_, index) => whole('blob', Buffer.from(`blob ${index}`)));
    const { bytes } = buildPack([whole('commit', COMMIT), ...blobs]);
    expect(scan([bytes]).passedRuns).toBe(1);
    const pieces = piecesOf(bytes, 1000);
    // Where a chunk ends inside a header, the header is a piece of its own.
    expect(scan(pieces).passedRuns).toBeLessThanOrEqual(2 * pieces.length);
  });

  it('finds a commit again by its id only if it is one: a blob of the same bytes is none', () => {
    const { bytes } = buildPack([
      whole('blob', COMMIT),
      { type: 'ref-delta', base: oidOf('blob', COMMIT), delta: makeDelta(COMMIT, SECOND) },
    ]);
    const { kept, refDeltaBases } = scan([bytes]);
    expect(kept).toEqual([]);
    expect(refDeltaBases).toEqual([oidOf('blob', COMMIT)]);
  });
});

const scanArrived = (bytes: Uint8Array, arrivedBytes: number) =>
  scan(piecesOf(bytes, 1_000), undefined, 'history', { bytes: arrivedBytes });

describe('a pack that was compressed once more', () => {
  it('has an entry for each eight bytes that have arrived, and no more', () => {
    const { bytes } = buildPack(Array.from({ length: 1_000 }, () => whole('blob', Buffer.alloc(0))));
    expect(scan([bytes]).passed).toHaveLength(bytes.byteLength - 32);
    expect(() => scanArrived(bytes, 8 * 1_000)).not.toThrow();
    expect(() => scanArrived(bytes, 8 * 998)).toThrow('far more objects than fit into what was sent');
  });

  const stored = { zlib: { level: 0 } } as const;
  const delta = Buffer.concat([deltaSize(10), deltaSize(10), Buffer.alloc(MiB)]);

  it.each<[what: string, count: number, entry: Entry]>([
    ['files', 13, { ...whole('blob', Buffer.alloc(MiB)), ...stored }],
    ['deltas', 6, { type: 'ref-delta', base: oidNumber(1), delta, ...stored }],
  ])('inflates to what its sender may make of what has arrived: %s', (_, count, entry) => {
    const { bytes } = buildPack(Array.from({ length: count }, () => entry));
    expect(() => scanArrived(bytes, MiB)).not.toThrow();
    expect(() => scanArrived(bytes, 10_000)).toThrow('far larger than what Git sends of them');
  });
});

// How far entries move: against a model that remembers every removed byte.

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
      runs(70),
    );
  });
});
