/**
 * Bodies as they are read: in chunks of a good size, up to a limit, for a time, and thrown away
 * when they must be.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ByteReader, type ChunkSource } from '../../src/git/wire/byte-reader.ts';
import { BodyError } from '../../src/streams/body-error.ts';
import { type BodyLimits, chunksOf, drain, LimitedSource } from '../../src/streams/body.ts';
import { exhaustive } from '../support/exhaustive.ts';

const MiB = 1024 * 1024;
const READ_BYTES = 64 * 1024;
const NO_LIMITS = { maxBytes: 100 * MiB, timeoutMs: 10_000 };

/** A body whose pieces are written as fast as they are read. */
function bodyOf(pieces: readonly Uint8Array[], end: 'closed' | 'open' | 'broken' = 'closed') {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const written = (async () => {
    for (const piece of pieces) await writer.write(piece);
    if (end === 'closed') await writer.close();
    if (end === 'broken') await writer.abort(new Error('gone'));
  })();
  // Whoever cancels the body breaks the writing of it.
  written.catch(() => {});
  return readable;
}

async function allOf(body: ReadableStream<Uint8Array> | null, limits = NO_LIMITS): Promise<Uint8Array[]> {
  const source = chunksOf(body, limits);
  const chunks: Uint8Array[] = [];
  for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) chunks.push(chunk);
  return chunks;
}

const lengthOf = (chunks: readonly Uint8Array[]) =>
  chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);

describe('chunksOf', () => {
  it('gives nothing of a request without a body', async () => {
    expect(await allOf(null)).toEqual([]);
  });

  it('gives all bytes in their order, in large chunks but for the first ones and the last', async () => {
    const bytes = new Uint8Array(MiB + 5).map((_, index) => index % 251);
    const pieces = Array.from({ length: 257 }, (_, index) => bytes.slice(index * 4096, (index + 1) * 4096));
    const chunks = await allOf(bodyOf(pieces));
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    // The sender is taken for slow until a small buffer was full.
    for (const chunk of chunks.slice(2, -1)) expect(chunk.byteLength).toBe(READ_BYTES);
  });

  it('takes little memory of a body that has just begun, and does not read on into it', async () => {
    const source = chunksOf(bodyOf([new Uint8Array(MiB)]), NO_LIMITS);
    const first = await source.read();
    expect(first?.buffer.byteLength).toBe(16 * 1024);
    source.recycle?.();
    expect((await source.read())?.byteLength).toBe(READ_BYTES);
  });

  it('gives the first bytes as soon as they are there: the commands of a push', async () => {
    const source = chunksOf(bodyOf([Buffer.from('commands')], 'open'), NO_LIMITS);
    expect(Buffer.from((await source.read()) ?? []).toString()).toBe('commands');
  });

  it('takes a body of exactly the limit, and no byte more', async () => {
    const limits = { ...NO_LIMITS, maxBytes: 300_000 };
    expect(lengthOf(await allOf(bodyOf([new Uint8Array(300_000)]), limits))).toBe(300_000);
    await expect(allOf(bodyOf([new Uint8Array(300_001)]), limits)).rejects.toMatchObject({
      code: 'too-large',
    });
  });

  it('says that a sender is gone', async () => {
    const broken = allOf(bodyOf([new Uint8Array(10)], 'broken'));
    await expect(broken).rejects.toBeInstanceOf(BodyError);
    await expect(broken).rejects.toMatchObject({ code: 'aborted' });
  });
});

/** A sender whose pieces come at times of the test's choosing. */
function slowSender(limits: Partial<BodyLimits> = {}) {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  writer.closed.catch(() => {});
  const source = chunksOf(readable, { ...NO_LIMITS, timeoutMs: 30_000, ...limits });
  return {
    source,
    /** Lets time pass, then sends so many bytes. */
    sendAfter: async (ms: number, bytes: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      await writer.write(new Uint8Array(bytes)).catch(() => {});
    },
    end: async () => {
      await writer.close().catch(() => {});
    },
  };
}

