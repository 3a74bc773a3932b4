/** Commits and tags are found again by offset and by id, within a bound. */
import { describe, expect, it } from 'vitest';
import { type KeptObject, KeptObjects } from '../../../src/git/pack/kept-objects.ts';
import { KEPT_OBJECT_BYTES, mostKeptBytes } from '../../../src/git/pack/memory-limits.ts';
import { commitContent, tagContent } from '../../support/objects.ts';
import { oidOf } from '../../support/pack-builder.ts';

const COMMIT = commitContent();
const MAX_BYTES = 100_000;
const TAG = tagContent(oidOf('commit', COMMIT));

const keeping = (maxBytes: number) => new KeptObjects({ maxBytes });
const plain = ({ type, oid, content }: KeptObject) => ({ type, oid, content: [...content] });

describe('KeptObjects', () => {
  it('finds an object by the offset of its entry and by its id', () => {
    const kept = keeping(MAX_BYTES);
    const commit = kept.add('commit', COMMIT, 12);
    const tag = kept.add('tag', TAG, 200);
    expect(plain(commit)).toEqual({ type: 'commit', oid: oidOf('commit', COMMIT), content: [...COMMIT] });
    expect(plain(tag)).toEqual({ type: 'tag', oid: oidOf('tag', TAG), content: [...TAG] });
    expect(kept.atOffset(12)).toEqual(commit);
    expect(kept.atOffset(200)).toEqual(tag);
    expect(kept.withOid(oidOf('tag', TAG))).toEqual(tag);
    expect(kept.withOid(oidOf('tag', COMMIT))).toBeUndefined();
    for (const offset of [0, 11, 13, 199, 201, 1e9]) expect(kept.atOffset(offset)).toBeUndefined();
  });

  it('counts entries, not objects: the same one may come twice', () => {
    const kept = keeping(MAX_BYTES);
    kept.add('commit', COMMIT, 12);
    kept.add('commit', COMMIT, 100);
    expect(kept.entryCount).toBe(2);
    expect(kept.atOffset(100)).toEqual(kept.atOffset(12));
  });

  it('finds each of many, however they are searched for', () => {
    const kept = keeping(10_000_000);
    const contents = Array.from({ length: 500 }, (_, i) =>
      commitContent({ message: `Change ${i}\n`.repeat(1 + (i % 50)) }),
    );
    for (const [i, content] of contents.entries()) kept.add('commit', content, 12 + 7 * i);
    for (const [i, content] of contents.entries()) {
      const oid = oidOf('commit', content);
      expect(plain(kept.withOid(oid) as KeptObject)).toEqual({ type: 'commit', oid, content: [...content] });
      expect(kept.atOffset(12 + 7 * i)?.oid).toBe(oid);
      expect(kept.atOffset(12 + 7 * i - 1)).toBeUndefined();
    }
    expect([...kept.objects()]).toHaveLength(500);
  });

  it('keeps no more than its bound, and says so before anything is allocated', () => {
    const kept = keeping(MAX_BYTES);
    const most = MAX_BYTES - KEPT_OBJECT_BYTES;
    expect(() => kept.reserve(most)).not.toThrow();
    for (const bytes of [most + 1, MAX_BYTES, 2 ** 40])
      expect(() => kept.reserve(bytes)).toThrow(expect.objectContaining({ code: 'too-large' }));
    kept.add('commit', COMMIT, 12);
    expect(kept.roomBytes).toBe(most - KEPT_OBJECT_BYTES - COMMIT.byteLength);
  });

  it('keeps no more than its sender has paid for, however little that is, and more as it arrives', () => {
    const arrived = { bytes: 1_000 };
    const kept = new KeptObjects({ arrived });
    const most = mostKeptBytes(1_000);
    expect(most).toBe(1024 * 1024 + 4_000);
    expect(kept.roomBytes).toBe(most);
    expect(() => kept.reserve(most + 1)).toThrow(
      expect.objectContaining({
        code: 'too-large',
        publicMessage: expect.stringMatching(/far larger than what was sent of them/),
      }),
    );
    // The same one twice was inflated twice.
    const half = new Uint8Array(most / 2);
    for (const offset of [12, 100]) kept.add('commit', half, offset);
    expect(() => kept.reserve(1)).toThrow(expect.objectContaining({ code: 'too-large' }));
    arrived.bytes += 1;
    expect(() => kept.reserve(4)).not.toThrow();
  });

  it('counts what an object costs besides its content: many small ones are many', () => {
    const kept = keeping(MAX_BYTES);
    const count = Math.floor(MAX_BYTES / KEPT_OBJECT_BYTES);
    for (let offset = 0; offset < count; offset++) {
      expect(() => kept.reserve(0)).not.toThrow();
      kept.add('commit', new Uint8Array(0), offset);
    }
    expect(() => kept.reserve(0)).toThrow(expect.objectContaining({ code: 'too-large' }));
  });
});
