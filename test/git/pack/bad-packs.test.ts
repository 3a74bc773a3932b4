/**
 * Packs that lie, break off or want too much: each is refused at once, with the code that says what
 * is wrong.
 */
import { randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_KEPT_BYTES, MAX_OBJECT_BYTES } from '../../../src/git/pack/memory-limits.ts';
import { PackScanner } from '../../../src/git/pack/pack-scanner.ts';
import { ProtocolError, type ProtocolErrorCode } from '../../../src/git/wire/protocol-error.ts';
import { CHUNKINGS, piecesOf } from '../../support/byte-chunks.ts';
import { commitContent, EMPTY_TREE, oidNumber, tagContent, treeContent } from '../../support/objects.ts';
import {
  type BuiltPack,
  buildPack,
  copyInstruction,
  deltaSize,
  type Entry,
  makeDelta,
  oidOf,
  storedStream,
} from '../../support/pack-builder.ts';
import { scan } from '../../support/scan.ts';
import { runs } from '../../support/runs.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const COMMIT = commitContent();
const BLOB = Buffer.from('content of a file\n'.repeat(20));
const commit: Entry = { type: 'commit', content: COMMIT };
const blob: Entry = { type: 'blob', content: BLOB };
const bomb = deflateSync(Buffer.alloc(4 * 1024 * 1024));
const SOUND = buildPack([
  commit,
  { type: 'tree', content: treeContent([{ name: 'f', oid: oidOf('blob', BLOB) }]) },
  blob,
  { type: 'ofs-delta', base: 2, delta: makeDelta(BLOB, Buffer.concat([BLOB, BLOB])) },
]).bytes;

/** A delta that declares a result of `size` bytes; what follows does not matter. */
const deltaTo = (size: number, base: Uint8Array = BLOB) =>
  Buffer.concat([deltaSize(base.byteLength), deltaSize(size), copyInstruction(0, 1)]);

const changed = (at: number, byte: number) => {
  const bytes = Buffer.from(SOUND);
  bytes[at < 0 ? bytes.length + at : at] = byte;
  return bytes;
};

const LIES: readonly (readonly [what: string, code: ProtocolErrorCode, pack: Uint8Array | BuiltPack])[] = [
  ['half a commit', 'truncated-pack', SOUND.subarray(0, 60)],
  ['another signature', 'bad-pack', Buffer.from('JUNK'.repeat(10))],
  ['version 3', 'bad-pack', buildPack([blob], { version: 3 })],
  ['a wrong trailer', 'bad-pack', changed(-1, (SOUND.at(-1) as number) ^ 1)],
  ['one byte behind the trailer', 'bad-pack', buildPack([blob], { tail: Buffer.from([0]) })],
  ['a lower count than entries', 'bad-pack', buildPack([blob, blob], { count: 1 })],
  ['a higher count than entries', 'bad-pack', buildPack([blob], { count: 2, trailer: Buffer.alloc(40) })],
  [
    'a count of 2^32 - 1',
    'truncated-pack',
    buildPack([blob], { count: 2 ** 32 - 1, trailer: Buffer.alloc(0) }),
  ],
  ['a zlib header that is none', 'bad-pack', buildPack([{ ...blob, stream: Buffer.from('not zlib') }])],
  [
    'a commit whose checksum is wrong',
    'bad-pack',
    buildPack([{ ...commit, stream: Buffer.concat([deflateSync(COMMIT).subarray(0, -4), Buffer.alloc(4)]) }]),
  ],
  ['a size one too small', 'bad-pack', buildPack([{ ...blob, declaredSize: BLOB.length - 1 }])],
  ['a size one too large', 'bad-pack', buildPack([{ ...blob, declaredSize: BLOB.length + 1 }])],
  ['a commit of a smaller size', 'bad-pack', buildPack([{ ...commit, declaredSize: COMMIT.length - 1 }])],
  ['a commit of a larger size', 'bad-pack', buildPack([{ ...commit, declaredSize: COMMIT.length + 1 }])],
  [
    'a blob that says 10 bytes and inflates to 4 MiB',
    'bad-pack',
    buildPack([{ ...blob, declaredSize: 10, stream: bomb }]),
  ],
  [
    'a commit that says 10 bytes and inflates to 4 MiB',
    'bad-pack',
    buildPack([{ ...commit, declaredSize: 10, stream: bomb }]),
  ],
  [
    'a delta that says 10 bytes and inflates to 4 MiB',
    'bad-pack',
    buildPack([blob, { type: 'ofs-delta', base: 0, delta: deltaTo(5), declaredSize: 10, stream: bomb }]),
  ],
  [
    'a folder of 10 MiB and a byte',
    'too-large',
    buildPack([{ ...blob, type: 'tree', declaredSize: MAX_OBJECT_BYTES + 1 }]),
  ],
  [
    'a file of 10 MiB and a byte that it lacks',
    'bad-pack',
    buildPack([{ ...blob, declaredSize: MAX_OBJECT_BYTES + 1 }]),
  ],
  ['an object of 2^53 bytes', 'too-large', buildPack([{ ...blob, declaredSize: 2 ** 53 }])],
  [
    'a delta of 4 GiB',
    'too-large',
    buildPack([blob, { type: 'ofs-delta', base: 0, delta: deltaTo(5), declaredSize: 2 ** 32 }]),
  ],
  [
    'a delta of no bytes',
    'bad-pack',
    buildPack([blob, { type: 'ofs-delta', base: 0, delta: Buffer.alloc(0) }]),
  ],
  [
    'a base before the pack',
    'bad-pack',
    buildPack([blob, { type: 'ofs-delta', distance: 1000, delta: deltaTo(5) }]),
  ],
  [
    'a base in the pack header',
    'bad-pack',
    buildPack([{ type: 'ofs-delta', distance: 5, delta: deltaTo(5) }]),
  ],
  [
    'a delta that is its own base',
    'bad-pack',
    buildPack([blob, { type: 'ofs-delta', distance: 0, delta: deltaTo(5) }]),
  ],
  [
    'a commit delta of another base size',
    'bad-pack',
    buildPack([commit, { type: 'ofs-delta', base: 0, delta: makeDelta(BLOB, COMMIT) }]),
  ],
];