/**
 * The length of the rest of the body, or why it cannot be had; its sender then learns that it is
 * given up.
 */
const outcomeOf = (source: ChunkSource) =>
  (async () => {
    let length = 0;
    for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) length += chunk.length;
    return length;
  })().catch(async (error: unknown) => {
    await source.cancel();
    return (error as BodyError).code;
  });

describe('a slow body', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('of 6 MB at 1 Mbit/s is read to its end, although it takes longer than one wait may', async () => {
    const { source, sendAfter, end } = slowSender();
    const outcome = outcomeOf(source);
    for (let second = 0; second < 48; second++) await sendAfter(1_000, 125_000);
    await end();
    expect(await outcome).toBe(6_000_000);
  });

  it('is handed on each second, and takes little memory', async () => {
    const { source, sendAfter } = slowSender();
    const chunks: number[][] = [];
    void (async () => {
      for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) {
        chunks.push([chunk.byteLength, chunk.buffer.byteLength / 1024]);
        source.recycle?.();
      }
    })().catch(() => {});
    const halves = [READ_BYTES / 2, READ_BYTES / 2];
    for (const bytes of [16 * 1024, ...halves, 3_000, 3_000, 3_000, 3_000]) await sendAfter(600, bytes);
    expect(chunks).toEqual([
      [16 * 1024, 16],
      [READ_BYTES, 64],
      [6_000, 64],
      [6_000, 16],
    ]);
    await source.cancel();
  });

  it('may wait before each piece, but not longer than the limit of one wait', async () => {
    const { source, sendAfter } = slowSender();
    const outcome = outcomeOf(source);
    for (let wait = 0; wait < 5; wait++) await sendAfter(29_000, 40_000);
    await sendAfter(30_000, 1);
    expect(await outcome).toBe('timeout');
  });

  it('that was given up is given up for whoever reads on, and at once', async () => {
    const { source, sendAfter } = slowSender();
    const outcome = source.read();
    outcome.catch(() => {});
    await vi.advanceTimersByTimeAsync(30_000);
    await expect(outcome).rejects.toMatchObject({ code: 'timeout' });
    await expect(source.read()).rejects.toMatchObject({ code: 'timeout' });
    await drain(new ByteReader(source));
    await sendAfter(0, 10);
  });

  it('of a byte now and then is given up within a minute and a wait', async () => {
    const { source, sendAfter } = slowSender();
    const startedAt = Date.now();
    const outcome = outcomeOf(source).then((code) => [code, (Date.now() - startedAt) / 1000]);
    for (let wait = 0; wait < 10; wait++) await sendAfter(20_000, 1);
    expect(await outcome).toEqual(['timeout', 60]);
  });

  it('that was fast a moment ago is given up after two waits', async () => {
    const { source, sendAfter } = slowSender();
    const startedAt = Date.now();
    const outcome = outcomeOf(source).then((code) => [code, (Date.now() - startedAt) / 1000]);
    await sendAfter(0, 1_000_000);
    for (let wait = 0; wait < 10; wait++) await sendAfter(10_000, 100);
    expect(await outcome).toEqual(['timeout', 60]);
  });

  it('is not slow for the time in which nobody reads it', async () => {
    const { source, sendAfter, end } = slowSender();
    await Promise.all([source.read(), sendAfter(0, 10)]);
    await vi.advanceTimersByTimeAsync(600_000);
    const outcome = outcomeOf(source);
    await sendAfter(0, 10);
    await end();
    expect(await outcome).toBe(10);
  });

  it('that is over after all is taken, however slow it was', async () => {
    const { source, sendAfter, end } = slowSender();
    const outcome = outcomeOf(source);
    await sendAfter(29_000, 10);
    await sendAfter(29_000, 10);
    await vi.advanceTimersByTimeAsync(29_000);
    await end();
    expect(await outcome).toBe(20);
  });

  it('may be silence for the most part, if that is its nature', async () => {
    const { source, sendAfter, end } = slowSender({ pace: 'any' });
    const outcome = outcomeOf(source);
    for (let wait = 0; wait < 20; wait++) await sendAfter(20_000, 5);
    await end();
    expect(await outcome).toBe(100);
  });
});

