/** Histories of other shapes than push-stored.test.ts has, and trees with every kind of entry. */
import * as fs from 'node:fs';
import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as isomorphicGit from 'isomorphic-git';
import { describe, expect, it } from 'vitest';
import { joinHistories } from '../shapes/histories.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { gitIn, readObject } from '../support/objects.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

describe('histories', exhaustive, () => {
  it('keep a merge of two of the person’s own branches', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.git('switch', '--quiet', '-c', 'one');
    await clone.commit();
    await clone.git('switch', '--quiet', '-c', 'two', 'origin/main');
    await clone.commit();
    await clone.git('merge', '--quiet', '--no-edit', '-m', 'Merge one into two', 'one');
    const { commits, pull } = await expectAccepted(bed, contribution, await clone.push());
    expect(commits.map(({ parents }) => parents.length)).toEqual([1, 1, 2]);
    expect(pull.title).toBe('Change something');
  });

  it('keep criss-cross merges', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const base = await clone.git('rev-parse', 'HEAD');
    const [a, b] = [await joinHistories(clone, [base], 'a'), await joinHistories(clone, [base], 'b')];
    const [ab, ba] = [
      await joinHistories(clone, [a, b], 'a with b'),
      await joinHistories(clone, [b, a], 'b with a'),
    ];
    const tip = await joinHistories(clone, [ab, ba], 'both again');
    const pushed = await clone.push('origin', `${tip}:refs/heads/criss-cross`);
    const { commits } = await expectAccepted(bed, contribution, pushed, { tip });
    expect(commits).toHaveLength(5);
  });

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

  it('hold commits that change nothing', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit({ files: {}, message: 'Trigger the build\n' });
    await contribution.clone.commit({ files: {}, message: 'Trigger it again\n' });
    const { commits } = await expectAccepted(bed, contribution, await contribution.clone.push());
    expect(commits).toHaveLength(2);
  });

  it('that are all upstream’s already are refused', async () => {
    const { clone, upstream } = await contribute(bed);
    const pushed = await clone.push('origin', 'origin/main~1:refs/heads/nothing-new');
    expect(pushed.code).toBe(1);
    expect(pushed.stderr).toContain('Upstream already has everything in this push. Commit something first.');
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });
});

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