describe.each(CHUNKINGS)('in %s chunks', (_, cut) => {
  it.each(LIES)('a pack with %s is refused as %s', (__, code, pack) => {
    const bytes = pack instanceof Uint8Array ? pack : pack.bytes;
    expect(() => scan(cut(bytes))).toThrow(expect.objectContaining({ name: 'ProtocolError', code }));
  });
});

/** Ten bytes each, not compressed: the smallest that a pack can have. */
const tinyBlobs = (count: number): Entry[] => {
  const content = Buffer.from('x');
  const stream = deflateSync(content, { level: 9 });
  return Array.from({ length: count }, () => ({ type: 'blob', content, stream }));
};

function codeOf(pieces: readonly Uint8Array[]): string {
  try {
    scan(pieces);
    return 'sound';
  } catch (error) {
    return error instanceof ProtocolError ? error.code : String(error);
  }
}

function describeTinyBlobs(count: number): void {
  it(`of ${count} blobs of a byte passes in runs as long as its chunks`, () => {
    const { bytes } = buildPack(tinyBlobs(1_000));
    const entries = bytes.subarray(12, -20);
    const scanner = new PackScanner();
    const header = Buffer.from(bytes.subarray(0, 12));
    header.writeUInt32BE(count, 8);
    let [viewCount, passed] = [0, 0];
    for (let sent = 0; sent < count; sent += 1_000) {
      const chunk = new Uint8Array(sent === 0 ? Buffer.concat([header, entries]) : entries);
      const views = scanner.scan(chunk);
      viewCount += views.length;
      for (const { byteLength } of views) passed += byteLength;
    }
    expect(viewCount).toBeLessThanOrEqual(2 * (count / 1_000));
    expect(passed).toBe((count / 1_000) * entries.length);
    expect([scanner.namedBases.size, scanner.kept.entryCount]).toEqual([0, 0]);
  });
}

it.each([
  ['a file', [{ ...blob, content: Buffer.alloc(MAX_OBJECT_BYTES + 1) }]],
  ['a delta', [blob, { type: 'ofs-delta', base: 0, delta: deltaTo(MAX_OBJECT_BYTES + 1) }]],
] satisfies [string, Entry[]][])('%s over the limit passes, and is remembered by its size', (_, entries) => {
  const { bytes } = buildPack(entries);
  const scanner = new PackScanner();
  expect(Buffer.concat(scanner.scan(bytes))).toEqual(bytes.subarray(12, -20));
  scanner.finish();
  expect(scanner.largestBytes).toBe(MAX_OBJECT_BYTES + 1);
});

