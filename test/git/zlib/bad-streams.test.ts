/**
 * One unsound stream for each rule of the format; zlib must refuse it too, but for the lengths that
 * only we check.
 */
import { describe, expect, it } from 'vitest';
import { ZlibWalker } from '../../../src/git/zlib/zlib-walker.ts';
import { DeflateWriter, type DynamicHeader, lengthsOf } from './deflate-writer.ts';
import { TRUNCATED, inflate, walk, walkContent } from './walk.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const NONE = [0, 0] as const;

const sound = { literals: lengthsOf(257, { 65: 1, 256: 1 }), distances: [1, 1] };

const headed = (header: Partial<DynamicHeader>): Uint8Array =>
  new DeflateWriter().dynamic(true, { ...sound, ...header }).zlib();
const withHeader = (cmf: number, flags: number): Uint8Array =>
  new DeflateWriter().fixed(true).endOfBlock().zlib(new Uint8Array(0), [cmf, flags]);

const CASES: Record<string, readonly [reason: RegExp, stream: Uint8Array]> = {
  'a header whose check is wrong': [/header check/, withHeader(0x78, 0x9d)],
  'another method than DEFLATE': [/compression method/, withHeader(0x77, 0x85)],
  'a window of 64 KiB': [/window/, withHeader(0x88, 0x1c)],
  'a preset dictionary': [/dictionary/, withHeader(0x78, 0xbb)],
  'the fourth block type': [/block type/, new DeflateWriter().bits(7, 3).zlib()],
  'a stored length without its complement': [
    /stored block/,
    new DeflateWriter().stored(true, [1, 2], 0xfffc).zlib(),
  ],

  '287 literal and length codes': [/too many/, headed({ counts: [30, 1] })],
  '288 literal and length codes': [/too many/, headed({ counts: [31, 1] })],
  '31 distance codes': [/too many/, headed({ counts: [0, 30] })],
  '32 distance codes': [/too many/, headed({ counts: [0, 31] })],

  'an over-subscribed code length code': [
    /over-subscribed code length/,
    headed({ codeLengths: lengthsOf(19, { 0: 1, 1: 1, 2: 1 }), written: [] }),
  ],
  'an incomplete code length code': [
    /incomplete code length/,
    headed({ codeLengths: lengthsOf(19, { 0: 2, 1: 2, 2: 2 }), written: [] }),
  ],
  'a code length code with a single code': [
    /incomplete code length/,
    headed({ codeLengths: lengthsOf(19, { 1: 1 }), written: [] }),
  ],
  'a code length code without codes': [
    /incomplete code length/,
    headed({ codeLengths: lengthsOf(19, {}), written: [] }),
  ],
  'a repeat before the first code length': [
    /repeat/,
    headed({ codeLengths: lengthsOf(19, { 0: 1, 16: 1 }), written: [[16, 0]] }),
  ],
  'a repeat of a length past the last code': [
    /repeat/,
    headed({
      distances: [1, 1],
      codeLengths: lengthsOf(19, { 1: 2, 16: 2, 18: 1 }),
      written: [[18, 127], [18, 106], 1, 1, 1, [16, 0]],
    }),
  ],
  'a repeat of zeros past the last code': [
    /repeat/,
    headed({ codeLengths: lengthsOf(19, { 1: 1, 17: 2, 18: 2 }), written: [1, [18, 127], [18, 127]] }),
  ],
  'a short repeat of zeros past the last code': [
    /repeat/,
    headed({
      codeLengths: lengthsOf(19, { 1: 1, 17: 2, 18: 2 }),
      written: [1, [18, 127], [18, 106], 1, [17, 0]],
    }),
  ],

  'no code for the end of a block': [
    /end of a block/,
    headed({ literals: lengthsOf(257, { 65: 1, 66: 1 }) }),
  ],
  'an over-subscribed literal code': [
    /over-subscribed literal/,
    headed({ literals: lengthsOf(257, { 65: 1, 66: 1, 256: 1 }) }),
  ],
  'one literal code of fifteen bits too many': [
    /over-subscribed literal/,
    headed({
      literals: lengthsOf(257, {
        ...Object.fromEntries([...Array(15).keys()].map((i) => [65 + i, i + 1])),
        255: 15,
        256: 15,
      }),
    }),
  ],
  'an incomplete literal code': [
    /incomplete literal/,
    headed({ literals: lengthsOf(257, { 65: 2, 66: 2, 256: 2 }) }),
  ],
  'a single literal code of two bits': [
    /incomplete literal/,
    headed({ literals: lengthsOf(257, { 256: 2 }) }),
  ],
  'an over-subscribed distance code': [/over-subscribed distance/, headed({ distances: [1, 1, 1] })],
  'an incomplete distance code': [/incomplete distance/, headed({ distances: [2, 2, 2] })],
  'a single distance code of two bits': [/incomplete distance/, headed({ distances: [2] })],

  'the unused code beside a single literal code': [
    /invalid code/,
    new DeflateWriter()
      .dynamic(true, { ...sound, literals: lengthsOf(257, { 256: 1 }) })
      .bits(1, 1)
      .zlib(),
  ],
  'the unused code beside a single distance code': [
    /invalid code/,
    new DeflateWriter()
      .dynamic(true, { literals: lengthsOf(258, { 65: 1, 256: 2, 257: 2 }), distances: [1] })
      .literal(65, 257)
      .bits(1, 1)
      .zlib(),
  ],
  'a match in a block without distance codes': [
    /invalid code/,
    new DeflateWriter()
      .dynamic(true, { literals: lengthsOf(258, { 65: 1, 256: 2, 257: 2 }), distances: [0] })
      .literal(65, 257)
      .zlib(),
  ],
  'literal and length symbol 286': [
    /invalid code/,
    new DeflateWriter().fixed(true).literal(286).endOfBlock().zlib(),
  ],
  'literal and length symbol 287': [
    /invalid code/,
    new DeflateWriter().fixed(true).literal(287).endOfBlock().zlib(),
  ],
  'distance symbol 30': [
    /invalid code/,
    new DeflateWriter().fixed(true).literal(1).match(257, NONE, 30, NONE).endOfBlock().zlib(),
  ],
  'distance symbol 31': [
    /invalid code/,
    new DeflateWriter().fixed(true).literal(1).match(257, NONE, 31, NONE).endOfBlock().zlib(),
  ],

  'a match before any output': [
    /too far back/,
    new DeflateWriter().fixed(true).match(257, NONE, 0, NONE).endOfBlock().zlib(),
  ],
  'a distance of one more than there is': [
    /too far back/,
    new DeflateWriter().fixed(true).literal(1, 2, 3, 4).match(257, NONE, 4, [0, 1]).endOfBlock().zlib(),
  ],
  'a distance of one more than there is, after a match': [
    /too far back/,
    new DeflateWriter()
      .fixed(true)
      .literal(1)
      .match(257, NONE, 0, NONE)
      .match(285, NONE, 4, [0, 1])
      .endOfBlock()
      .zlib(),
  ],
  'the largest distance one byte too early': [
    /too far back/,
    new DeflateWriter()
      .stored(
        false,
        Array.from({ length: 32_767 }, () => 0),
      )
      .fixed(true)
      .match(257, NONE, 29, [8191, 13])
      .endOfBlock()
      .zlib(),
  ],
};

