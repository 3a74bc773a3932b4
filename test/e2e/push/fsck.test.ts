/**
 * Folders and `.gitmodules` that hosts refuse (`transfer.fsckObjects`): refused when judged, and
 * told where.
 */
import { expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import type { Clone } from '../support/person.ts';
import { remoteLines } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

type Entry = readonly [mode: string, name: string, oid: string];

const writeTree = (clone: Clone, entries: readonly Entry[]): Promise<string> =>
  clone.writeObject(
    'tree',
    Buffer.concat(
      entries.flatMap(([mode, name, oid]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
    ),
  );

/** Pushes a commit with this folder in its root folder. */
async function pushFolder(clone: Clone, name: string, oid: string) {
  const tree = await writeTree(clone, [['40000', name, oid]]);
  const parents = [await clone.idOf('origin/main')];
  const tip = await clone.commitObject({ tree, parents, message: 'Add a folder\n' });
  return { tip, pushed: await clone.push('origin', `${tip}:refs/heads/odd`) };
}

const ZERO = '0'.repeat(40);

it.each<[id: string, entries: (file: string, folder: string) => Entry[]]>([
  [
    'treeNotSorted',
    (file) => [
      ['100644', 'b', file],
      ['100644', 'a', file],
    ],
  ],
  // Git sorts a folder as if its name ended with a slash.
  [
    'treeNotSorted',
    (file, folder) => [
      ['40000', 'a', folder],
      ['100644', 'a.b', file],
    ],
  ],
  [
    'duplicateEntries',
    (file) => [
      ['100644', 'a', file],
      ['100755', 'a', file],
    ],
  ],
  [
    'duplicateEntries',
    (file, folder) => [
      ['100644', 'a', file],
      ['100644', 'a.b', file],
      ['40000', 'a', folder],
    ],
  ],
  ['fullPathname', (file) => [['100644', 'a/b', file]]],
  ['hasDot', (file) => [['100644', '.', file]]],
  ['hasDotdot', (_, folder) => [['40000', '..', folder]]],
  ['hasDotgit', (_, folder) => [['40000', '.GIT', folder]]],
  ['nullSha1', () => [['160000', 'a', ZERO]]],
  ['gitmodulesSymlink', (file) => [['120000', '.gitmodules', file]]],
  ['gitmodulesBlob', (_, folder) => [['40000', '.gitmodules', folder]]],
])('%s is refused as Git’s own check does', exhaustive, async (id, entries) => {
  const { clone, upstream } = await contribute(bed);
  const [file, inner] = [
    await clone.writeObject('blob', Buffer.from('x\n')),
    await clone.idOf('HEAD^{tree}'),
  ];
  const { pushed } = await pushFolder(clone, 'lib', await writeTree(clone, entries(file, inner)));
  const lines = await expectRefused(bed, upstream, pushed, 'code hosts refuse some of its folders');
  expect(lines[1]).toMatch(new RegExp(`^Code hosts refuse "lib": .* \\(${id}\\)\\.$`));
  expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$|\/forks$/)).toEqual([]);
  const { stdout, stderr } = await clone.tryGit('fsck', '--strict', '--no-dangling');
  expect(stdout + stderr).toContain(id);
});

const SUBMODULE = '[submodule "a"]\n\tpath = a\n\turl = https://git.example/a\n';

it.each([
  ['gitmodulesName', SUBMODULE.replace('"a"', '"../a"')],
  ['gitmodulesPath', SUBMODULE.replace('path = a', 'path = -a')],
  ['gitmodulesUrl', SUBMODULE.replace('https', '-https')],
  ['gitmodulesUrl', SUBMODULE.replace('/a\n', '%0a/a\n')],
  ['gitmodulesUpdate', `${SUBMODULE}\tupdate = !touch here\n`],
])('%s is refused as Git’s own check does', exhaustive, async (id, text) => {
  const { clone, upstream } = await contribute(bed);
  const file = await clone.writeObject('blob', Buffer.from(text));
  const { tip, pushed } = await pushFolder(
    clone,
    'lib',
    await writeTree(clone, [['100644', '.gitmodules', file]]),
  );
  const lines = await expectRefused(bed, upstream, pushed, 'code hosts refuse some of its folders');
  expect(lines[1]).toMatch(new RegExp(`^Code hosts refuse "lib/.gitmodules": .* \\(${id}\\)\\.$`));
  await clone.git('update-ref', 'refs/heads/odd', tip);
  const { stdout, stderr } = await clone.tryGit('fsck', '--strict', '--no-dangling');
  expect(stdout + stderr).toContain(id);
});

it('a mode in an old form, which some hosts take, is told only', exhaustive, async () => {
  const { clone } = await contribute(bed);
  const tree = await writeTree(clone, [['040000', 'lib', await clone.idOf('HEAD^{tree}')]]);
  const parents = [await clone.idOf('HEAD')];
  const tip = await clone.commitObject({ tree, parents, message: 'Old modes\n' });
  const lines = remoteLines(await clone.push('-o', 'preview', 'origin', `${tip}:refs/heads/odd`));
  expect(lines).toContain(
    'Some code hosts refuse the root folder: it has a mode in an old form, which begins with 0 (zeroPaddedFilemode).',
  );
});

it('half an address for SSH, which older hosts take, is told only', exhaustive, async () => {
  const { clone } = await contribute(bed);
  const text = SUBMODULE.replace('git.example/', 'git.example:owner/');
  const file = await clone.writeObject('blob', Buffer.from(text));
  const { pushed } = await pushFolder(
    clone,
    'lib',
    await writeTree(clone, [['100644', '.gitmodules', file]]),
  );
  expect(pushed.code, pushed.stderr).toBe(0);
  expect(remoteLines(pushed)).toContain(
    'Some code hosts refuse "lib/.gitmodules": the address of a submodule has a colon where a slash should be (gitmodulesUrl).',
  );
});

it('ordinary submodules and odd names are taken', exhaustive, async () => {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  const files = { '.gitmodules': SUBMODULE, a: '', 'a.b': '', '...': '', 'x/a..b': '', 'x/.github': '' };
  await clone.commit({ files });
  await expectAccepted(bed, contribution, await clone.push('origin', 'HEAD:refs/heads/modules'));
});
