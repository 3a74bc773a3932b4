/**
 * Work that has nothing in common with its base, or that changes nothing: said before anything is
 * made.
 */
import { expect, it } from 'vitest';
import { contribute, type Contribution, expectAccepted, expectRefused } from '../support/contribution.ts';
import { remoteLines } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

const REASON = 'no history in common';

/** Types the commands that an answer has printed. */
async function typeAll({ clone }: Pick<Contribution, 'clone'>, lines: readonly string[]): Promise<void> {
  for (const line of lines.filter((each) => each.startsWith('  git ')))
    await clone.person.mustRun('sh', clone.path, ['-c', line.trim()]);
}

it(
  'an orphan is refused now, later and previewed, and the commands in the answer mend it',
  exhaustive,
  async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.git('checkout', '--quiet', '--orphan', 'alone');
    await clone.git('rm', '--quiet', '-rf', '.');
    await clone.commit({ message: 'Alone\n', files: { 'alone.txt': 'alone\n' } });
    const push = (...options: string[]) => clone.push(...options, 'origin', 'HEAD:topic');
    for (const options of [
      ['-o', 'delay=1h'],
      ['-o', 'preview'],
    ])
      await expectRefused(bed, upstream, await push(...options), REASON);
    const lines = await expectRefused(bed, upstream, await push(), REASON);
    expect(bed.host.requestsFor(upstream, 'POST', /\/forks$/)).toEqual([]);
    await typeAll(contribution, lines);
    await expectAccepted(bed, contribution, await push());
  },
);

it(
  'work on the default branch is refused for a base with a history of its own, and taken for a branch',
  exhaustive,
  async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await upstream.grow({ branch: 'gh-pages', from: null });
    await upstream.grow({ branch: 'old', from: 'main~1' });
    await clone.commit({ message: 'Work\n', files: { 'work.txt': 'work\n' } });
    const push = (base: string) => clone.push('-o', `base=${base}`, 'origin', 'HEAD:topic');
    await expectRefused(bed, upstream, await push('gh-pages'), REASON);
    const pushed = await push('old');
    expect(pushed.code, pushed.stderr).toBe(0);
  },
);

it(
  'work on another branch is refused for a base that shares nothing with it, and costs no fork',
  exhaustive,
  async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    for (const branch of ['pages', 'twin'])
      await upstream.grow({ branch, from: branch === 'twin' ? 'pages' : null });
    await clone.git('fetch', '--quiet', 'origin');
    await clone.git('checkout', '--quiet', '-b', 'own', 'origin/pages');
    await clone.commit({ message: 'Work\n', files: { 'work.txt': 'work\n' } });
    const push = (...options: string[]) => clone.push(...options, 'origin', 'HEAD:topic');
    await expectRefused(bed, upstream, await push('-o', 'base=main'), REASON);
    await expectRefused(bed, upstream, await push('-o', 'base=main', '-o', 'preview'), REASON);
    expect(bed.host.requestsFor(upstream, 'POST', /\/forks$/)).toEqual([]);
    expect((await push('-o', 'base=twin')).code).toBe(0);
  },
);

it('a change and its revert, and an empty commit, are published with a word', exhaustive, async () => {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit({ message: 'Change\n', files: { 'new.txt': 'new\n' } });
  await clone.git('rm', '--quiet', 'new.txt');
  await clone.git('commit', '--quiet', '-m', 'Back');
  const pushed = await clone.push('origin', 'HEAD:topic');
  await expectAccepted(bed, contribution, pushed);
  expect(remoteLines(pushed)).toContain('This push changes no file.');
  await clone.git('reset', '--quiet', '--hard', 'origin/main');
  await clone.git('commit', '--quiet', '--allow-empty', '-m', 'Nothing');
  const empty = await clone.push('-o', 'delay=1h', 'origin', 'HEAD:empty');
  expect(remoteLines(empty)).toContain('This push changes no file.');
});