describe('ZlibWalker refuses', () => {
  describe.each(Object.entries(CASES))('%s', (_, [reason, stream]) => {
    it('as zlib does', () => {
      expect(inflate(stream)).toMatchObject({ ends: false });
    });

    it.each([1, 2, 5, 1 << 20])('in chunks of %i bytes, whatever is kept', exhaustive, (chunkBytes) => {
      const walker = new ZlibWalker();
      // With much behind it, the fast loops come upon what is wrong.
      const followed = Uint8Array.from([...stream, ...new Uint8Array(1_000)]);
      for (const keepBytes of [0, 1, 4, 50_000]) {
        for (const bytes of [stream, followed]) {
          const outcome = walk(walker, bytes, { inflatedBytes: 50_000, keepBytes, chunkBytes: [chunkBytes] });
          expect(outcome).toEqual({ ends: false, reason: expect.stringMatching(reason) as string });
        }
      }
    });
  });

  const lengths: Record<string, DeflateWriter> = {
    'five literals': new DeflateWriter().fixed(true).literal(1, 1, 1, 1, 1).endOfBlock(),
    'a match': new DeflateWriter().fixed(true).literal(1).match(258, NONE, 0, NONE).endOfBlock(),
    'a stored block': new DeflateWriter().stored(true, [1, 1, 1, 1, 1]),
    'a stored block and a fixed one': new DeflateWriter()
      .stored(false, [1, 1])
      .fixed(true)
      .literal(1, 1, 1)
      .endOfBlock(),
  };
  it.each(Object.entries(lengths))('%s of another length than declared', (_, body) => {
    const stream = body.zlib(Uint8Array.of(1, 1, 1, 1, 1));
    const walker = new ZlibWalker();
    for (const [inflatedBytes, ending] of [
      [0, 'longer'],
      [4, 'longer'],
      [6, 'shorter'],
      [2 ** 40, 'shorter'],
    ] as const) {
      const refused = {
        ends: false,
        reason: expect.stringContaining(`${ending} than its declared size`) as string,
      };
      for (const keepBytes of [0, Math.min(3, inflatedBytes), Math.min(6, inflatedBytes)]) {
        expect(walk(walker, stream, { inflatedBytes, keepBytes })).toEqual(refused);
      }
      expect(walkContent(new ZlibWalker(), stream, { inflatedBytes })).toEqual(refused);
    }
    expect(walk(walker, stream, { inflatedBytes: 5 })).toMatchObject({ ends: true });
  });

  it('a wrong checksum when all content is kept, and only then', () => {
    const stream = new DeflateWriter().stored(true, [1, 2, 3]).zlib(Uint8Array.of(1, 2, 4));
    const walker = new ZlibWalker();
    expect(walk(walker, stream, { inflatedBytes: 3, keepBytes: 3 })).toMatchObject({
      reason: expect.stringContaining('incorrect checksum') as string,
    });
    expect(walk(walker, stream, { inflatedBytes: 3, keepBytes: 2 })).toMatchObject({ ends: true });
    expect(walk(walker, stream, { inflatedBytes: 3 })).toMatchObject({ ends: true });
  });

  it('output beyond the declared size before the stream ends', () => {
    // A megabyte for a kilobyte: what is refused must not be walked to its end first.
    const bomb = new DeflateWriter().fixed(true).literal(0);
    for (let i = 0; i < 4000; i++) bomb.match(285, NONE, 0, NONE);
    const stream = bomb.zlib().subarray(0, -8);
    for (const keepBytes of [0, 1, 100]) {
      const outcome = walk(new ZlibWalker(), stream, { inflatedBytes: 100, keepBytes, chunkBytes: [64] });
      expect(outcome).toMatchObject({ reason: /longer/ });
    }
  });

  it('no stream that is cut off: it waits for the rest', () => {
    const stream = new DeflateWriter()
      .dynamic(false, sound)
      .literal(65)
      .endOfBlock()
      .stored(true, [1, 2])
      .zlib(Uint8Array.of(65, 1, 2));
    for (let length = 0; length < stream.length; length++) {
      const outcome = walk(new ZlibWalker(), stream.subarray(0, length), { inflatedBytes: 3 });
      expect(outcome).toEqual({ ends: false, reason: TRUNCATED });
    }
  });
});

describe('ZlibWalker', () => {
  it('is as good as new after an error and the next begin()', () => {
    const walker = new ZlibWalker();
    const stream = new DeflateWriter().stored(true, [1]).zlib(Uint8Array.of(1));
    expect(walk(walker, Uint8Array.of(1, 2, 3), { inflatedBytes: 1 })).toMatchObject({ ends: false });
    expect(walker.done).toBe(false);
    expect(walk(walker, stream, { inflatedBytes: 1, keepBytes: 1 })).toMatchObject({ ends: true });
  });
});
