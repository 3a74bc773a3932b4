/** Compressed bodies of Git's requests: what they may inflate to, however they come. */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ByteReader } from '../../src/git/wire/byte-reader.ts';
import { BodyError } from '../../src/streams/body-error.ts';
import { drain } from '../../src/streams/body.ts';
import { gitBody } from '../../src/streams/git-body.ts';
import { piecesOf } from '../support/byte-chunks.ts';

const MiB = 1024 * 1024;
const LIMITS = { maxBytes: 50 * MiB, timeoutMs: 10_000, inflatedPerArrived: 4 };

function requestOf(pieces: readonly Uint8Array[], encoding: string | null = 'gzip'): Request {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const written = (async () => {
    for (const piece of pieces) await writer.write(piece);
    await writer.close();
  })();
  // Whoever cancels the body breaks the writing of it.
  written.catch(() => {});
  const headers: Record<string, string> = encoding === null ? {} : { 'Content-Encoding': encoding };
  return new Request('http://service.example/', { method: 'POST', body: readable, headers });
}

/** How much can be read, what has arrived then, and why no more can be read. */
async function outcomeOf(pieces: readonly Uint8Array[], encoding: string | null = 'gzip', limits = LIMITS) {
  const body = gitBody(requestOf(pieces, encoding), limits);
  const reader = new ByteReader(body);
  let readBytes = 0;
  try {
    for (let chunk = await reader.nextChunk(); chunk !== null; chunk = await reader.nextChunk()) {
      readBytes += chunk.byteLength;
      reader.recycle();
    }
    return { readBytes, arrivedBytes: reader.arrived.bytes, code: null, isOverLimit: body.isOverLimit };
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    const { code } = error;
    const arrivedBytes = reader.arrived.bytes;
    await drain(reader);
    expect(await body.read()).toBeNull();
    return { readBytes, arrivedBytes, code, isOverLimit: body.isOverLimit };
  }
}

/** So many are made at once at most. */
const RANDOM_BYTES = 50_000;

/**
 * Makes bytes that do not shrink, and zeros, of which nothing is left.
 * @param kept a multiple of RANDOM_BYTES.
 */
const padded = (kept: number, zeros: number) =>
  Buffer.concat([
    ...Array.from({ length: kept / RANDOM_BYTES }, () => randomBytes(RANDOM_BYTES)),
    Buffer.alloc(zeros),
  ]);

describe('a compressed body', () => {
  it('may inflate to a mebibyte, however little it is', async () => {
    const outcome = await outcomeOf([gzipSync(Buffer.alloc(MiB))]);
    expect(outcome).toMatchObject({ readBytes: MiB, code: null });
    expect(outcome.arrivedBytes).toBeLessThan(2_000);
  });

  it('may inflate to so many times what has arrived, and a mebibyte, and to no more', async () => {
    const kept = 1_000_000;
    const most = 3 * kept + MiB;
    expect(await outcomeOf([gzipSync(padded(kept, most - 1_000))])).toMatchObject({ code: null });
    const over = await outcomeOf([gzipSync(padded(kept, most + 64 * 1024))]);
    expect(over).toMatchObject({ code: 'bomb', isOverLimit: false });
    const more = { ...LIMITS, inflatedPerArrived: 8 };
    expect(await outcomeOf([gzipSync(padded(kept, most + MiB))], 'gzip', more)).toMatchObject({ code: null });
  });

  it.each<[what: string, pieces: () => readonly Uint8Array[]]>([
    ['in one piece', () => [gzipSync(Buffer.alloc(30 * MiB))]],
    ['byte by byte', () => piecesOf(gzipSync(Buffer.alloc(4 * MiB)), 1)],
    ['in ten members', () => Array.from({ length: 10 }, () => gzipSync(Buffer.alloc(3 * MiB)))],
    ['in a thousand members', () => Array.from({ length: 1_000 }, () => gzipSync(Buffer.alloc(10 * 1024)))],
    ['behind what is hardly smaller', () => [gzipSync(padded(2_000_000, 30 * MiB))]],
  ])('that makes much of little is given up soon: %s', async (_, pieces) => {
    const outcome = await outcomeOf(pieces());
    expect(outcome.code).toBe('bomb');
    // What is read before the next look, and what zlib holds.
    expect(outcome.readBytes).toBeLessThanOrEqual(MiB + LIMITS.inflatedPerArrived * outcome.arrivedBytes);
  });

  it('is not inflated any further then', async () => {
    const body = gitBody(requestOf([gzipSync(Buffer.alloc(40 * MiB))]), LIMITS);
    const reader = new ByteReader(body);
    let bytes = 0;
    for (let isOver = false; !isOver;) {
      const chunk = await reader.nextChunk().catch(() => null);
      isOver = chunk === null;
      bytes += chunk?.byteLength ?? 0;
    }
    for (let chunk = await body.read(); chunk !== null; chunk = await body.read()) bytes += chunk.byteLength;
    expect(bytes).toBeLessThan(2 * MiB);
  });

  it('has ten members that all count together, and is read to its end', async () => {
    const members = Array.from({ length: 10 }, () => gzipSync(padded(100_000, 50_000)));
    expect(await outcomeOf(members)).toMatchObject({ readBytes: 1_500_000, code: null });
  });

  it('that passes the limit of a body is too large, whatever has arrived', async () => {
    const limits = { ...LIMITS, maxBytes: MiB / 2 };
    expect(await outcomeOf([gzipSync(Buffer.alloc(MiB))], 'gzip', limits)).toMatchObject({
      code: 'too-large',
      isOverLimit: true,
    });
  });

  it('within another is only taken out of the outer one', async () => {
    const inner = gzipSync(Buffer.alloc(30 * MiB));
    expect(await outcomeOf([gzipSync(inner)])).toMatchObject({ readBytes: inner.length, code: null });
  });
});

describe('a compressed body that comes a byte a second', () => {
  afterEach(() => void vi.useRealTimers());

  it('is too slow, although each byte inflates to a kilobyte: the pace is that of the line', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    const headers = { 'Content-Encoding': 'gzip' };
    const request = new Request('http://service.example/', { method: 'POST', body: readable, headers });
    const reader = new ByteReader(gitBody(request, LIMITS));
    const outcome = (async () => {
      for (;;) {
        if ((await reader.nextChunk()) === null) return 'whole';
        reader.recycle();
      }
    })().catch((error: unknown) => (error as BodyError).code);
    const zeros = gzipSync(Buffer.alloc(200_000));
    expect(zeros.length).toBeGreaterThan(70);
    for (let second = 0; second < 70; second++) {
      await vi.advanceTimersByTimeAsync(1_000);
      writer.write(zeros.subarray(second, second + 1)).catch(() => {});
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(await outcome).toBe('timeout');
    expect(reader.arrived.bytes).toBeLessThanOrEqual(61);
    await reader.cancel();
  });
});

it('of a body that is not compressed, what is read is what has arrived', async () => {
  const outcome = await outcomeOf(piecesOf(Buffer.alloc(3 * MiB), 100_000), null);
  expect(outcome).toMatchObject({ readBytes: 3 * MiB, arrivedBytes: 3 * MiB, code: null });
});

it('a request without a body has nothing, whatever it says of it', async () => {
  const headers = { 'Content-Encoding': 'gzip' };
  const body = gitBody(new Request('http://service.example/', { method: 'POST', headers }), LIMITS);
  await expect(body.read()).rejects.toMatchObject({ code: 'damaged' });
});
