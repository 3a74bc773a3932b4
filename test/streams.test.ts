/** Bodies as they are read: in chunks of a good size, up to a limit, for a time, and thrown away when they must be. */
import { describe, expect, it, vi } from 'vitest';
import { ByteReader } from '../src/git/byte-reader.ts';
import { BodyError, chunksOf, drain } from '../src/streams.ts';

const MiB = 1024 * 1024;
const READ_BYTES = 256 * 1024;
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

  it('gives all bytes in their order, in large chunks but for the first and the last', async () => {
    const bytes = new Uint8Array(MiB + 5).map((_, index) => index % 251);
    const pieces = Array.from({ length: 257 }, (_, index) => bytes.slice(index * 4096, (index + 1) * 4096));
    const chunks = await allOf(bodyOf(pieces));
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    for (const chunk of chunks.slice(1, -1)) expect(chunk.byteLength).toBe(READ_BYTES);
  });

  it('gives the first bytes as soon as they are there: the commands of a push', async () => {
    const source = chunksOf(bodyOf([Buffer.from('commands')], 'open'), { ...NO_LIMITS, timeoutMs: 500 });
    expect(Buffer.from((await source.read()) ?? []).toString()).toBe('commands');
    await expect(source.read()).rejects.toMatchObject({ code: 'timeout' });
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

  it('counts the time in which it waits, and not the time in which nobody reads', async () => {
    const source = chunksOf(bodyOf([new Uint8Array(10), new Uint8Array(MiB)]), {
      ...NO_LIMITS,
      timeoutMs: 300,
    });
    await source.read();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await source.read())?.byteLength).toBe(READ_BYTES);
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
    const first = (await source.read()) as Uint8Array;
    source.recycle?.();
    const second = (await source.read()) as Uint8Array;
    expect(first.byteLength).toBe(0);
    expect(second.byteLength).toBeGreaterThan(0);
  });

  it('does not read into a chunk twice that was given back once', async () => {
    const source = chunksOf(numbered(4), NO_LIMITS);
    await source.read();
    source.recycle?.();
    const second = (await source.read()) as Uint8Array;
    const kept = second.slice();
    await source.read();
    expect(second).toEqual(kept);
  });
});

describe('drain', () => {
  it('reads a body to its end, also past the limit', async () => {
    const source = chunksOf(bodyOf([new Uint8Array(MiB), new Uint8Array(MiB)]), {
      ...NO_LIMITS,
      maxBytes: 1000,
    });
    const cancel = vi.spyOn(source, 'cancel');
    await drain(new ByteReader(source));
    expect(cancel).not.toHaveBeenCalled();
    expect(await source.read()).toBeNull();
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
  ] as const)('gives up a body %s, without an error', async (_, end) => {
    const source = chunksOf(bodyOf([new Uint8Array(10)], end), { ...NO_LIMITS, timeoutMs: 200 });
    const cancel = vi.spyOn(source, 'cancel');
    await drain(new ByteReader(source));
    expect(cancel).toHaveBeenCalledOnce();
  });
});
