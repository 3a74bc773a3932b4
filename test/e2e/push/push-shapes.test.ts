/** Histories of other shapes than push-stored.test.ts has, and trees with every kind of entry. */
import * as fs from 'node:fs';
import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as isomorphicGit from 'isomorphic-git';
import { describe, expect, it } from 'vitest';
import { TREES } from '../shapes/histories.ts';
import { tell } from '../shapes/shape.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { gitIn, readObject } from '../support/objects.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

describe('histories', exhaustive, () => {
  it('are read alike by another implementation of Git', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    for (const message of ['One\n', 'Two\n\nWith text.\n', 'Three\n']) await clone.commit({ message });
    const { banner, forkPath } = await expectAccepted(bed, contribution, await clone.push());
    const own = { fs, gitdir: join(clone.path, '.git'), ref: 'HEAD', depth: 3 };
    const originals = await isomorphicGit.log(own);
    const rewritten = await isomorphicGit.log({ fs, gitdir: forkPath, ref: banner.branch, depth: 4 });
    expect(rewritten.at(-1)?.oid).toBe(await upstream.tip());
    for (const [index, { commit }] of originals.entries()) {
      const anonymous = rewritten[index]?.commit;
      expect(anonymous).toMatchObject({ tree: commit.tree, message: commit.message });
      expect(anonymous?.author).toMatchObject({
        name: 'gitveil-bot',
        email: 'anonymous@gitveil.invalid',
        timezoneOffset: 0,
      });
      expect(anonymous?.committer).toEqual(anonymous?.author);
      expect(anonymous?.gpgsig).toBeUndefined();
    }
  });
});

// Never left out: a line of test/privacy.md leads to it.
describe('trees that push-stored.test.ts has, too,', () => tell(TREES, bed));

describe('trees', () => {
  it(
    'keep symbolic links, executable files, submodules, odd names and the empty tree',
    exhaustive,
    async () => {
      const contribution = await contribute(bed);
      const { clone } = contribution;
      clone.write('tool.sh', '#!/bin/sh\n');
      chmodSync(join(clone.path, 'tool.sh'), 0o755);
      symlinkSync('tool.sh', join(clone.path, 'link'));
      clone.write('größe und leer/日本 "語".txt', Buffer.from([0, 255, 10, 13, 0]));
      clone.write('deep/er/and/deep/er/file', '');
      await clone.commit({ files: {} });
      // The id of someone else's commit, in a repository of its own.
      await clone.git('update-index', '--add', '--cacheinfo', `160000,${'ab'.repeat(20)},vendor/module`);
      await clone.git('commit', '--quiet', '-m', 'Add a submodule');
      await clone.git('rm', '-r', '--quiet', '--cached', '.');
      await clone.git('commit', '--quiet', '-m', 'Remove everything');
      const { forkPath, commits } = await expectAccepted(bed, contribution, await clone.push());
      const listing = await gitIn(forkPath, 'ls-tree', '-r', commits[1]?.oid ?? '');
      expect(listing).toContain(`160000 commit ${'ab'.repeat(20)}\tvendor/module`);
      expect(listing).toMatch(/120000 blob \w+\tlink/);
      expect(listing).toMatch(/100755 blob \w+\ttool\.sh/);
      expect(commits[2]?.tree).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904');
    },
  );

  it('keep every blob byte for byte', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const files = Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => [
        `dir${index % 7}/file${index}.txt`,
        `${'line\n'.repeat(index)}${index}`,
      ]),
    );
    await clone.commit({ files });
    const { forkPath, commits } = await expectAccepted(bed, contribution, await clone.push());
    const names = await gitIn(
      forkPath,
      'ls-tree',
      '-r',
      '--format=%(objectname) %(path)',
      commits[0]?.oid ?? '',
    );
    const mine = names.split('\n').filter((line) => line.includes(' dir'));
    expect(mine).toHaveLength(120);
    for (const line of mine.slice(0, 10)) {
      const [oid = '', path = ''] = line.split(' ');
      expect((await readObject(forkPath, oid)).content.toString()).toBe(files[path]);
    }
  });
});
