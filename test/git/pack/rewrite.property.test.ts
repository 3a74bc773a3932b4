/**
 * The promise of the rewrite: for any pack, what an independent reader finds in the rewritten one
 * are the same trees, blobs and messages, and only the bot's identity.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHUNKINGS, randomPieces } from '../../support/byte-chunks.ts';
import { readPack } from '../../support/isomorphic-reader.ts';
import { PRIVATE_WORDS } from '../../support/objects.ts';
import { expectedCommits, type RandomPush, randomPush } from '../../support/random-push.ts';
import { rewrite, type Rewritten } from '../../support/rewrite.ts';
import { runs } from '../../support/runs.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const anyPush = randomPush({ forwardBases: false, nul: true, thin: false });

async function expectAnonymous(push: RandomPush, { pack, tip }: Rewritten): Promise<void> {
  const { count, objects } = await readPack(pack);
  const expected = expectedCommits(push);
  expect(tip).toBe(expected.tip);
  const found = [...objects].filter(([, { type }]) => type === 'commit');
  expect(new Map(found.map(([oid, { content }]) => [oid, content]))).toEqual(expected.contents);
  for (const { oid, type, content } of push.treesAndBlobs)
    expect(objects.get(oid)).toEqual({ type, content: Buffer.from(content) });
  expect(objects.size).toBe(expected.contents.size + push.treesAndBlobs.length);
  expect(count).toBe(objects.size);
}

describe('a rewritten pack', () => {
  it(
    'holds the same trees, blobs and messages and only the bot, for any push in any pieces',
    exhaustive,
    async () => {
      await fc.assert(
        fc.asyncProperty(anyPush, fc.nat(999), async (push, seed) => {
          await expectAnonymous(push, await rewrite(randomPieces(push.pack, seed), push.tip));
        }),
        runs(70),
      );
    },
  );

  it.each(CHUNKINGS)('does not depend on the pieces that it came in: %s', async (_, cut) => {
    await fc.assert(
      fc.asyncProperty(anyPush, async (push) => {
        const { pack } = await rewrite(cut(push.pack), push.tip);
        expect(pack.equals((await rewrite([push.pack], push.tip)).pack)).toBe(true);
      }),
      runs(25),
    );
  });

  it('stays the same when it is rewritten once more', async () => {
    await fc.assert(
      fc.asyncProperty(anyPush, async (push) => {
        const once = await rewrite([push.pack], push.tip);
        const twice = await rewrite([once.pack], once.tip);
        expect(twice.tip).toBe(once.tip);
        expect(twice.pack.equals(once.pack)).toBe(true);
      }),
      runs(30),
    );
  });

  it('shows none of the people in any byte that is not compressed, nor an original id', async () => {
    await fc.assert(
      fc.asyncProperty(anyPush, async (push) => {
        const { pack } = await rewrite([push.pack], push.tip);
        const objects = [...(await readPack(pack)).objects.values()];
        const commits = objects.filter(({ type }) => type === 'commit').map(({ content }) => content);
        const text = Buffer.concat(commits).toString('latin1');
        for (const word of [...PRIVATE_WORDS, ...push.commits.keys()]) expect(text).not.toContain(word);
      }),
      runs(30),
    );
  });
});
