/** The outgoing pack: what is in it, when it may leave, and what cannot be rewritten. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MAX_DELAY_LINE_BYTES, MAX_WAITING_REF_DELTAS } from '../../../src/git/pack/limits.ts';
import { PackRewriter } from '../../../src/git/pack/pack-rewriter.ts';
import { CHUNKINGS, piecesOf } from '../../support/byte-chunks.ts';
import { readPack } from '../../support/isomorphic-reader.ts';
import { commitContent, oidNumber, tagContent, treeContent } from '../../support/objects.ts';
import { buildPack, type Entry, makeDelta, oidOf, storedStream } from '../../support/pack-builder.ts';
import { UPSTREAM } from '../../support/random-push.ts';

const COMMIT = commitContent();
const SECOND = commitContent({ message: 'second\n' });
const TAG = tagContent(oidOf('commit', COMMIT));
const BLOB = Buffer.from('content of a file\n'.repeat(40));
const OTHER_BLOB = Buffer.concat([BLOB, Buffer.from('and an end\n')]);
const TREE = treeContent([{ name: 'file', oid: oidOf('blob', BLOB) }]);
/** Stands in for a rewritten commit. */
const NEW = commitContent({ author: 'bot <b> 1 +0000', committer: 'bot <b> 1 +0000' });

const commit: Entry = { type: 'commit', content: COMMIT };
const blob: Entry = { type: 'blob', content: BLOB };
const blobDelta = makeDelta(BLOB, OTHER_BLOB);

/** The pack with NEW in place of its commits. */
function rewriteWhole(pieces: readonly Uint8Array[], commits: readonly Uint8Array[] = [NEW]): Buffer {
  const rewriter = new PackRewriter((oid) => oid === UPSTREAM);
  for (const piece of pieces) rewriter.scan(piece);
  rewriter.finish();
  rewriter.start(commits);
  return Buffer.concat([...rewriter.take(), rewriter.trailer()]);
}

/** Rewrites a pack that begins to leave before its last entries have come. */
function rewriteEarly(entries: readonly Entry[], takenAt: number): ReturnType<typeof readPack> {
  const { bytes, offsets } = buildPack(entries);
  const rewriter = new PackRewriter((oid) => oid === UPSTREAM || oid === oidOf('commit', SECOND));
  rewriter.scan(bytes.subarray(0, offsets[takenAt]));
  rewriter.start([NEW]);
  const sent = [...rewriter.take()];
  rewriter.scan(bytes.subarray(offsets[takenAt]));
  rewriter.finish();
  sent.push(...rewriter.take(), rewriter.trailer());
  return readPack(Buffer.concat(sent));
}

const refused = (code: string) => expect.objectContaining({ name: 'ProtocolError', code }) as Error;

