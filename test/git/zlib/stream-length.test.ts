/**
 * How long a stream may be for what it holds: as long as any compressor writes it, and no longer.
 */
import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FREE_DYNAMIC_BLOCKS } from '../../../src/git/pack/memory-limits.ts';
import { ZlibWalker } from '../../../src/git/zlib/zlib-walker.ts';
import { buildPack, type Entry } from '../../support/pack-builder.ts';
import { runs } from '../../support/runs.ts';
import { scan } from '../../support/scan.ts';
import { DeflateWriter, lengthsOf } from './deflate-writer.ts';
import { walk } from './walk.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const { Z_SYNC_FLUSH, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_FILTERED, Z_DEFAULT_STRATEGY } = constants;
const EMPTY_CODES = { literals: lengthsOf(257, { 256: 1 }), distances: [1] };
const EMPTY_BLOCK = {
  ...EMPTY_CODES,
  written: [[18, 127], [18, 107], 1, 1] as const,
  codeLengths: lengthsOf(19, { 1: 1, 18: 1 }),
};

function emptyBlocks(count: number): Uint8Array {
  const writer = new DeflateWriter();
  for (let i = 1; i <= count; i++) writer.dynamic(i === count, EMPTY_BLOCK).endOfBlock();
  return writer.zlib();
}

/** One stream that was flushed after each piece. */
function flushed(pieces: readonly Uint8Array[], level: number, strategy: number): Uint8Array {
  const options = { level, strategy, finishFlush: Z_SYNC_FLUSH };
  const ended = deflateSync(Buffer.concat(pieces));
  return Buffer.concat([
    ended.subarray(0, 2),
    ...pieces.map((piece) => deflateRawSync(piece, options)),
    deflateRawSync(Buffer.alloc(0)),
    ended.subarray(-4),
  ]);
}

const blobs = (count: number, content: Uint8Array, stream: Uint8Array): Uint8Array =>
  buildPack(Array.from({ length: count }, (): Entry => ({ type: 'blob', content, stream }))).bytes;

describe('ZlibWalker', () => {
  const walker = new ZlibWalker();

  it('takes what zlib writes in any way, flushed after every few bytes', () => {
    const pieces = fc.array(fc.uint8Array({ minLength: 9, maxLength: 400, size: 'max' }), { maxLength: 300 });
    const strategy = fc.constantFrom(Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_FILTERED);
    fc.assert(
      fc.property(pieces, fc.integer({ min: 0, max: 9 }), strategy, (content, level, chosen) => {
        const stream = flushed(content, level, chosen);
        const inflatedBytes = Buffer.concat(content).byteLength;
        expect(walk(walker, stream, { inflatedBytes })).toMatchObject({
          ends: true,
          consumed: stream.byteLength,
        });
      }),
      runs(35),
    );
  });

  it('refuses a megabyte of empty blocks after the first two kilobytes', () => {
    // Eight of them fill 93 bytes.
    const eight = emptyBlocks(9).subarray(2, 95);
    const stream = Uint8Array.from([0x78, 0x9c, ...Array.from({ length: 12_000 }, () => [...eight]).flat()]);
    expect(stream.byteLength).toBeGreaterThan(1_000_000);
    walker.begin(500);
    expect(walker.walk(stream.slice(0, 2000), 0, 2000)).toBe(2000);
    expect(() => walker.walk(stream.slice(2000), 0, stream.byteLength - 2000)).toThrow(
      'too long for its declared size',
    );
    expect(walker.dynamicBlocks).toBeLessThan(200);
  });

  it('refuses them in any chunks', () => {
    const outcome = walk(walker, emptyBlocks(200), { inflatedBytes: 0, chunkBytes: [1, 7, 50] });
    expect(outcome).toMatchObject({ ends: false, reason: expect.stringContaining('too long') as string });
  });
});

describe('PackScanner', exhaustive, () => {
  it('refuses a pack that consists of codes', () => {
    const stream = emptyBlocks(50);
    const pack = blobs(FREE_DYNAMIC_BLOCKS / 25, Buffer.alloc(0), stream);
    expect(() => scan([pack])).toThrow('far too small blocks');
  });

  it('takes a pack of many small files, each with a code of its own', () => {
    let state = 1;
    const content = Uint8Array.from({ length: 60 }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return 97 + ((state >>> 16) % (1 + ((state >>> 24) % 12)));
    });
    const stream = deflateSync(content);
    // Its first block is dynamic.
    expect((stream[2] ?? 0) & 6).toBe(4);
    const files = FREE_DYNAMIC_BLOCKS + 20_000;
    const pack = blobs(files, content, stream);
    expect(() => scan([pack])).not.toThrow();
    // Compressed once more, enough of it may arrive for its entries, and not for its codes.
    const arrived = { bytes: 8 * files };
    expect(() => scan([pack], undefined, 'history', arrived)).toThrow('far too small blocks');
  });
});
