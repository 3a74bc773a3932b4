/** Commits and tags are found again by offset and by id, within a bound. */
import { describe, expect, it } from 'vitest';
import { KeptObjects } from '../../../src/git/pack/kept-objects.ts';
import { MAX_KEPT_BYTES } from '../../../src/git/pack/limits.ts';
import { commitContent, tagContent } from '../../support/objects.ts';
import { oidOf } from '../../support/pack-builder.ts';

const COMMIT = commitContent();
const TAG = tagContent(oidOf('commit', COMMIT));

describe('KeptObjects', () => {
  it('finds an object by the offset of its entry and by its id', () => {
    const kept = new KeptObjects();
    const commit = kept.add('commit', COMMIT, 12);
    const tag = kept.add('tag', TAG, 200);
    expect(commit).toEqual({ type: 'commit', oid: oidOf('commit', COMMIT), content: COMMIT });
    expect(kept.atOffset(12)).toBe(commit);
    expect(kept.atOffset(200)).toBe(tag);
    expect(kept.withOid(oidOf('tag', TAG))).toBe(tag);
    expect(kept.withOid(oidOf('tag', COMMIT))).toBeUndefined();
    for (const offset of [0, 11, 13, 199, 201, 1e9]) expect(kept.atOffset(offset)).toBeUndefined();
  });

  it('counts entries, not objects: the same one may come twice', () => {
    const kept = new KeptObjects();
    kept.add('commit', COMMIT, 12);
    kept.add('commit', COMMIT, 100);
    expect(kept.entryCount).toBe(2);
    expect(kept.atOffset(100)).toEqual(kept.atOffset(12));
  });

  it('keeps no more than its bound, and says so before anything is allocated', () => {
    const kept = new KeptObjects();
    expect(() => kept.reserve(MAX_KEPT_BYTES)).not.toThrow();
    kept.add('commit', COMMIT, 12);
    expect(kept.roomBytes).toBe(MAX_KEPT_BYTES - COMMIT.byteLength);
    expect(() => kept.reserve(MAX_KEPT_BYTES)).toThrow(expect.objectContaining({ code: 'too-large' }));
    expect(() => kept.reserve(2 ** 40)).toThrow(expect.objectContaining({ code: 'too-large' }));
  });
});
