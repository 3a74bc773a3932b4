/**
 * A pack that is taken apart and put together again: what is in it, and what cannot be rewritten.
 */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PackScanner } from '../../../src/git/pack/pack-scanner.ts';
import { MAX_NAMED_BASES } from '../../../src/git/pack/memory-limits.ts';
import { commitEntryBytes, outgoingBytes, outgoingPack } from '../../../src/git/pack/outgoing-pack.ts';
import { CHUNKINGS } from '../../support/byte-chunks.ts';
import { readPack } from '../../support/isomorphic-reader.ts';
import { commitContent, oidNumber, tagContent, treeContent } from '../../support/objects.ts';
import { buildPack, type Entry, makeDelta, oidOf } from '../../support/pack-builder.ts';
import { UPSTREAM } from '../../support/random-push.ts';
import { packOf, receive } from '../../support/rewrite.ts';
import { exhaustive } from '../../support/exhaustive.ts';

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
function rewriteWhole(
  pieces: readonly Uint8Array[],
  commits: readonly Uint8Array[] = [NEW],
): Promise<Buffer> {
  const { scanner, passed } = receive(pieces);
  return packOf(commits, commits.length, scanner.passedCount, passed);
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
    const pack = await rewriteWhole(cut(bytes));
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
    const { objects } = await readPack(await rewriteWhole(cut(bytes)));
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
    const { objects } = await readPack(await rewriteWhole(cut(bytes)));
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
    const { objects } = await readPack(await rewriteWhole([buildPack([commit]).bytes], commits));
    for (const content of commits)
      expect(objects.get(oidOf('commit', content))?.content.equals(content)).toBe(true);
  });

  it('counts the same commit twice if the pack held it twice', async () => {
    const { count, objects } = await readPack(await rewriteWhole([buildPack([commit, commit, blob]).bytes]));
    expect([count, objects.size]).toEqual([2, 2]);
  });

  it('leaves ref-deltas to the host, also those that wait for each other', async () => {
    const cycle: Entry[] = [
      { type: 'ref-delta', base: oidOf('blob', OTHER_BLOB), delta: makeDelta(OTHER_BLOB, BLOB) },
      { type: 'ref-delta', base: oidOf('blob', BLOB), delta: blobDelta },
      { type: 'ref-delta', base: oidNumber(1), delta: blobDelta },
    ];
    const { bytes } = buildPack([commit, ...cycle]);
    expect((await rewriteWhole([bytes])).readUInt32BE(8)).toBe(4);
  });

  it('has its commits in pieces worth a write, and the rest as it is stored', async () => {
    const small = Array.from({ length: 1_000 }, () => new Uint8Array(100));
    const stored = new Uint8Array(100_000);
    const passed = async function* () {
      yield stored;
    };
    const pieces: Uint8Array[] = [];
    for await (const piece of outgoingPack(small.length, small, 1, passed())) pieces.push(piece);
    expect(pieces.length).toBeLessThan(8);
    expect(pieces.at(-2)).toBe(stored);
    const sent = Buffer.concat(pieces.slice(0, -1));
    expect(Buffer.from(pieces.at(-1)!)).toEqual(createHash('sha1').update(sent).digest());
    const commitBytes = small.length * commitEntryBytes(100);
    expect(outgoingBytes(commitBytes, stored.length)).toBe(sent.length);
  });
});

describe('a PackScanner', () => {
  it('keeps commits and tags, and counts what passes', () => {
    const { scanner } = receive([buildPack([commit, { type: 'tag', content: TAG }, blob]).bytes]);
    expect([scanner.kept.entryCount, scanner.passedCount]).toEqual([2, 1]);
    expect(Buffer.from(scanner.kept.withOid(oidOf('commit', COMMIT))?.content ?? [])).toEqual(COMMIT);
  });

  it('remembers the bases that deltas name by their ids, each once, and not too many', exhaustive, () => {
    const hidden: Entry = { type: 'ref-delta', base: UPSTREAM, delta: makeDelta(COMMIT, SECOND) };
    const { scanner } = receive([buildPack([commit, hidden, hidden]).bytes]);
    expect([...scanner.namedBases.oids()]).toEqual([UPSTREAM]);
    const full = new PackScanner();
    for (let i = 1; i < MAX_NAMED_BASES; i++) full.namedBases.add(i.toString(16).padStart(40, '0'));
    const other: Entry = { ...hidden, base: 'f'.repeat(40) };
    expect(() => full.scan(buildPack([hidden, hidden, other]).bytes)).toThrow(refused('too-large'));
  });
});
