/**
 * Packs that are corrupted, cut short or lie: each is refused in-band, with a reason, at once, and nothing is made of
 * it. The pack that each is made of is in order, and is accepted at the end.
 */
import { deflateSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildPack, deltaSize, type Entry, makeDelta, oidOf } from '../../support/pack-builder.ts';
import { commitContent, oidNumber } from '../../support/objects.ts';
import {
  type ExpectedRefusal,
  expectInBandRefusal,
  expectStillServing,
  makeSoundPush,
  pushPack,
  REF,
  type SoundPush,
} from '../support/sound-push.ts';
import { remoteLines, statusTable } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();
let sound: SoundPush;

beforeAll(async () => {
  sound = await makeSoundPush(bed);
});

const INVALID: ExpectedRefusal = { unpack: 'invalid pack', reason: 'the pack is invalid' };
const TOO_LARGE: ExpectedRefusal = { reason: 'the push is too large', line: /over 10 MB/ };
const NOT_ANONYMOUS: ExpectedRefusal = { reason: 'the commits cannot be made anonymous' };
const UNPROVEN: ExpectedRefusal = { reason: 'fetch first', line: /cannot find upstream/ };
const BY_HOST: ExpectedRefusal = {
  reason: 'the code host refused the commits',
  line: /The code host says: /,
};

const whole = () => buildPack(sound.entries).bytes;
/** The sound pack with another entry behind it. */
const withEntry = (entry: Entry) => buildPack([...sound.entries, entry]).bytes;
const withBlob = (lie: Partial<Entry>) => buildPack([sound.commit, { ...sound.blob, ...lie } as Entry]).bytes;
const flipped = (at: number) => {
  const bytes = whole();
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] as number) ^ 0x55;
  return bytes;
};
/** Where a further entry is expected, the checksum's first byte is its header: any type at all. */
const ZEROS = Buffer.alloc(20);
const someDelta = Buffer.concat([deltaSize(100), deltaSize(1), Buffer.from([1, 0x61])]);
const bomb = deflateSync(Buffer.alloc(100 * 1024 * 1024));

