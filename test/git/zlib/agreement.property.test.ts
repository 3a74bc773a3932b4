/**
 * The walker against zlib itself, on whatever zlib writes and on what becomes of it when bytes are
 * changed.
 */
import { constants, deflateSync, inflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ZlibWalker } from '../../../src/git/zlib/zlib-walker.ts';
import { runs } from '../../support/runs.ts';
import { strangeBody } from './strange-streams.ts';
import { inflate, walk, walkContent } from './walk.ts';
import { exhaustive } from '../../support/exhaustive.ts';

/**
 * Pieces of content: bytes, words, one byte over and over, or a repetition of what stands before.
 */
type Piece =
  | { readonly bytes: Uint8Array }
  | { readonly text: string }
  | { readonly byte: number; readonly count: number }
  | { readonly back: number; readonly count: number };

const piece: fc.Arbitrary<Piece> = fc.oneof(
  fc.record({ bytes: fc.uint8Array({ maxLength: 300 }) }),
  fc.record({ text: fc.lorem({ maxCount: 60 }) }),
  fc.record({ byte: fc.nat(255), count: fc.nat(2_000) }),
  fc.record({ back: fc.integer({ min: 1, max: 33_000 }), count: fc.nat(1_000) }),
  // Enough that distances reach over a whole window, and blocks over a chunk.
  fc.record({ seed: fc.nat(), count: fc.nat(40_000), spread: fc.constantFrom(1, 4, 60, 255) }).map(scattered),
);

function scattered(shape: { seed: number; count: number; spread: number }): Piece {
  let state = shape.seed;
  const bytes = Uint8Array.from({ length: shape.count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 16) % (shape.spread + 1);
  });
  return { bytes };
}

function contentOf(pieces: readonly Piece[]): Uint8Array {
  const content: number[] = [];
  for (const part of pieces) {
    if ('bytes' in part) for (const byte of part.bytes) content.push(byte);
    else if ('text' in part) for (const byte of Buffer.from(part.text)) content.push(byte);
    else if ('byte' in part) for (let i = 0; i < part.count; i++) content.push(part.byte);
    else for (let i = 0; i < part.count; i++) content.push(content.at(-part.back) ?? i & 255);
  }
  return Uint8Array.from(content);
}

const stream = fc
  .record({
    content: fc.array(piece, { maxLength: 6 }).map(contentOf),
    level: fc.integer({ min: 0, max: 9 }),
    memLevel: fc.integer({ min: 1, max: 9 }),
    windowBits: fc.integer({ min: 9, max: 15 }),
    strategy: fc.constantFrom(
      constants.Z_DEFAULT_STRATEGY,
      constants.Z_FILTERED,
      constants.Z_HUFFMAN_ONLY,
      constants.Z_RLE,
      constants.Z_FIXED,
    ),
  })
  .map(({ content, ...options }) => ({ content, stream: new Uint8Array(deflateSync(content, options)) }));

/** From single bytes to everything at once; the sizes take turns. */
const chunkBytes = fc.oneof(
  fc.constant([1]),
  fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
  fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 5 }),
  fc.constant([1 << 20]),
);

interface Mutation {
  readonly at: number;
  readonly value: number;
  readonly count: number;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  /** In the first bytes, where the code lengths are, or anywhere. */
  at: fc.oneof(fc.nat(90), fc.nat(100_000)),
  value: fc.nat(255),
  /** Replace this many bytes; 0: flip the bits of `value` in one. */
  count: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 8 })),
});

function mutated(bytes: Uint8Array, mutations: readonly Mutation[]): Uint8Array {
  const result = bytes.slice();
  for (const { at, value, count } of mutations) {
    const index = at % result.length;
    if (count === 0) result[index]! ^= value;
    for (let i = 0; i < count && index + i < result.length; i++) result[index + i] = value * (i + 1);
  }
  return result;
}

const keepsOf = (inflatedBytes: number): number[] => [
  0,
  Math.min(20, inflatedBytes),
  inflatedBytes >> 1,
  inflatedBytes,
];

