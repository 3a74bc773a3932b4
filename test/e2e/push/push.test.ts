/**
 * One branch, pushed as people push: what the person reads, what the pull request says, and where
 * it goes.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { bannerOf, statusTable } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

describe('a push of one branch', () => {
  it('opens a pull request by the bot, with title and body from the message', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit({ message: 'Say hello\n\nBecause it is polite.\n\nAnd short.\n' });
    const { pull, commits } = await expectAccepted(bed, contribution, await clone.push());
    expect(pull).toMatchObject({
      title: 'Say hello',
      body: 'Because it is polite.\n\nAnd short.',
      base: 'main',
      author: 'gitveil-bot',
    });
    expect(commits).toHaveLength(1);
    expect(commits[0]?.parents).toEqual([await upstream.tip()]);
  });

  it('works with --quiet, and still says where the pull request is', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, person } = contribution;
    await clone.commit();
    const pushed = await clone.push('--quiet', 'origin', `HEAD:${person.branch}`);
    await expectAccepted(bed, contribution, pushed);
    expect(statusTable(pushed)).toEqual([]);
  });

  it('works with --porcelain, for programs', exhaustive, async () => {
    const { clone, person } = await contribute(bed);
    await clone.commit();
    const pushed = await clone.push('--porcelain', 'origin', `HEAD:refs/heads/${person.branch}`);
    expect(pushed.code).toBe(0);
    expect(pushed.stdout).toContain(`*\tHEAD:refs/heads/${person.branch}\t[new branch]\n`);
    expect(pushed.stdout).toMatch(/Done\n$/);
  });

  it('leaves the person a remote-tracking branch, and is told the same pull request when it is pushed again', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    await clone.git('switch', '--quiet', '-c', 'topic');
    expect((await clone.push('-u', 'origin', 'topic')).code).toBe(0);
    expect(await clone.git('rev-parse', 'origin/topic')).toBe(await clone.git('rev-parse', 'HEAD'));
    // The branch is on the fork, not upstream: Git does not know, and offers it once more.
    const again = await clone.push('origin', 'topic');
    expect(again.code).toBe(0);
    expect(bannerOf(again).prUrl).toBe((await bed.host.onlyPull(upstream)).url);
  });

  it.each([
    ['simple', ['-u', 'origin', 'HEAD']],
    ['current', []],
    ['matching', ['origin', ':']],
    ['upstream', ['origin', 'HEAD:topic']],
  ])('works with push.default=%s', exhaustive, async (pushDefault, args) => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    // `matching` pushes what exists on both sides: main.
    if (pushDefault !== 'matching') await clone.git('switch', '--quiet', '-c', 'topic');
    await clone.git('config', 'push.default', pushDefault);
    await clone.git('config', 'remote.pushDefault', 'origin');
    await clone.commit();
    const pushed = await clone.tryGit('push', ...args);
    await expectAccepted(bed, contribution, pushed);
  });

  it('gives each push a hash, branch and pull request of its own', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    const first = bannerOf(await clone.push('origin', 'HEAD:one'));
    const second = bannerOf(await clone.push('origin', 'HEAD:two'));
    expect(second.prHash).not.toBe(first.prHash);
    expect((await bed.host.pulls(upstream)).map(({ url }) => url)).toEqual([first.prUrl, second.prUrl]);
  });
});

describe('the base of the pull request', () => {
  it('is the branch of the pushed name where upstream has it', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await upstream.grow({ branch: 'release', from: 'main~1', count: 2 });
    await clone.git('fetch', '--quiet');
    await clone.git('switch', '--quiet', 'release');
    await clone.commit();
    const pushed = await clone.push('origin', 'release');
    expect((await expectAccepted(bed, contribution, pushed)).pull.base).toBe('release');
    expect(statusTable(pushed)[0]).toMatch(/ [0-9a-f]{7,}\.\.[0-9a-f]{7,} +release -> release$/);
  });

  it('is the default branch otherwise, whatever its name', async () => {
    const contribution = await contribute(bed, { defaultBranch: 'trunk' });
    await contribution.clone.commit();
    const { pull } = await expectAccepted(bed, contribution, await contribution.clone.push());
    expect(pull.base).toBe('trunk');
  });

  it('is what stands behind refs/for/', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await upstream.grow({ branch: 'release/1.x', from: 'main~1' });
    await clone.git('fetch', '--quiet');
    await clone.git('switch', '--quiet', 'release/1.x');
    await clone.commit();
    const pushed = await clone.push('origin', 'HEAD:refs/for/release/1.x');
    const { pull, banner } = await expectAccepted(bed, contribution, pushed);
    expect(pull.base).toBe('release/1.x');
    expect(statusTable(pushed)).toEqual([' * [new reference]   HEAD -> refs/for/release/1.x']);
    expect(banner.command).toMatch(/ HEAD:refs\/for\/release\/1\.x$/);
  });

  it(
    'takes a stale clone by refs/for/main, which Git itself would not push to main',
    exhaustive,
    async () => {
      const contribution = await contribute(bed);
      const { clone, upstream } = contribution;
      await upstream.grow({ count: 2 });
      await clone.commit();
      const direct = await clone.push('origin', 'main');
      expect([direct.code, statusTable(direct)]).toEqual([
        1,
        [' ! [rejected]        main -> main (fetch first)'],
      ]);
      const pushed = await clone.push('origin', 'HEAD:refs/for/main');
      expect((await expectAccepted(bed, contribution, pushed)).pull.base).toBe('main');
    },
  );
});