const BAD_PACKS: readonly (readonly [what: string, expected: ExpectedRefusal, pack: () => Uint8Array])[] = [
  ['no pack at all', INVALID, () => Buffer.alloc(0)],
  ['only the signature', INVALID, () => whole().subarray(0, 4)],
  ['half of the pack', INVALID, () => whole().subarray(0, whole().length / 2)],
  ['no trailer', { ...INVALID, line: /ended too early/ }, () => whole().subarray(0, -20)],
  ['a wrong trailer', { ...INVALID, line: /checksum of the pack is wrong/ }, () => flipped(-1)],
  ['a changed byte in the commit', INVALID, () => flipped(40)],
  ['a changed byte in the last object', INVALID, () => flipped(-40)],
  ['another signature', INVALID, () => Buffer.concat([Buffer.from('JUNK'), whole().subarray(4)])],
  ['a web page', INVALID, () => Buffer.from('<!DOCTYPE html>'.repeat(100))],
  ['version 3', { ...INVALID, line: /version 2/ }, () => buildPack(sound.entries, { version: 3 }).bytes],
  ['a count that is too low', INVALID, () => buildPack(sound.entries, { count: 1 }).bytes],
  ['a count that is too high', INVALID, () => buildPack(sound.entries, { count: 9, trailer: ZEROS }).bytes],
  [
    'a count of 2^32 - 1',
    INVALID,
    () => buildPack(sound.entries, { count: 2 ** 32 - 1, trailer: ZEROS }).bytes,
  ],
  ['bytes behind it', { ...INVALID, line: /follow the end/ }, () => Buffer.concat([whole(), whole()])],
  [
    'an entry of an unknown type',
    INVALID,
    () => Buffer.concat([whole().subarray(0, 12), Buffer.from([0x50, 0])]),
  ],
  ['a stream that is not zlib', INVALID, () => withBlob({ stream: Buffer.from('not a zlib stream') })],
  ['a size that is too small', INVALID, () => withBlob({ declaredSize: 5 })],
  ['a size that is too large', INVALID, () => withBlob({ declaredSize: 50_000 })],
  ['a bomb of 100 MB that says 10 bytes', INVALID, () => withBlob({ declaredSize: 10, stream: bomb })],
  ['a bomb of 100 MB that says 9 MB', INVALID, () => withBlob({ declaredSize: 9_000_000, stream: bomb })],
  ['an object of 10 MB and a byte', TOO_LARGE, () => withBlob({ declaredSize: 10 * 1024 * 1024 + 1 })],
  ['an object of 2^31 bytes', TOO_LARGE, () => withBlob({ declaredSize: 2 ** 31 })],
  ['an object of 2^40 bytes', TOO_LARGE, () => withBlob({ declaredSize: 2 ** 40 })],
  [
    'a delta that makes 4 GiB',
    TOO_LARGE,
    () =>
      withEntry({
        type: 'ofs-delta',
        base: sound.entries.length - 1,
        delta: Buffer.concat([deltaSize(1), deltaSize(2 ** 32), Buffer.from([0x90, 1])]),
      }),
  ],
  [
    'a base before the pack',
    { ...INVALID, line: /base lies outside the pack/ },
    () => withEntry({ type: 'ofs-delta', distance: 1_000_000, delta: someDelta }),
  ],
  [
    'a base inside the commit',
    INVALID,
    () => withEntry({ type: 'ofs-delta', distance: whole().length - 20 - 30, delta: someDelta }),
  ],
  ['a base inside a file', BY_HOST, () => withEntry({ type: 'ofs-delta', distance: 7, delta: someDelta })],
  [
    'a base that nobody has',
    BY_HOST,
    () => withEntry({ type: 'ref-delta', base: oidNumber(1), delta: someDelta }),
  ],
  [
    'deltas that are each other’s base',
    BY_HOST,
    () => {
      const [one, two] = [Buffer.from('one '.repeat(50)), Buffer.from('two '.repeat(50))];
      return buildPack([
        ...sound.entries,
        { type: 'ref-delta', base: oidOf('blob', two), delta: makeDelta(two, one) },
        { type: 'ref-delta', base: oidOf('blob', one), delta: makeDelta(one, two) },
      ]).bytes;
    },
  ],
  [
    'a delta of another base than it says',
    BY_HOST,
    () => withEntry({ type: 'ofs-delta', base: 1, delta: someDelta }),
  ],
  ['no commit', UNPROVEN, () => buildPack([sound.blob]).bytes],
  ['no object', UNPROVEN, () => buildPack([]).bytes],
  ['no file for its tree', BY_HOST, () => buildPack([sound.commit, ...sound.trees]).bytes],
  ['no tree for its commit', BY_HOST, () => buildPack([sound.commit]).bytes],
  [
    'a file that is not the one in the tree',
    BY_HOST,
    () => buildPack([sound.commit, ...sound.trees, { type: 'blob', content: Buffer.from('x') }]).bytes,
  ],
  ['a tree that is none', BY_HOST, () => withEntry({ type: 'tree', content: Buffer.from('not a tree') })],
];