describe('ZlibWalker and zlib', () => {
  const walker = new ZlibWalker();

  it('agree on every stream that zlib writes, in every chunking, with bytes behind it', exhaustive, () => {
    fc.assert(
      fc.property(
        stream,
        chunkBytes,
        fc.uint8Array({ maxLength: 20 }),
        ({ content, stream: sound }, sizes, rest) => {
          const followed = Uint8Array.from([...sound, ...rest]);
          for (const keepBytes of keepsOf(content.length)) {
            const outcome = walk(walker, followed, {
              inflatedBytes: content.length,
              keepBytes,
              chunkBytes: sizes,
            });
            expect(outcome.ends).toBe(true);
            if (!outcome.ends) return;
            expect([outcome.consumed, outcome.produced]).toEqual([sound.length, content.length]);
            expect(Buffer.compare(outcome.kept, content.subarray(0, keepBytes))).toBe(0);
          }
        },
      ),
      runs(30),
    );
  });

  it('agree on the content of every stream, passed on in pieces', () => {
    fc.assert(
      fc.property(stream, chunkBytes, ({ content, stream: sound }, sizes) => {
        const outcome = walkContent(walker, sound, { inflatedBytes: content.length, chunkBytes: sizes });
        expect(outcome.ends).toBe(true);
        if (!outcome.ends) return;
        expect([outcome.consumed, outcome.produced]).toEqual([sound.length, content.length]);
        expect(Buffer.compare(outcome.kept, content)).toBe(0);
      }),
      runs(30),
    );
  });

  it('agree on content that is many times as long as the window', exhaustive, () => {
    fc.assert(
      fc.property(stream, fc.nat(9), fc.integer({ min: 500, max: 50_000 }), ({ content }, level, size) => {
        const long = new Uint8Array(300_000).map((_, at) => content[at % (content.length + 1)] ?? at >> 8);
        const sound = new Uint8Array(deflateSync(long, { level }));
        const outcome = walkContent(walker, sound, { inflatedBytes: long.length, chunkBytes: [size] });
        expect(outcome.ends && Buffer.compare(outcome.kept, long)).toBe(0);
      }),
      runs(12),
    );
  });

  it('agree on content with changed bytes: it is the same, or refused', exhaustive, () => {
    fc.assert(
      fc.property(
        stream,
        chunkBytes,
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        (sound, sizes, changes) => {
          const changed = mutated(sound.stream, changes);
          const told = inflate(changed);
          const inflatedBytes = told.ends ? told.produced : sound.content.length;
          const outcome = walkContent(walker, changed, { inflatedBytes, chunkBytes: sizes });
          if (told.ends) expect(outcome).toEqual({ ...told, kept: new Uint8Array(told.kept) });
          // The checksum of content that passes by is the host's to check.
          else if (outcome.ends) expect(told.reason).toMatch(/incorrect data check/);
        },
      ),
      runs(50),
    );
  });

  it('agree on streams with changed bytes, and on where they end', exhaustive, () => {
    fc.assert(
      fc.property(
        stream,
        fc.array(mutation, { minLength: 1, maxLength: 4 }),
        chunkBytes,
        ({ content, stream: sound }, mutations, sizes) => {
          agree(walker, mutated(sound, mutations), content.length, sizes);
        },
      ),
      runs(50),
    );
  });

  it('agree on streams that are cut off, or go on with other bytes', exhaustive, () => {
    fc.assert(
      fc.property(
        stream,
        fc.nat(),
        fc.uint8Array({ maxLength: 40 }),
        chunkBytes,
        (written, cut, rest, sizes) => {
          const { content, stream: sound } = written;
          const begin = sound.subarray(0, cut % sound.length);
          agree(walker, Uint8Array.from([...begin, ...rest]), content.length, sizes);
        },
      ),
      runs(40),
    );
  });

  it('agree on codes and symbols that no compressor would choose', () => {
    fc.assert(
      fc.property(fc.nat(), fc.uint8Array({ maxLength: 300 }), chunkBytes, (seed, rest, sizes) => {
        const body = strangeBody(seed);
        const raw = body.zlib().subarray(2, -4);
        const content = rawContent(raw);
        agree(walker, Uint8Array.from([...body.zlib(content), ...rest]), content.length, sizes);
      }),
      runs(40),
    );
  });

  it('agree on blocks of any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(7), chunkBytes, (bytes, type, sizes) => {
        bytes[0] = ((bytes[0] ?? 0) & 0xf8) | type;
        agree(walker, Uint8Array.from([0x78, 0x9c, ...bytes]), 100, sizes);
      }),
      runs(70),
    );
  });
});

/** The content of a sound body; nothing for an unsound one. */
function rawContent(raw: Uint8Array): Uint8Array {
  try {
    return inflateRawSync(raw);
  } catch {
    return new Uint8Array(0);
  }
}

/**
 * Compares with zlib. A stream that zlib accepts must be accepted in every way of keeping, and one
 * that it refuses refused, but for a wrong checksum of content that is not kept. `declared` is a
 * size to try when zlib tells none.
 */
function agree(walker: ZlibWalker, bytes: Uint8Array, declared: number, sizes: readonly number[]): void {
  const expected = inflate(bytes);
  if (expected.ends) {
    const inflatedBytes = expected.produced;
    for (const keepBytes of keepsOf(inflatedBytes)) {
      const outcome = walk(walker, bytes, { inflatedBytes, keepBytes, chunkBytes: sizes });
      expect(outcome.ends).toBe(true);
      if (!outcome.ends) return;
      expect([outcome.consumed, outcome.produced]).toEqual([expected.consumed, expected.produced]);
      expect(Buffer.compare(outcome.kept, expected.kept.subarray(0, keepBytes))).toBe(0);
    }
    return;
  }
  const isOnlyChecksum = expected.reason === 'incorrect data check';
  // With a size beyond all that the bytes can hold, a sound stream is walked to its end and its
  // length is learnt.
  walk(walker, bytes, { inflatedBytes: 2 ** 40 });
  for (const inflatedBytes of new Set([declared, walker.produced])) {
    for (const keepBytes of keepsOf(inflatedBytes)) {
      const outcome = walk(walker, bytes, { inflatedBytes, keepBytes, chunkBytes: sizes });
      if (outcome.ends) expect([isOnlyChecksum, keepBytes < inflatedBytes]).toEqual([true, true]);
    }
  }
}