describe.each(CHUNKINGS)('a pack rewritten from %s chunks', (_, cut) => {
  it('has the new commits in front, then everything but commits and tags as it came', async () => {
    const { bytes, offsets } = buildPack([
      commit,
      { type: 'ofs-delta', base: 0, delta: makeDelta(COMMIT, SECOND) },
      { type: 'tag', content: TAG },
      { type: 'tree', content: TREE },
      blob,
      { type: 'ofs-delta', base: 4, delta: blobDelta },
    ]);
    const pack = rewriteWhole(cut(bytes));
    const tail = bytes.subarray(offsets[3], -20);
    expect(pack.subarray(-20 - tail.length, -20).equals(tail)).toBe(true);
    const { count, objects } = await readPack(pack);
    expect(count).toBe(4);
    expect([...objects.keys()].toSorted()).toEqual(
      [oidOf('commit', NEW), oidOf('tree', TREE), oidOf('blob', BLOB), oidOf('blob', OTHER_BLOB)].toSorted(),
    );
  });

  it('keeps its deltas right when commits between them go', async () => {
    const { bytes } = buildPack([
      blob,
      commit,
      { type: 'ofs-delta', base: 0, delta: blobDelta },
      { type: 'tag', content: TAG },
      { type: 'ofs-delta', base: 2, delta: makeDelta(OTHER_BLOB, Buffer.from('a third one\n')) },
    ]);
    const { objects } = await readPack(rewriteWhole(cut(bytes)));
    expect(objects.get(oidOf('blob', Buffer.from('a third one\n')))?.type).toBe('blob');
    expect(objects.size).toBe(4);
  });

  it('keeps its deltas right when sizes are written longer than they need be', async () => {
    const third = Buffer.from('a third one, with some length\n');
    const { bytes } = buildPack([
      blob,
      commit,
      { type: 'ofs-delta', base: 0, delta: blobDelta, paddedSize: true },
      { type: 'ofs-delta', base: 2, delta: makeDelta(OTHER_BLOB, third), paddedSize: true },
    ]);
    const { objects } = await readPack(rewriteWhole(cut(bytes)));
    expect(objects.get(oidOf('blob', third))?.content.equals(third)).toBe(true);
  });

  it('is never sent on when a delta has its base inside a commit', () => {
    const { bytes } = buildPack([blob, commit, { type: 'ofs-delta', distance: 20, delta: blobDelta }]);
    expect(() => rewriteWhole(cut(bytes))).toThrow(refused('bad-pack'));
  });
});

