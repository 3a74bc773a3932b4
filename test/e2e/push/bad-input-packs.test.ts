/**
 * Packs that are corrupted, cut short or lie: each is refused in-band, with a reason, at once, and
 * nothing is made of it. The pack that each is made of is in order, and is accepted at the end.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { buildPack, deltaSize, type Entry, makeDelta, oidOf } from '../../support/pack-builder.ts';
import { commitContent, oidNumber } from '../../support/objects.ts';
import {
  type ExpectedRefusal,
  expectInBandRefusal,
  expectStillServing,
  makeSoundPush,
  pushPack,
  type SoundPush,
} from '../support/sound-push.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();
let sound: SoundPush;

beforeAll(async () => {
  sound = await makeSoundPush(bed);
});

const INVALID: ExpectedRefusal = { unpack: 'invalid pack', reason: 'the pack is invalid' };
const NOT_ANONYMOUS: ExpectedRefusal = { reason: 'the commits cannot be made anonymous' };
const UNPROVEN: ExpectedRefusal = { reason: 'fetch first', line: /cannot find upstream/ };
const BY_HOST: ExpectedRefusal = {
  reason: 'the code host refused the commits',
  line: /The code host says: /,
};

const whole = () => buildPack(sound.entries).bytes;
/** The sound pack with another entry behind it. */
const withEntry = (entry: Entry) => buildPack([...sound.entries, entry]).bytes;
const flipped = (at: number) => {
  const bytes = whole();
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] as number) ^ 0x55;
  return bytes;
};
const someDelta = Buffer.concat([deltaSize(100), deltaSize(1), Buffer.from([1, 0x61])]);
const BAD_PACKS: readonly (readonly [what: string, expected: ExpectedRefusal, pack: () => Uint8Array])[] = [
  ['no trailer', { ...INVALID, line: /ended too early/ }, () => whole().subarray(0, -20)],
  ['a changed byte in the commit', INVALID, () => flipped(40)],
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
  ['no commit', UNPROVEN, () => buildPack([sound.blob]).bytes],
  ['no object', UNPROVEN, () => buildPack([]).bytes],
  ['no tree for its commit', BY_HOST, () => buildPack([sound.commit]).bytes],
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
});

describe('the service', exhaustive, () => {
  it('has opened nothing so far, and takes the same push when it is in order', async () => {
    const bodies = bed.host.requestsFor(sound.upstream, 'POST', /\/pulls$/);
    expect(bodies).toEqual([]);
    await expectStillServing(bed, sound);
  });
});
