/**
 * Compressed bodies: sound ones in every shape, damaged ones, and bombs, of which no more is
 * inflated than is read.
 */
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChunkSource } from '../../../src/git/wire/byte-reader.ts';
import { BodyError } from '../../../src/streams/body-error.ts';
import { LimitedSource } from '../../../src/streams/body.ts';
import { gunzipped } from '../../../src/git/zlib/gunzip.ts';
import { CHUNKINGS, PiecesSource, piecesOf, randomPieces } from '../../support/byte-chunks.ts';
import { runs } from '../../support/runs.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const MiB = 1024 * 1024;
const TEXT = Buffer.from('A line of the push.\n'.repeat(20_000));
const GZIP = gzipSync(TEXT);

async function readAll(source: ChunkSource): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let chunk = await source.read(); chunk !== null; chunk = await source.read())
    chunks.push(chunk.slice());
  return Buffer.concat(chunks);
}

const damaged = (cause: unknown) => new BodyError('damaged', cause);
const inflate = (pieces: readonly Uint8Array[]) => readAll(gunzipped(new PiecesSource(pieces), damaged));

describe.each(CHUNKINGS)('a gzip body in %s chunks', (_, cut) => {
  it('is inflated', async () => {
    expect((await inflate(cut(GZIP))).equals(TEXT)).toBe(true);
  });

  it('may have several members, and zeros behind them', async () => {
    const two = Buffer.concat([GZIP, gzipSync(Buffer.from('more')), Buffer.alloc(100)]);
    expect((await inflate(cut(two))).equals(Buffer.concat([TEXT, Buffer.from('more')]))).toBe(true);
  });

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['no gzip', TEXT.subarray(0, 5000)],
    ['zlib without a gzip header', Buffer.from([0x78, 0x9c, 3, 0, 0, 0, 0, 1])],
    ['only the beginning of a header', GZIP.subarray(0, 5)],
    ['cut in its middle', GZIP.subarray(0, GZIP.length / 2)],
    ['cut before its checksum', GZIP.subarray(0, -8)],
    ['cut in its length', GZIP.subarray(0, -1)],
    ['of a wrong checksum', Buffer.concat([GZIP.subarray(0, -8), Buffer.alloc(4), GZIP.subarray(-4)])],
    ['of a length that lies', Buffer.concat([GZIP.subarray(0, -4), Buffer.from([1, 0, 0, 0])])],
    ['with garbage behind it', Buffer.concat([GZIP, Buffer.from('garbage')])],
    ['with the beginning of another member behind it', Buffer.concat([GZIP, GZIP.subarray(0, 20)])],
  ])('that is %s is damaged', async (_what, bytes) => {
    await expect(inflate(cut(bytes))).rejects.toMatchObject({ name: 'BodyError', code: 'damaged' });
  });
});

describe('a gzip body', () => {
  it('that is changed in one place is damaged, or says the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(GZIP.length - 1), fc.nat(255), async (at, byte) => {
        const changed = Buffer.from(GZIP);
        changed[at] = byte;
        const outcome = await inflate(randomPieces(changed)).catch((error: unknown) => error);
        // Only the header holds what changes nothing: a time, a system.
        if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'damaged' });
        else expect((outcome as Buffer).equals(TEXT)).toBe(true);
      }),
      runs(35),
    );
  });

  it('whose sender is gone says so, and not that it is damaged', async () => {
    const sent = piecesOf(GZIP, 100).slice(0, 3);
    const source = {
      read: async () => sent.shift() ?? Promise.reject(new BodyError('timeout')),
      cancel: async () => {},
    };
    await expect(readAll(gunzipped(source, damaged))).rejects.toMatchObject({ code: 'timeout' });
  });

  it('that is damaged can still be read to its end, to be thrown away', async () => {
    const source = new PiecesSource(piecesOf(Buffer.concat([GZIP, Buffer.alloc(5 * MiB, 'x')]), 64 * 1024));
    const inflated = gunzipped(source, damaged);
    await expect(readAll(inflated)).rejects.toMatchObject({ code: 'damaged' });
    expect((await readAll(inflated)).length).toBeGreaterThan(4 * MiB);
    expect(await source.read()).toBeNull();
  });

  it.each([0, 1])(
    'of which nothing more is wanted after %i pieces is not inflated any further',
    exhaustive,
    async (pieces) => {
      const source = new PiecesSource(piecesOf(gzipSync(Buffer.alloc(100 * MiB)), 4096));
      const inflated = gunzipped(source, damaged);
      for (let read = 0; read < pieces; read++) await inflated.read();
      inflated.discard?.();
      expect((await readAll(inflated)).length).toBeLessThan(MiB);
      expect(await source.read()).toBeNull();
    },
  );

  it('is given up with its source', async () => {
    const source = new PiecesSource(piecesOf(GZIP, 100));
    const inflated = gunzipped(source, damaged);
    await inflated.read();
    await inflated.cancel();
    expect(source.cancelled).toBe(true);
  });
});

/** A hundred thousand times the bytes that it has: each piece is a mebibyte of zeros. */
function bomb(): { source: ChunkSource; sentPieces: () => number } {
  const member = gzipSync(Buffer.alloc(MiB));
  let sent = 0;
  return {
    source: {
      read: async () => {
        sent += 1;
        return sent > 1000 ? null : new Uint8Array(member);
      },
      cancel: async () => {},
    },
    sentPieces: () => sent,
  };
}

describe('a gzip bomb', () => {
  it('is stopped where what comes out of it passes the limit', async () => {
    const { source, sentPieces } = bomb();
    const body = new LimitedSource(gunzipped(source, damaged), 10 * MiB);
    await expect(readAll(body)).rejects.toMatchObject({ code: 'too-large' });
    expect(body.isOverLimit).toBe(true);
    expect(sentPieces()).toBeLessThanOrEqual(13);
  });

  it('is inflated no further than it is read', async () => {
    const { source, sentPieces } = bomb();
    await gunzipped(source, damaged).read();
    await scheduler.wait(50);
    expect(sentPieces()).toBeLessThanOrEqual(2);
  });
});