describe('a rewritten pack', () => {
  it('holds new commits of any size', async () => {
    const sizes = [0, 1, 65_535, 65_536, 200_000];
    const commits = sizes.map((size) => commitContent({ message: Buffer.alloc(size, 'm') }));
    const { objects } = await readPack(rewriteWhole([buildPack([commit]).bytes], commits));
    for (const content of commits)
      expect(objects.get(oidOf('commit', content))?.content.equals(content)).toBe(true);
  });

  it('counts the same commit twice if the pack held it twice', async () => {
    const { count, objects } = await readPack(rewriteWhole([buildPack([commit, commit, blob]).bytes]));
    expect([count, objects.size]).toEqual([2, 2]);
  });

  it('leaves ref-deltas to the host, also those that wait for each other', () => {
    const cycle: Entry[] = [
      { type: 'ref-delta', base: oidOf('blob', OTHER_BLOB), delta: makeDelta(OTHER_BLOB, BLOB) },
      { type: 'ref-delta', base: oidOf('blob', BLOB), delta: blobDelta },
      { type: 'ref-delta', base: oidNumber(1), delta: blobDelta },
    ];
    const { bytes } = buildPack([commit, ...cycle]);
    expect(rewriteWhole([bytes]).readUInt32BE(8)).toBe(4);
  });

  it('leaves in pieces worth a write, and the large ones uncopied', () => {
    const rewriter = new PackRewriter(() => false);
    rewriter.start([]);
    const large = new Uint8Array(100_000);
    const small = Array.from({ length: 1000 }, () => new Uint8Array(100));
    for (const bytes of [...small, large, ...small]) rewriter.onPassed(bytes);
    const taken = rewriter.take();
    expect(taken.find((piece) => piece.byteLength === 100_000)).toBe(large);
    expect(taken.length).toBeLessThan(8);
    expect(taken.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(12 + 300_000);
    expect(rewriter.take()).toEqual([]);
  });

  it('ends in the SHA-1 of all that left, in however many parts it left', () => {
    const rewriter = new PackRewriter(() => false);
    rewriter.scan(buildPack([commit, blob]).bytes);
    rewriter.finish();
    rewriter.start([NEW]);
    const first = rewriter.take();
    rewriter.onPassed(Buffer.from('more'));
    const sent = Buffer.concat([...first, ...rewriter.take()]);
    expect(Buffer.from(rewriter.trailer())).toEqual(createHash('sha1').update(sent).digest());
  });
});

describe('a PackRewriter', () => {
  it('finds commits, and only commits, by their id', () => {
    const rewriter = new PackRewriter(() => false);
    rewriter.scan(buildPack([commit, { type: 'tag', content: TAG }, blob]).bytes);
    expect(rewriter.keptCount).toBe(2);
    expect(Buffer.from(rewriter.findCommit(oidOf('commit', COMMIT)) ?? [])).toEqual(COMMIT);
    for (const oid of [oidOf('tag', TAG), oidOf('blob', BLOB), oidNumber(1)])
      expect(rewriter.findCommit(oid)).toBeUndefined();
  });

  it('says when trees and blobs begin to arrive', () => {
    const rewriter = new PackRewriter(() => false);
    const { bytes, offsets } = buildPack([commit, blob]);
    rewriter.scan(bytes.subarray(0, offsets[1]));
    expect(rewriter.hasPassed).toBe(false);
    rewriter.scan(bytes.subarray(offsets[1], -30));
    expect(rewriter.hasPassed).toBe(true);
  });

  it('is full when the delay line is, or when too many ref-deltas wait', () => {
    const byBytes = new PackRewriter(() => false);
    const blobs = Array.from({ length: 4 }, () => Buffer.alloc(MAX_DELAY_LINE_BYTES / 4, 'x'));
    const { bytes } = buildPack(blobs.map((content) => ({ type: 'blob', content, zlib: { level: 0 } })));
    byBytes.scan(bytes.subarray(0, MAX_DELAY_LINE_BYTES - 1000));
    expect(byBytes.isFull).toBe(false);
    byBytes.scan(bytes.subarray(MAX_DELAY_LINE_BYTES - 1000));
    expect(byBytes.isFull).toBe(true);

    const byDeltas = new PackRewriter(() => false);
    for (let i = 1; i < MAX_WAITING_REF_DELTAS; i++) byDeltas.onRefDelta(i.toString(16).padStart(40, '0'));
    expect(byDeltas.isFull).toBe(false);
    byDeltas.onRefDelta(oidNumber(1));
    expect(byDeltas.isFull).toBe(true);
  });

  it('is full when small pieces keep large chunks in memory', () => {
    const chunkBytes = 120_000;
    const content = Buffer.concat([COMMIT, Buffer.alloc(60_000 - COMMIT.length, 'x')]);
    // As long as a stream of that content may be.
    const padded = storedStream(content, 12_000);
    const pairs = Array.from({ length: 360 }, (): Entry[] => [
      { type: 'commit', content, stream: padded },
      blob,
    ]);
    const { bytes } = buildPack(pairs.flat());
    const rewriter = new PackRewriter(() => false);
    for (const chunk of piecesOf(bytes, chunkBytes)) rewriter.scan(chunk);
    expect(rewriter.isFull).toBe(true);
  });

  it('is full when the pieces are very many, however small', () => {
    const delta = makeDelta(BLOB, BLOB);
    const stream = storedStream(delta);
    const deltas = Array.from({ length: 140_000 }, (): Entry => ({
      type: 'ofs-delta',
      base: 0,
      delta,
      stream,
    }));
    const { bytes } = buildPack([blob, commit, ...deltas]);
    expect(bytes.length).toBeLessThan(MAX_DELAY_LINE_BYTES / 4);
    const rewriter = new PackRewriter(() => false);
    for (const chunk of piecesOf(bytes, 256 * 1024)) rewriter.scan(chunk);
    expect(rewriter.isFull).toBe(true);
  });

  it.each([
    ['commit', COMMIT],
    ['tag', TAG],
  ] as const)('refuses a %s that comes after the pack has begun to leave', (type, content) => {
    const { bytes, offsets } = buildPack([commit, blob, { type, content }]);
    const rewriter = new PackRewriter(() => false);
    rewriter.scan(bytes.subarray(0, offsets[2]));
    rewriter.start([NEW]);
    expect(() => rewriter.scan(bytes.subarray(offsets[2]))).toThrow(refused('not-rewritable'));
  });

  it('refuses a delta of a commit that comes after the pack has begun to leave', () => {
    for (const late of [
      { type: 'ofs-delta', base: 0, delta: makeDelta(COMMIT, SECOND) },
      { type: 'ref-delta', base: oidOf('commit', COMMIT), delta: makeDelta(COMMIT, SECOND) },
    ] as const) {
      const { bytes, offsets } = buildPack([commit, blob, late]);
      const rewriter = new PackRewriter(() => false);
      rewriter.scan(bytes.subarray(0, offsets[2]));
      rewriter.start([NEW]);
      expect(() => rewriter.scan(bytes.subarray(offsets[2]))).toThrow(refused('not-rewritable'));
    }
  });

  it('refuses a ref-delta whose base turns out to be a commit behind it', () => {
    const { bytes } = buildPack([
      { type: 'ref-delta', base: oidOf('commit', COMMIT), delta: makeDelta(COMMIT, SECOND) },
      blob,
      commit,
    ]);
    expect(() => rewriteWhole([bytes])).toThrow(refused('not-rewritable'));
  });

  it('refuses a ref-delta whose base is a delta that makes a commit', () => {
    const { bytes } = buildPack([
      commit,
      { type: 'ref-delta', base: oidOf('commit', SECOND), delta: makeDelta(SECOND, COMMIT) },
      { type: 'ofs-delta', base: 0, delta: makeDelta(COMMIT, SECOND) },
    ]);
    expect(() => rewriteWhole([bytes])).toThrow(refused('not-rewritable'));
  });

  it('refuses a ref-delta against a commit of upstream, before and after it has begun', () => {
    const hidden: Entry = { type: 'ref-delta', base: UPSTREAM, delta: makeDelta(COMMIT, SECOND) };
    const { bytes, offsets } = buildPack([commit, blob, hidden]);
    expect(() => rewriteWhole([bytes])).toThrow(refused('not-rewritable'));
    const rewriter = new PackRewriter((oid) => oid === UPSTREAM);
    rewriter.scan(bytes.subarray(0, offsets[2]));
    rewriter.start([NEW]);
    expect(() => rewriter.scan(bytes.subarray(offsets[2]))).toThrow(refused('not-rewritable'));
  });

  it('sends commits of upstream’s that come late at the end, where they move nothing', async () => {
    const { count, objects } = await rewriteEarly(
      [commit, blob, { type: 'commit', content: SECOND }, { type: 'ofs-delta', base: 1, delta: blobDelta }],
      2,
    );
    expect(count).toBe(4);
    expect([...objects.keys()].toSorted()).toEqual(
      [
        oidOf('commit', NEW),
        oidOf('commit', SECOND),
        oidOf('blob', BLOB),
        oidOf('blob', OTHER_BLOB),
      ].toSorted(),
    );
  });

  it('drops commits of upstream’s that come before anything has left', async () => {
    const { bytes, offsets } = buildPack([commit, blob, { type: 'commit', content: SECOND }, blob]);
    const rewriter = new PackRewriter((oid) => oid === oidOf('commit', SECOND));
    rewriter.scan(bytes.subarray(0, offsets[2]));
    rewriter.start([NEW]);
    rewriter.scan(bytes.subarray(offsets[2]));
    rewriter.finish();
    const { count, objects } = await readPack(Buffer.concat([...rewriter.take(), rewriter.trailer()]));
    expect([count, objects.size]).toEqual([3, 2]);
  });

  it('says when an entry that waits turns out to be a commit, once more of upstream is known', () => {
    const known = new Set<string>();
    const hidden: Entry = { type: 'ref-delta', base: UPSTREAM, delta: makeDelta(COMMIT, SECOND) };
    const rewriter = new PackRewriter((oid) => known.has(oid));
    rewriter.scan(buildPack([commit, hidden]).bytes);
    expect(rewriter.hidesCommit).toBe(false);
    known.add(UPSTREAM);
    expect(rewriter.hidesCommit).toBe(true);
  });
});
