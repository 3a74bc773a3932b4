/**
 * Sound streams made by hand, in every chunking and every way of keeping: as long as they should
 * be, as zlib has them.
 */
import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ZlibWalker } from '../../../src/git/zlib/zlib-walker.ts';
import { DeflateWriter, lengthsOf } from './deflate-writer.ts';
import { walk } from './walk.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const NONE = [0, 0] as const;
const CHUNK_BYTES = [1, 3, 64, 1 << 20];

const counted = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => (i * 7 + (i >> 8)) & 255);

const onlyEndOfBlock = { literals: lengthsOf(257, { 256: 1 }), distances: [0] };
const oneDistance = {
  literals: lengthsOf(286, { 65: 2, 256: 2, 257: 2, 285: 2 }),
  distances: [1],
};
/**
 * Each code one bit longer than the one before: the longest have fifteen bits and need subtables.
 */
const steepLiterals = Object.fromEntries([...Array(13).keys()].map((i) => [97 + i, i + 1]));
const steepDistances = Object.fromEntries([...Array(14).keys()].map((i) => [i, i + 1]));
const steep = {
  literals: lengthsOf(286, { ...steepLiterals, 256: 14, 257: 15, 285: 15 }),
  distances: lengthsOf(30, { ...steepDistances, 28: 15, 29: 15 }),
};

const CASES: Record<string, readonly [body: DeflateWriter, inflatedBytes: number]> = {
  'an empty fixed block': [new DeflateWriter().fixed(true).endOfBlock(), 0],
  'an empty stored block': [new DeflateWriter().stored(true, []), 0],
  'a stored block': [new DeflateWriter().stored(true, [1, 2, 3]), 3],
  'the longest stored block, and another': [
    new DeflateWriter().stored(false, counted(65_535)).stored(true, [9]),
    65_536,
  ],
  'all literals in a fixed block': [
    new DeflateWriter()
      .fixed(true)
      .literal(...Array(256).keys())
      .endOfBlock(),
    256,
  ],
  'a match that overlaps itself': [
    new DeflateWriter().fixed(true).literal(7, 8).match(265, [1, 1], 1, NONE).endOfBlock(),
    14,
  ],
  'length 258 by its own code': [
    new DeflateWriter().fixed(true).literal(7).match(285, NONE, 0, NONE).endOfBlock(),
    259,
  ],
  'length 258 by extra bits': [
    new DeflateWriter().fixed(true).literal(7).match(284, [31, 5], 0, NONE).endOfBlock(),
    259,
  ],
  'a distance to the very first byte': [
    new DeflateWriter().fixed(true).literal(1, 2, 3, 4, 5, 6).match(257, NONE, 4, [1, 1]).endOfBlock(),
    9,
  ],
  'the largest distance': [
    new DeflateWriter()
      .stored(false, counted(32_768))
      .fixed(true)
      .match(258, NONE, 29, [8191, 13])
      .endOfBlock(),
    32_772,
  ],
  'a block without any distance code': [new DeflateWriter().dynamic(true, onlyEndOfBlock).endOfBlock(), 0],
  'a block with one distance code': [
    new DeflateWriter().dynamic(true, oneDistance).literal(65).match(285, NONE, 0, NONE).endOfBlock(),
    259,
  ],
  'distances far behind the window': [
    new DeflateWriter()
      .stored(false, counted(60_000))
      .fixed(true)
      .match(257, NONE, 0, NONE)
      .match(257, NONE, 29, [8191, 13])
      .literal(1)
      .endOfBlock(),
    60_007,
  ],
  'a copied code length that runs over into the distances': [
    new DeflateWriter()
      .dynamic(true, {
        literals: lengthsOf(259, { 255: 2, 256: 2, 257: 2, 258: 2 }),
        distances: [2, 2, 2, 2],
        codeLengths: lengthsOf(19, { 2: 2, 16: 2, 18: 1 }),
        written: [[18, 127], [18, 106], 2, 2, [16, 3]],
      })
      .literal(255, 255, 255)
      .match(258, NONE, 2, NONE)
      .endOfBlock(),
    7,
  ],
  'zeros that run over into the distances': [
    new DeflateWriter()
      .dynamic(true, {
        literals: lengthsOf(286, { 0: 1, 256: 1 }),
        distances: [0],
        codeLengths: lengthsOf(19, { 1: 1, 17: 2, 18: 2 }),
        written: [1, [18, 127], [18, 103], [17, 0], 1, [18, 19]],
      })
      .literal(0, 0)
      .endOfBlock(),
    2,
  ],
  'empty blocks of all types between others': [
    new DeflateWriter()
      .fixed(false)
      .literal(1)
      .endOfBlock()
      .stored(false, [])
      .dynamic(false, onlyEndOfBlock)
      .endOfBlock()
      .fixed(false)
      .endOfBlock()
      .dynamic(false, oneDistance)
      .match(257, NONE, 0, NONE)
      .endOfBlock()
      .stored(true, [2]),
    5,
  ],
};

