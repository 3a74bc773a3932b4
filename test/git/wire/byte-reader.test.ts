/** The seam between the command section and the pack: exact reads, then the rest without a copy. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader } from '../../../src/git/wire/byte-reader.ts';
import { CHUNKINGS, PiecesSource, readerOf, restOf } from '../../support/byte-chunks.ts';
import { runs } from '../../support/runs.ts';

describe.each(CHUNKINGS)('a ByteReader over %s chunks', (_, cut) => {
  const bytes = Buffer.from('0123456789abcdefghijklmnopqrstuvwxyz');

  it('reads exact lengths one after another', async () => {
    const reader = readerOf(cut(bytes));
    expect(Buffer.from((await reader.readExactly(4)) ?? []).toString()).toBe('0123');
    expect(Buffer.from((await reader.readExactly(0)) ?? [1]).toString()).toBe('');
    expect(Buffer.from((await reader.readExactly(20)) ?? []).toString()).toBe('456789abcdefghijklmn');
    expect((await restOf(reader)).toString()).toBe('opqrstuvwxyz');
  });

  it('answers null where the stream ends inside an exact read, and after', async () => {
    const reader = readerOf(cut(bytes));
    expect(await reader.readExactly(37)).toBeNull();
    expect(await reader.nextChunk()).toBeNull();
  });

  it('says what comes next without taking it', async () => {
    const reader = readerOf(cut(bytes));
    await reader.readExactly(8);
    expect(await reader.startsWith(Buffer.from('89ab'))).toBe(true);
    expect(await reader.startsWith(Buffer.from('89abd'))).toBe(false);
    expect(await reader.startsWith(Buffer.from(`${bytes.subarray(8).toString()}!`))).toBe(false);
    expect((await restOf(reader)).toString()).toBe('89abcdefghijklmnopqrstuvwxyz');
    expect(await reader.startsWith(Buffer.from('x'))).toBe(false);
  });

  it('gives the rest in chunks that are never empty', async () => {
    const reader = readerOf(cut(bytes));
    await reader.readExactly(7);
    for (let chunk = await reader.nextChunk(); chunk !== null; chunk = await reader.nextChunk())
      expect(chunk.byteLength).toBeGreaterThan(0);
  });
});

describe('a ByteReader', () => {
  it('hands the rest of a chunk on without copying it', async () => {
    const chunk = Buffer.from('commandPACK');
    const reader = readerOf([chunk]);
    await reader.readExactly('command'.length);
    const rest = await reader.nextChunk();
    expect(rest?.buffer).toBe(chunk.buffer);
    expect(rest?.byteLength).toBe(4);
  });

  it('copies what is read exactly, so that its source may reuse the chunk', async () => {
    const chunk = Buffer.from('payload');
    const read = await readerOf([chunk]).readExactly(7);
    chunk.fill(0);
    expect(Buffer.from(read ?? []).toString()).toBe('payload');
  });

  it('copies into a buffer that it is given, and lets its source reuse each chunk that was copied', async () => {
    const chunks = ['abc', 'def', 'gh'].map((text) => Buffer.from(text));
    let recycled = 0;
    const source = {
      read: async () => chunks.shift() ?? null,
      recycle: () => (recycled += 1),
      cancel: async () => {},
    };
    const reader = new ByteReader(source);
    const buffer = new Uint8Array(10);
    const first = await reader.readExactly(5, buffer);
    expect([Buffer.from(first ?? []).toString(), first?.buffer, recycled]).toEqual([
      'abcde',
      buffer.buffer,
      1,
    ]);
    expect(Buffer.from((await reader.nextChunk()) ?? []).toString()).toBe('f');
    // Whoever got the rest of the second chunk may still use it.
    expect(Buffer.from((await reader.readExactly(2, buffer)) ?? []).toString()).toBe('gh');
    expect([await reader.isAtEnd(), recycled]).toEqual([true, 2]);
  });

  it('looks ahead over chunks that its source reuses', async () => {
    const buffer = new Uint8Array(3);
    const parts = ['abc', 'def', 'g'].map((text) => Buffer.from(text));
    const reader = new ByteReader({
      read: async () => {
        const part = parts.shift();
        if (part === undefined) return null;
        buffer.set(part);
        return buffer.subarray(0, part.length);
      },
      recycle: () => void buffer.fill(0),
      cancel: async () => {},
    });
    await reader.readExactly(2);
    expect(await reader.startsWith(Buffer.from('cdefg'))).toBe(true);
    expect(Buffer.from((await reader.readExactly(5)) ?? []).toString()).toBe('cdefg');
    expect(await reader.isAtEnd()).toBe(true);
  });

  it('passes a cancellation on to its source', async () => {
    const source = new PiecesSource([]);
    await new ByteReader(source).cancel();
    expect(source.cancelled).toBe(true);
  });

  it('stays at its end when the last chunk was given back', async () => {
    const chunks = [new Uint8Array([1, 2, 3])];
    let last: Uint8Array<ArrayBuffer> | undefined;
    const reader = new ByteReader({
      read: async () => (last = chunks.pop()) ?? null,
      // Reading into it again takes it away.
      recycle: () => void last?.buffer.transfer(),
      cancel: async () => {},
    });
    expect(await reader.readExactly(3)).toHaveLength(3);
    expect([await reader.isAtEnd(), await reader.isAtEnd()]).toEqual([true, true]);
    expect(await reader.nextChunk()).toBeNull();
  });

  it('loses, repeats and reorders nothing, whatever is read in whatever pieces', async () => {
    const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 20 });
    const reads = fc.array(fc.nat(30), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(pieces, reads, async (chunks, lengths) => {
        const whole = Buffer.concat(chunks);
        const reader = readerOf(chunks);
        let position = 0;
        for (const length of lengths) {
          if (position + length > whole.length) break;
          const read = await reader.readExactly(length);
          expect(Buffer.from(read ?? [])).toEqual(whole.subarray(position, position + length));
          position += length;
        }
        expect(await restOf(reader)).toEqual(whole.subarray(position));
      }),
      runs(35),
    );
  });
});
