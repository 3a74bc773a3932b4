/** Histories and trees that judging tells apart. */
import { expect } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { readHistory } from '../support/objects.ts';
import type { Clone } from '../support/person.ts';
import { bannerOf, remoteLines } from '../support/push-output.ts';
import type { Shapes } from './shape.ts';

/** A commit with these parents and a tree of its own. */
async function joinHistories(clone: Clone, parents: readonly string[], message: string): Promise<string> {
  await clone.git('read-tree', parents[0] as string);
  const blob = await clone.writeObject('blob', Buffer.from(`${message}\n`));
  await clone.git(
    'update-index',
    '--add',
    '--cacheinfo',
    `100644,${blob},${message.replaceAll(' ', '-')}.txt`,
  );
  return clone.commitObject({ tree: await clone.git('write-tree'), parents, message: `${message}\n` });
}

export const HISTORIES: Shapes = {
  'keep a merge of upstream into the person’s branch': async (bed) => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const tip = await upstream.grow({ count: 2 });
    await clone.git('fetch', '--quiet');
    await clone.git('merge', '--quiet', '--no-edit', '-m', 'Merge upstream', 'origin/main');
    await clone.commit();
    const { commits } = await expectAccepted(bed, contribution, await clone.push());
    expect(commits).toHaveLength(3);
    expect(commits[1]?.parents).toEqual([commits[0]?.oid, tip]);
  },

  'keep an octopus merge, upstream’s commits among its arms': async (bed) => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const base = await clone.git('rev-parse', 'HEAD');
    const older = await clone.git('rev-parse', 'HEAD~1');
    const arms = [
      await joinHistories(clone, [base], 'one'),
      await joinHistories(clone, [older], 'two'),
      await joinHistories(clone, [base], 'three'),
    ];
    const tip = await joinHistories(clone, [...arms, base], 'octopus');
    const pushed = await clone.push('origin', `${tip}:refs/heads/octopus`);
    const { commits } = await expectAccepted(bed, contribution, pushed, { tip });
    expect(commits.at(-1)?.parents).toHaveLength(4);
    expect(commits.at(-1)?.parents[3]).toBe(base);
  },

  'keep a merge of a history that has nothing in common with upstream’s': async (bed) => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const base = await clone.git('rev-parse', 'HEAD');
    const blob = await clone.writeObject('blob', Buffer.from('vendored\n'));
    await clone.git('read-tree', '--empty');
    await clone.git('update-index', '--add', '--cacheinfo', `100644,${blob},vendored.txt`);
    const tree = await clone.git('write-tree');
    const root = await clone.commitObject({ tree, parents: [], message: 'A root\n' });
    const tip = await joinHistories(clone, [base, root], 'vendor it');
    const pushed = await clone.push('origin', `${tip}:refs/heads/vendor`);
    const { commits } = await expectAccepted(bed, contribution, pushed, { tip });
    expect(commits[0]?.parents).toEqual([]);
  },

  'of 500 commits arrive whole': async (bed) => {
    const contribution = await contribute(bed);
    await contribution.clone.commitMany(500, (index) => `Step ${index}\n\nOne of many.\n`);
    const { commits, pull } = await expectAccepted(bed, contribution, await contribution.clone.push());
    expect(commits).toHaveLength(500);
    expect(pull.title).toBe('Step 499');
  },

  'lose a commit that differs from another only in who made it': async (bed) => {
    const { clone, upstream } = await contribute(bed);
    const base = await clone.git('rev-parse', 'HEAD');
    const [tree, message] = [await clone.tree(), 'The same work\n'];
    const twins = [
      await clone.commitObject({ tree, parents: [base], message }),
      await clone.commitObject({ tree, parents: [base], message }),
    ];
    expect(twins[0]).not.toBe(twins[1]);
    const tip = await joinHistories(clone, twins, 'join the twins');
    const pushed = await clone.push('origin', `${tip}:refs/heads/twins`);
    expect(pushed.code, pushed.stderr).toBe(0);
    const forkPath = bed.host.forkPath(upstream) as string;
    const [only, joined, ...others] = await readHistory(forkPath, `^${base}`, bannerOf(pushed).branch);
    expect(others).toEqual([]);
    expect([only?.parents, joined?.parents]).toEqual([[base], [only?.oid]]);
  },
};

/** As `git update-index --cacheinfo` takes it. */
const module = (digits: string): string => `160000,${digits.repeat(20)},module-50`;

export const TREES: Shapes = {
  'warn of submodules that change, and of no others': async (bed) => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    const files = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`file-${index}.txt`, 'x\n']));
    await upstream.grow({ files: { ...files, '.gitmodules': '[submodule "module-50"]\n' } });
    await clone.git('pull', '--quiet', 'origin', 'main');
    await clone.git('update-index', '--add', '--cacheinfo', module('ab'));
    await clone.git('commit', '--quiet', '-m', 'Add a submodule');
    expect(remoteLines(await clone.push('-o', 'preview'))).toContain('  module-50 at abababababab');
    const added = await clone.push();
    const { pull } = await expectAccepted(bed, contribution, added);
    const told = remoteLines(added);
    expect(told).toContain('  module-50 at abababababab');
    const [before = ''] = told.join('\n').split('Sending 1 anonymous commit');
    expect(before).toContain('  module-50 at abababababab');
    // The folder is then sent as a difference, which shows 20 bytes and no name.
    await bed.sandbox.maintainer.merge({ owner: upstream.owner, repo: upstream.name, number: pull.number });
    await clone.git('fetch', '--quiet', 'origin');
    await clone.git('reset', '--quiet', '--hard', 'origin/main');
    await clone.git('update-index', '--cacheinfo', module('cd'));
    await clone.git('commit', '--quiet', '-m', 'Use a newer submodule');
    const changed = await clone.push('origin', 'HEAD:changed');
    expect(changed.code, changed.stderr).toBe(0);
    expect(remoteLines(changed)).toContain('  module-50 at cdcdcdcdcdcd');
    await clone.git('reset', '--quiet', '--hard', 'origin/main');
    await clone.commit();
    const other = await clone.push('origin', 'HEAD:other');
    expect(other.code, other.stderr).toBe(0);
    expect(remoteLines(other).join('\n')).not.toContain('submodule');
    // Upstream uses a newer one, and the work before that merges it.
    await upstream.grow({ files: { 'file-1.txt': 'y\n' } });
    await clone.git('fetch', '--quiet', 'origin');
    await clone.git('switch', '--quiet', '--detach', 'origin/main');
    await clone.git('update-index', '--cacheinfo', module('ef'));
    await clone.git('commit', '--quiet', '-m', 'Use the newest submodule');
    await upstream.git('fetch', '--quiet', clone.path, 'HEAD:refs/heads/main');
    await clone.git('switch', '--quiet', '--detach', 'origin/main~1');
    await clone.commit();
    await clone.git('fetch', '--quiet', 'origin');
    await clone.git('merge', '--quiet', '--no-edit', 'origin/main');
    const merged = await clone.push('-o', 'preview', 'origin', 'HEAD:merged');
    expect(remoteLines(merged).join('\n')).not.toContain('submodule');
  },
};