// Literal 97 has one bit: so many of them begin the far matches at each bit of a byte.
for (let bit = 0; bit < 8; bit++) {
  const body = new DeflateWriter()
    .stored(false, counted(32_768))
    .dynamic(true, steep)
    .literal(...Object.keys(steepLiterals).map(Number), ...Array.from({ length: bit }, () => 97))
    .match(285, NONE, 29, [8191, 13])
    .match(257, NONE, 13, [31, 5])
    .match(285, NONE, 28, [5461, 13])
    .endOfBlock();
  CASES[`codes of fifteen bits, ${bit} bits on`] = [body, 32_768 + 13 + bit + 258 + 3 + 258];
}

describe('ZlibWalker', () => {
  describe.each(Object.entries(CASES))('walks %s', exhaustive, (_, [body, inflatedBytes]) => {
    const content = inflateRawSync(body.zlib().subarray(2, -4));
    const stream = body.zlib(content);
    // Behind a stream the next one begins; with much behind it, the fast loops see all of it.
    const followed = Uint8Array.from([...stream, ...counted(1_000)]);

    it.each(CHUNK_BYTES)('in chunks of %i bytes', (chunkBytes) => {
      const walker = new ZlibWalker();
      for (const keepBytes of new Set([0, 1, inflatedBytes >> 1, inflatedBytes])) {
        if (keepBytes > inflatedBytes) continue;
        const outcome = walk(walker, followed, { inflatedBytes, keepBytes, chunkBytes: [chunkBytes] });
        expect(outcome).toEqual({
          ends: true,
          consumed: stream.length,
          produced: inflatedBytes,
          kept: new Uint8Array(content.subarray(0, keepBytes)),
        });
      }
    });
  });

  it('leaves bits before a stored block and before the checksum unread, as zlib does', () => {
    const body = new DeflateWriter().bits(0b11111_000, 8).bits(0, 16).bits(0xffff, 16);
    const last = body.fixed(true).endOfBlock().bits(0b111111, 6);
    expect(walk(new ZlibWalker(), last.zlib(), { inflatedBytes: 0 })).toMatchObject({
      ends: true,
      consumed: 13,
    });
  });

  it('takes any window that a header may name, whatever the distances are, as zlib does', () => {
    const [body, inflatedBytes] = CASES['the largest distance']!;
    const content = inflateRawSync(body.zlib().subarray(2, -4));
    for (let window = 0; window < 8; window++) {
      const cmf = (window << 4) | 8;
      const stream = body.zlib(content, [cmf, 31 - ((cmf * 256) % 31)]);
      expect(walk(new ZlibWalker(), stream, { inflatedBytes })).toMatchObject({ ends: true });
    }
  });

  it('goes on from any index of a chunk with the next stream', () => {
    const walker = new ZlibWalker();
    const streams = Object.values(CASES).map(([body, inflatedBytes]) => ({
      stream: body.zlib(inflateRawSync(body.zlib().subarray(2, -4))),
      inflatedBytes,
    }));
    const chunk = Uint8Array.from(streams.flatMap(({ stream }) => [...stream]));
    let at = 0;
    for (const { stream, inflatedBytes } of streams) {
      walker.begin(inflatedBytes);
      expect(walker.walk(chunk, at, chunk.length)).toBe(at + stream.length);
      expect(walker.done).toBe(true);
      at += stream.length;
    }
  });

  it('tells what it has produced before the stream ends', () => {
    const walker = new ZlibWalker();
    const stream = new DeflateWriter().stored(true, [1, 2, 3]).zlib(Uint8Array.of(1, 2, 3));
    walker.begin(3);
    expect(walker.walk(stream, 0, 9)).toBe(9);
    expect([walker.produced, walker.done]).toEqual([2, false]);
  });

  it('counts past 2^31', exhaustive, () => {
    // A length of 258 and a distance of 1 have codes of one bit, both 0: a byte of zeros is four
    // matches.
    const header = { literals: lengthsOf(286, { 0: 2, 256: 2, 285: 1 }), distances: [1] };
    const begin = new DeflateWriter().dynamic(true, header).literal(0).zlib().subarray(0, -4);
    const zeros = new Uint8Array(1 << 20);
    const walker = new ZlibWalker();
    walker.begin(2 ** 40);
    walker.walk(begin, 0, begin.length);
    const before = walker.produced;
    for (let i = 0; i < 3; i++) walker.walk(zeros, 0, zeros.length);
    expect(walker.produced - before).toBe(3 * zeros.length * 4 * 258);
    expect(walker.produced).toBeGreaterThan(2 ** 31);
  });
});
