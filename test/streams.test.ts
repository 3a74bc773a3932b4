import { describe, expect, it } from 'vitest';
import { chunksOf } from '../src/streams.ts';

const READ_BYTES = 256 * 1024;
const LIMITS = { maxBytes: 100 * READ_BYTES, timeoutMs: 10_000 };

/** A body of so many reads, each filled with its own number from 1 on. */
function bodyOf(reads: number): ReadableStream<Uint8Array> {
  const bytes = new Uint8Array(reads * READ_BYTES).map((_, i) => 1 + Math.floor(i / READ_BYTES));
  return new Response(bytes).body as ReadableStream<Uint8Array>;
}

describe('chunksOf', () => {
  it('keeps every chunk intact that was not given back', async () => {
    const source = chunksOf(bodyOf(4), LIMITS);
    const chunks: Uint8Array[] = [];
    for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) chunks.push(chunk);
    const total = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(total).toBe(4 * READ_BYTES);
    expect(new Set(chunks.map(({ buffer }) => buffer)).size).toBe(chunks.length);
  });

  it('reads into a chunk again that was given back, and takes it away from whoever still holds it', async () => {
    const source = chunksOf(bodyOf(4), LIMITS);
    const first = (await source.read()) as Uint8Array;
    source.recycle?.();
    const second = (await source.read()) as Uint8Array;
    expect(first.byteLength).toBe(0);
    expect(second.byteLength).toBeGreaterThan(0);
  });

  it('does not read into a chunk twice that was given back once', async () => {
    const source = chunksOf(bodyOf(4), LIMITS);
    await source.read();
    source.recycle?.();
    const second = (await source.read()) as Uint8Array;
    const kept = second.slice();
    await source.read();
    expect(second).toEqual(kept);
  });
});
