/** Folders that code hosts would refuse. */
import { expect, it } from 'vitest';
import { folders } from '../../../../src/push/judge/rules/folders.ts';
import { oidNumber, treeContent } from '../../../support/objects.ts';
import { codesOf, knownPush } from '../../../support/known-push.ts';
import { type Entry, oidOf } from '../../../support/pack-builder.ts';

const push = (name: string, ...more: string[]) => {
  const content = treeContent([name, ...more].map((each) => ({ name: each, oid: oidNumber(7) })));
  const tree: Entry = { type: 'tree', content };
  return knownPush({ commits: [{ tree: oidOf('tree', content) }], files: [tree] });
};

it('refuses one that every host does, by its place', async () => {
  expect(await folders(push('a.txt'))).toEqual([]);
  await expect(folders(push('.git'))).rejects.toMatchObject({
    code: 'fsck',
    lines: [expect.stringContaining('the root folder'), expect.stringContaining('git rebase -i')],
  });
});

it('asks nothing of a pack that is not in memory', async () => {
  const { received, ...known } = push('.git');
  const spool = { byteLength: 9, isInMemory: false } as unknown as typeof received.pack.spool;
  const elsewhere = { ...known, received: { ...received, pack: { ...received.pack, spool } } };
  expect(codesOf(await folders(elsewhere))).toEqual([]);
});