/** A body of so many reads, each filled with its own number from 1 on. */
function numbered(reads: number): ReadableStream<Uint8Array> {
  const bytes = new Uint8Array(reads * READ_BYTES).map((_, i) => 1 + Math.floor(i / READ_BYTES));
  return new Response(bytes).body as ReadableStream<Uint8Array>;
}

describe('chunks that are given back', () => {
  it('keeps every chunk intact that was not given back', async () => {
    const source = chunksOf(numbered(4), NO_LIMITS);
    const chunks: Uint8Array[] = [];
    for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) chunks.push(chunk);
    const total = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(total).toBe(4 * READ_BYTES);
    expect(new Set(chunks.map(({ buffer }) => buffer)).size).toBe(chunks.length);
  });

  it('reads into a chunk again that was given back, and takes it away from whoever still holds it', async () => {
    const source = chunksOf(numbered(4), NO_LIMITS);
    await source.read();
    const first = (await source.read()) as Uint8Array;
    source.recycle?.();
    const second = (await source.read()) as Uint8Array;
    expect(first.byteLength).toBe(0);
    expect(second.byteLength).toBeGreaterThan(0);
  });

  it('does not read into a chunk twice that was given back once', async () => {
    const source = chunksOf(numbered(4), NO_LIMITS);
    await source.read();
    await source.read();
    source.recycle?.();
    const second = (await source.read()) as Uint8Array;
    const kept = second.slice();
    await source.read();
    expect(second).toEqual(kept);
  });
});

describe('limited', () => {
  it('says whether its limit, or one of what it reads from, has been passed', async () => {
    for (const [inner, outer] of [
      [10, 1000],
      [1000, 10],
    ]) {
      const sent = chunksOf(bodyOf([new Uint8Array(20)]), { ...NO_LIMITS, maxBytes: inner as number });
      const source = new LimitedSource(sent, outer as number);
      expect(source.isOverLimit).toBe(false);
      await expect(source.read()).rejects.toMatchObject({ code: 'too-large' });
      expect(source.isOverLimit).toBe(true);
    }
  });
});

/** A body of two mebibytes whose limit is passed at once. */
const overLimit = () =>
  chunksOf(bodyOf([new Uint8Array(MiB), new Uint8Array(MiB)]), { ...NO_LIMITS, maxBytes: 1000 });

describe('drain', () => {
  it('reads a body to its end, also past the limit', async () => {
    const source = overLimit();
    const cancel = vi.spyOn(source, 'cancel');
    await drain(new ByteReader(source), 'end');
    expect(cancel).not.toHaveBeenCalled();
    expect(await source.read()).toBeNull();
  });

  it('stops where the body passes its limit, and leaves the rest to whoever says so', async () => {
    const source = overLimit();
    const cancel = vi.spyOn(source, 'cancel');
    await drain(new ByteReader(source));
    expect(cancel).not.toHaveBeenCalled();
    expect(source.isOverLimit).toBe(true);
    expect(await source.read()).not.toBeNull();
  });

  it('gives each chunk back, to be read into again', async () => {
    const source = chunksOf(bodyOf([new Uint8Array(MiB)]), NO_LIMITS);
    const read = vi.spyOn(source, 'read');
    const recycle = vi.spyOn(source, 'recycle');
    await drain(new ByteReader(source));
    // The last read finds the end.
    expect(recycle).toHaveBeenCalledTimes(read.mock.calls.length - 1);
  });

  it.each([
    ['that stops', 'open'],
    ['whose sender is gone', 'broken'],
  ] as const)('gives up a body %s, without an error', exhaustive, async (_, end) => {
    const source = chunksOf(bodyOf([new Uint8Array(10)], end), { ...NO_LIMITS, timeoutMs: 200 });
    const cancel = vi.spyOn(source, 'cancel');
    await drain(new ByteReader(source));
    expect(cancel).toHaveBeenCalledOnce();
  });
});