describe('a push with', exhaustive, () => {
  it.each(BAD_PACKS)('%s is refused, and nothing is made of it', async (_, expected, pack) => {
    await expectInBandRefusal(bed, sound, await pushPack(sound, pack()), expected);
  });

  it('a commit that is malformed is refused', async () => {
    const content = commitContent({
      tree: 'not-a-tree',
      author: 'x <x> 1 +0000',
      committer: 'x <x> 1 +0000',
    });
    const oid = await sound.clone.writeObject('commit', content);
    const { bytes } = buildPack([...sound.entries, { type: 'commit', content }]);
    await expectInBandRefusal(bed, sound, await pushPack(sound, bytes, oid), {
      ...INVALID,
      line: /malformed commit/,
    });
  });

  it('a commit on a parent that nobody has is refused', async () => {
    const { clone, trees } = sound;
    const parents = [oidNumber(1)];
    const tree = oidOf('tree', trees[0]?.content as Uint8Array);
    const oid = await clone.commitObject({ tree, parents, message: 'On nothing\n' });
    const content = await clone.person.mustGit(clone.gitFolder, ['cat-file', 'commit', oid]);
    const { bytes } = buildPack([{ type: 'commit', content }, ...sound.entries]);
    await expectInBandRefusal(bed, sound, await pushPack(sound, bytes, oid), UNPROVEN);
  });

  it('a commit that is hidden in a delta of upstream’s is refused', async () => {
    const { clone, upstream, commit, entries, tip } = sound;
    const base = await upstream.tip();
    const baseContent = await clone.person.mustGit(clone.gitFolder, ['cat-file', 'commit', base]);
    const delta = makeDelta(baseContent, commit.content);
    const { bytes } = buildPack([{ type: 'ref-delta', base, delta }, ...entries.slice(1)]);
    await expectInBandRefusal(bed, sound, await pushPack(sound, bytes, tip), {
      ...NOT_ANONYMOUS,
      line: /stores a commit as a delta/,
    });
  });

  it.each([
    ['a file', () => oidOf('blob', sound.blob.content)],
    ['a tree', () => oidOf('tree', sound.trees[0]?.content as Uint8Array)],
    ['an object that is not in the pack', () => oidNumber(2)],
  ])('%s in place of a commit is refused', async (_, newId) => {
    await expectInBandRefusal(bed, sound, await pushPack(sound, whole(), newId()), UNPROVEN);
  });

  it('nothing but what upstream has is refused with a hint', async () => {
    const newId = await sound.upstream.tip();
    await expectInBandRefusal(bed, sound, await pushPack(sound, buildPack([]).bytes, newId), {
      reason: 'nothing to propose',
    });
  });

  it('a real pack of Git’s own that lost a byte on the way is refused', async () => {
    const pack = await packOf(sound.clone, ['HEAD', '^origin/main'], '--thin', '--delta-base-offset');
    const lost = Buffer.concat([pack.subarray(0, 100), pack.subarray(101)]);
    await expectInBandRefusal(bed, sound, await pushPack(sound, lost), INVALID);
  });

  it('a bad pack to a client without side-band is told in the bare report', async () => {
    const body = pushBody({
      commands: [{ newId: sound.tip, ref: REF }],
      capabilities: 'report-status',
      pack: flipped(-1),
    });
    const { status, body: answer } = await sendPush(sound.upstream.url, sound.person, body);
    expect(status).toBe(200);
    expect(answer.toString()).toMatch(
      /^[0-9a-f]{4}unpack invalid pack\n[0-9a-f]{4}ng refs\/heads\/fix push rejected: the pack is invalid\n0000$/,
    );
  });
});

describe('a real client', exhaustive, () => {
  it('shows why a file over 10 MB is refused', async () => {
    const { clone, upstream } = await makeSoundPush(bed);
    await clone.commit({ files: { 'large.bin': Buffer.alloc(11 * 1024 * 1024, 'x') } });
    const pushed = await clone.push();
    expect(pushed.code).toBe(1);
    expect(statusTable(pushed).join('\n')).toContain('(push rejected: the push is too large)');
    expect(remoteLines(pushed).join('\n')).toContain(
      'The push contains an object over 10 MB. Remove it and push again.',
    );
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });
});

describe('the service', exhaustive, () => {
  it('has opened nothing so far, and takes the same push when it is in order', async () => {
    const bodies = bed.host.requestsFor(sound.upstream, 'POST', /\/pulls$/);
    expect(bodies).toEqual([]);
    await expectStillServing(bed, sound);
  });
});