it('a file over the limit is refused at its end if far fewer bytes have come', () => {
  const large: Entry = { ...blob, content: Buffer.alloc(13 * 1024 * 1024) };
  const { bytes, offsets } = buildPack([large, blob]);
  expect(codeOf([bytes.subarray(0, offsets[1]! - 1)])).toBe('truncated-pack');
  expect(codeOf([bytes.subarray(0, offsets[1])])).toBe('too-large');
});

describe('a bad pack', () => {
  it('is refused before the bytes that it declares have come', () => {
    const { bytes, offsets } = buildPack([commit, { ...blob, declaredSize: 2 ** 33 }]);
    const upToTheSize = bytes.subarray(0, (offsets[1] as number) + 6);
    expect(() => scan([upToTheSize])).toThrow(expect.objectContaining({ code: 'too-large' }));
  });

  it('inflates no more than a file that is far larger than the pack', () => {
    const content = Buffer.alloc(9 * 1024 * 1024);
    const stream = deflateSync(content);
    const files = (count: number) =>
      buildPack(Array.from({ length: count }, () => ({ ...blob, declaredSize: content.length, stream })));
    expect(() => scan([files(1).bytes])).not.toThrow();
    expect(() => scan([files(2).bytes])).toThrow(expect.objectContaining({ code: 'too-large' }));
  });

  it('takes one delta that is far larger than the pack, and not two', () => {
    const copies = Buffer.alloc(4 * 1024 * 1024, copyInstruction(0, 1));
    const delta = Buffer.concat([deltaSize(1), deltaSize(copies.length / 2), copies]);
    const stream = deflateSync(delta);
    const deltas = (count: number) =>
      Array.from(
        { length: count },
        () => ({ type: 'ref-delta', base: oidNumber(1), delta, stream }) as const,
      );
    expect(() => scan([buildPack(deltas(1)).bytes])).not.toThrow();
    expect(() => scan([buildPack(deltas(2)).bytes])).toThrow(expect.objectContaining({ code: 'too-large' }));
  });

  it('stops a bomb where it passes its declared size, and does not inflate the rest', () => {
    const { bytes, offsets } = buildPack([{ ...blob, declaredSize: 10, stream: bomb }]);
    expect(() => scan([bytes.subarray(0, (offsets[0] as number) + 100)])).toThrow(
      expect.objectContaining({ code: 'bad-pack' }),
    );
  });

  it('keeps no more commits than its bound, though each is within the limit of an object', exhaustive, () => {
    const large = {
      type: 'commit',
      content: commitContent({ message: Buffer.alloc(9 * 1024 * 1024, 'x') }),
    } as const;
    const count = Math.ceil(MAX_KEPT_BYTES / large.content.byteLength);
    const { bytes } = buildPack(Array.from({ length: count }, () => large));
    expect(() => scan(piecesOf(bytes, 65_536))).toThrow(expect.objectContaining({ code: 'too-large' }));
  });

  it.each<[what: string, entries: (message: Buffer) => Entry[]]>([
    ['commits', (message) => [{ type: 'commit', content: commitContent({ message }) }]],
    ['a tag', (message) => [{ type: 'tag', content: tagContent(oidNumber(1), 'v1', message) }]],
    [
      'a commit that is a delta',
      (message) => {
        const base = commitContent({ message: 'x'.repeat(60_000) });
        const copies = Array.from({ length: Math.ceil(message.length / 60_000) }, () =>
          copyInstruction(0, 60_000),
        );
        const size = 60_000 * copies.length;
        const delta = Buffer.concat([deltaSize(base.length), deltaSize(size), ...copies]);
        return [
          { type: 'commit', content: base },
          { type: 'ofs-delta', base: 0, delta },
        ];
      },
    ],
  ])('that makes megabytes of history of kilobytes is refused: %s', (_, entries) => {
    const sized = (bytes: number) => buildPack(entries(Buffer.alloc(bytes, 'x'))).bytes;
    const [most, over] = [sized(900_000), sized(1_150_000)];
    expect(over.length).toBeLessThan(20_000);
    expect(() => scan([most], undefined, 'history', { bytes: most.length })).not.toThrow();
    expect(() => scan([over], undefined, 'history', { bytes: over.length })).toThrow(
      expect.objectContaining({ code: 'too-large' }),
    );
  });

  it('is refused when it holds very many commits, however small: each costs more than its content', () => {
    const entries = Array.from({ length: 2000 }, (_, index): Entry => {
      const content = Buffer.from(`tree ${EMPTY_TREE}\n${index}`);
      return { type: 'commit', content, stream: storedStream(content) };
    });
    const { bytes } = buildPack(entries);
    expect(() => scan([bytes], 2 * bytes.length)).toThrow(expect.objectContaining({ code: 'too-large' }));
  });

  it('that multiplies a commit by deltas is held to the same bound', exhaustive, () => {
    const base = commitContent({ message: Buffer.alloc(9 * 1024 * 1024, 'x') });
    const delta = makeDelta(base, base);
    const entries: Entry[] = [{ type: 'commit', content: base }];
    for (let i = 0; i < 4; i++) entries.push({ type: 'ofs-delta', base: 0, delta });
    expect(() => scan([buildPack(entries).bytes])).toThrow(expect.objectContaining({ code: 'too-large' }));
  });

  it('that alternates entries that shrink with others inflates to no more than is paid for', () => {
    const MiB = 1024 * 1024;
    const cheap: Entry = { type: 'blob', content: Buffer.alloc(MiB) };
    const costly: Entry = { type: 'blob', content: randomBytes(10_000) };
    const pairs = Array.from({ length: 60 }, () => [cheap, costly]).flat();
    const { bytes, offsets } = buildPack(pairs);
    const refusedAt = offsets.findIndex((_, entry) => {
      const upTo = bytes.subarray(0, offsets[entry + 1] ?? bytes.length);
      return codeOf([upTo]) !== 'truncated-pack' && entry < pairs.length - 1;
    });
    expect(codeOf([bytes])).toBe('too-large');
    const inflated = (refusedAt / 2) * (MiB + 10_000);
    expect(inflated).toBeLessThanOrEqual(13 * MiB + 16 * (offsets[refusedAt] as number));
  });

  it('that alternates commits and files remembers a bounded number of places', () => {
    const entries = Array.from({ length: 3_000 }, (_, at): Entry[] => {
      const content = Buffer.from(`tree ${EMPTY_TREE}\n${at}`);
      return [
        { type: 'commit', content, stream: storedStream(content) },
        { type: 'blob', content: Buffer.from('x') },
      ];
    }).flat();
    const { bytes } = buildPack(entries);
    // Each commit costs 768 bytes besides its content: they end it long before the places do.
    expect(() => scan([bytes], 2_000_000)).toThrow(expect.objectContaining({ code: 'too-large' }));
  });

  describeTinyBlobs(100_000);
  describe('as large as a push may be', exhaustive, () => describeTinyBlobs(10_000_000));

  it('is refused when any one byte is changed: the trailer covers all of them', () => {
    fc.assert(
      fc.property(fc.nat(SOUND.length - 1), fc.integer({ min: 1, max: 255 }), (at, difference) => {
        const bytes = Buffer.from(SOUND);
        bytes[at] = (bytes[at] as number) ^ difference;
        expect(() => scan([bytes])).toThrow(expect.objectContaining({ name: 'ProtocolError' }));
      }),
      runs(100),
    );
  });

  it('is refused wherever it is cut off', () => {
    for (let length = 0; length < SOUND.length; length++)
      expect(() => scan([SOUND.subarray(0, length)])).toThrow(
        expect.objectContaining({ code: 'truncated-pack' }),
      );
  });

  it('is refused, whatever bytes follow its header', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 5 }), (bytes, count) => {
        const header = Buffer.from([...Buffer.from('PACK'), 0, 0, 0, 2, 0, 0, 0, count]);
        expect(() => scan([header, bytes])).toThrow(expect.objectContaining({ name: 'ProtocolError' }));
      }),
      runs(100),
    );
  });

  it('gives the same answer in any pieces', () => {
    fc.assert(
      fc.property(fc.nat(SOUND.length - 21), fc.nat(255), (at, byte) => {
        const bytes = changed(at, byte);
        const answers = CHUNKINGS.map(([, cut]) => codeOf(cut(bytes)));
        expect(new Set(answers).size).toBe(1);
      }),
      runs(35),
    );
  });
});
