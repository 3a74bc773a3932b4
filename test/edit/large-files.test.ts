/** How far folders are read to tell since which commit a file of a push is too large. */
import { expect, it } from 'vitest';
import { findLargeFiles } from '../../src/edit/large-files.ts';
import { PlannedCommits } from '../../src/git/objects/planned-commits.ts';
import { encodeTree } from '../../src/git/objects/tree.ts';
import { MAX_OBJECT_BYTES } from '../../src/git/pack/memory-limits.ts';
import { CountedMemory } from '../support/counted-memory.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { buildPack, oidOf } from '../support/pack-builder.ts';
import { filesOnly } from '../support/stored-pack.ts';

const LARGE = Buffer.alloc(MAX_OBJECT_BYTES + 1);

const entry = (name: string, content: Buffer) => ({
  name: Buffer.from(name),
  mode: '100644',
  oid: oidOf('blob', content),
});

/** A folder of so many small files, and of one that says which commit it is of. */
function folderOf(files: number, commit: number, isWithLarge: boolean): Buffer {
  const small = entry('', Buffer.from('small'));
  return Buffer.from(
    encodeTree([
      ...Array.from({ length: files }, (_, at) => ({ ...small, name: Buffer.from(`${10_000 + at}`) })),
      entry('commit', Buffer.from(`${commit}`)),
      ...(isWithLarge ? [entry('large.bin', LARGE)] : []),
    ]),
  );
}

it.each([
  [10, 2],
  [40_000, null],
])('the first commit with a large file beside %i others is known: %s', exhaustive, async (...row) => {
  const [files, since] = row;
  const folders = [false, false, true].map((isWithLarge, commit) => folderOf(files, commit, isWithLarge));
  const roots = folders.map((content) => oidOf('tree', content));
  const commits = new PlannedCommits();
  for (const [at, tree] of roots.entries()) {
    const message = { bytes: Buffer.from('x\n'), mentions: [] };
    commits.push({ tree, parents: at === 0 ? [] : [at - 1], encoding: null, message });
  }
  const { bytes } = buildPack([
    ...folders.map((content) => ({ type: 'tree' as const, content })),
    { type: 'blob', content: LARGE },
  ]);
  const pushed = { commits, boundary: [], pack: filesOnly(bytes) };
  const found = await findLargeFiles(pushed, roots, () => expect.unreachable(), new CountedMemory());
  expect(found).toEqual([{ path: 'large.bin', bytes: LARGE.length, since }]);
});
