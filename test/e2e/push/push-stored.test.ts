/**
 * A verdict is data: pushes of every shape are published from its bytes alone, which are first read
 * back and compared with the verdict that would be published at once. So these shapes are told here
 * and, but for some trees, nowhere else. The tripwire searches the bytes, in which nothing tells
 * who has pushed, and when.
 */
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { decodeKept } from '../../../src/push/delay/kept-push.ts';
import { HISTORIES, TREES } from '../shapes/histories.ts';
import { keepsMessage, MENTIONS, MESSAGES } from '../shapes/messages.ts';
import { PACKS } from '../shapes/packs.ts';
import { tell } from '../shapes/shape.ts';
import { SQUASHES } from '../shapes/squashes.ts';
import { BASES, opensAnother, UPDATES } from '../shapes/updates.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { storedBuild } from '../support/stored-worker.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ rebuild: storedBuild });

let seen = 0;
afterEach(async () => {
  // Its line of the log may come after the answer.
  await expect.poll(() => bed.verdicts.length).toBeGreaterThan(seen);
  seen = bed.verdicts.length;
});

describe('published from stored bytes, histories', exhaustive, () => tell(HISTORIES, bed));
describe('published from stored bytes, trees', exhaustive, () => tell(TREES, bed));
describe('published from stored bytes, a message', exhaustive, () => {
  tell(MESSAGES, bed);
  it('that is empty is kept', () => keepsMessage(bed, '', 'Anonymous contribution', ''));
});
describe('published from stored bytes, a message that names a commit of the same push', exhaustive, () =>
  tell(MENTIONS, bed),
);
describe('published from stored bytes, packs', exhaustive, () => tell(PACKS, bed));
describe('published from stored bytes, an update', exhaustive, () => {
  tell(UPDATES, bed);
  it('of a pull request that is closed opens another', () => opensAnother(bed, 'closed'));
});
describe('published from stored bytes, the base of a pull request that is updated', exhaustive, () =>
  tell(BASES, bed),
);
describe('published from stored bytes, squash', exhaustive, () => tell(SQUASHES, bed));

it(
  'a push whose files lie in rows of the spool arrives whole, and its verdict holds only its commits',
  exhaustive,
  async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit({
      files: { 'large.bin': randomBytes(3 * 1024 * 1024) },
      message: 'Large\n',
    });
    const { commits } = await expectAccepted(bed, contribution, await contribution.clone.push());
    await expect.poll(() => bed.verdicts.length).toBeGreaterThan(seen);
    const bytes = bed.verdicts.at(-1) as Buffer;
    expect(bytes.length).toBeLessThan(4096);
    const stored = [...decodeKept(bytes).work.commits];
    expect(stored.map(({ tree, message }) => [tree, Buffer.from(message.bytes).toString()])).toEqual([
      [commits[0]?.tree, 'Large\n'],
    ]);
  },
);
