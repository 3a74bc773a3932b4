/** `-o pr-hash=…`: the same pull request again, whatever has become of it (contract, 2.7, 3.3 and 4.6). */
import { describe, expect, it } from 'vitest';
import { openedOne, opensAnother } from '../shapes/updates.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { readHistory } from '../support/objects.ts';
import { bannerOf, remoteLines, statusTable } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

const NOTICE = /^NEW pull request: no pull request of octo\/\w+ has that pr-hash\.$/m;

describe('a push with a pr-hash', () => {
  it('updates the open pull request with further commits', exhaustive, async () => {
    const contribution = await openedOne(bed);
    const { clone, first, upstream, person } = contribution;
    await clone.commit({ message: 'Second thoughts\n' });
    const pushed = await clone.push(
      '-o',
      `pr-hash=${first.banner.prHash}`,
      'origin',
      `HEAD:${person.branch}`,
    );
    const second = await expectAccepted(bed, contribution, pushed);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
    const { prKey: _, ...banner } = first.banner;
    expect(second.banner).toEqual(banner);
    expect(second.commits).toHaveLength(2);
    expect(second.pull).toMatchObject({ number: first.pull.number, title: 'First try', state: 'open' });
    expect(remoteLines(pushed)).toContain('Your pull request has been updated.');
  });

  it('updates it with rewritten commits: the branch is forced', async () => {
    const contribution = await openedOne(bed);
    const { clone, first, upstream } = contribution;
    await clone.git('commit', '--quiet', '--amend', '--message=Better words');
    const pushed = await clone.push('-f', '-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:anything');
    const second = await expectAccepted(bed, contribution, pushed);
    expect(second.commits).toHaveLength(1);
    expect(second.pull.headSha).not.toBe(first.pull.headSha);
    expect(await bed.host.workBranches(upstream)).toEqual([first.banner.branch]);
  });

  it('updates it with nothing but another base below, after a rebase', exhaustive, async () => {
    const contribution = await openedOne(bed);
    const { clone, first, upstream } = contribution;
    const tip = await upstream.grow({ count: 2 });
    await clone.git('pull', '--quiet', '--rebase', 'origin', 'main');
    const pushed = await clone.push('-f', '-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:topic');
    const second = await expectAccepted(bed, contribution, pushed);
    expect(second.commits[0]?.parents).toEqual([tip]);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it('works as the banner spells it', async () => {
    const { clone, first, upstream } = await openedOne(bed);
    await clone.commit();
    const [program, ...args] = first.banner.command.split(' ');
    expect(program).toBe('git');
    const pushed = await clone.tryGit(...args);
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(bannerOf(pushed).prUrl).toBe(first.pull.url);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it('takes the hash in capitals', async () => {
    const { clone, first, upstream } = await openedOne(bed);
    await clone.commit();
    const option = `pr-hash=${first.banner.prHash.toUpperCase()}`;
    expect(bannerOf(await clone.push('-o', option, 'origin', 'HEAD:x')).prUrl).toBe(first.pull.url);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it('works from another clone, by another person', async () => {
    const { first, upstream } = await openedOne(bed);
    const clone = await bed.person().copy(upstream);
    await clone.commit();
    const pushed = await clone.push('-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:topic');
    const { pull, commits } = await expectAccepted(bed, { upstream, clone }, pushed);
    expect(pull.url).toBe(first.pull.url);
    expect(commits).toHaveLength(1);
  });

  it.each(['closed', 'merged'] as const)(
    'opens a new pull request from the same branch when the old one is %s',
    exhaustive,
    (state) => opensAnother(bed, state),
  );

  it('that nobody has opens a new pull request with a hash of its own, and says so', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const pushed = await clone.push('-o', 'pr-hash=0123456789ab', 'origin', 'HEAD:topic');
    const { banner } = await expectAccepted(bed, contribution, pushed);
    expect(banner.prHash).not.toBe('0123456789ab');
    expect(remoteLines(pushed).join('\n')).toMatch(NOTICE);
    expect(await bed.host.workBranches(upstream)).toEqual([banner.branch]);
  });

  it('that is a letter off is asked about, already in a preview', async () => {
    const { clone, first } = await openedOne(bed);
    const { prHash } = first.banner;
    const near = prHash.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
    await clone.commit();
    const previewed = await clone.push('-o', 'preview', '-o', `pr-hash=${near}`, 'origin', 'HEAD:topic');
    expect(remoteLines(previewed)[0]).toMatch(new RegExp(`has that pr-hash\\. Did you mean ${prHash}\\?$`));
  });

  it(
    'of another repository opens a new pull request here, says so, and leaves the other alone',
    exhaustive,
    async () => {
      const other = await openedOne(bed);
      const contribution = await contribute(bed);
      await contribution.clone.commit();
      const option = `pr-hash=${other.first.banner.prHash}`;
      const pushed = await contribution.clone.push('-o', option, 'origin', 'HEAD:topic');
      const { banner } = await expectAccepted(bed, contribution, pushed);
      expect(banner.prHash).not.toBe(other.first.banner.prHash);
      expect(remoteLines(pushed).join('\n')).toMatch(NOTICE);
      expect((await bed.host.onlyPull(other.upstream)).headSha).toBe(other.first.pull.headSha);
    },
  );

  it('by two clones at once is answered to both, and leaves one pull request', async () => {
    const { first, upstream } = await openedOne(bed);
    const clones = await Promise.all([1, 2].map(() => bed.person().copy(upstream)));
    await Promise.all(clones.map((clone) => clone.commit()));
    const option = `pr-hash=${first.banner.prHash}`;
    const pushes = await Promise.all(clones.map((clone) => clone.push('-o', option, 'origin', 'HEAD:topic')));
    for (const pushed of pushes) expect(statusTable(pushed), pushed.stderr).toHaveLength(1);
    expect(pushes.map(({ code }) => code)).toContain(0);
    const { state, headSha } = await bed.host.onlyPull(upstream);
    expect(state).toBe('open');
    expect(headSha).not.toBe(first.pull.headSha);
  });

  it('may be given twice when it is the same', async () => {
    const { clone, first, upstream } = await openedOne(bed);
    await clone.commit();
    const option = `pr-hash=${first.banner.prHash}`;
    expect((await clone.push('-o', option, '-o', option, 'origin', 'HEAD:x')).code).toBe(0);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it('keeps the commits that the pull request had reachable by nobody', async () => {
    const { clone, first, upstream } = await openedOne(bed);
    await clone.git('commit', '--quiet', '--amend', '--message=Other words');
    const pushed = await clone.push('-f', '-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:x');
    expect(pushed.code, pushed.stderr).toBe(0);
    const history = await readHistory(first.forkPath, first.banner.branch, '^main');
    expect(history.map(({ oid }) => oid)).not.toContain(first.pull.headSha);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });
});

describe('a push without a pr-hash', () => {
  it('never touches a pull request that is open', async () => {
    const contribution = await openedOne(bed);
    const { clone, first, upstream } = contribution;
    await clone.commit();
    const pushed = await clone.push();
    const second = await expectAccepted(bed, contribution, pushed);
    expect(second.pull.number).not.toBe(first.pull.number);
    const [untouched] = await bed.host.pulls(upstream);
    expect(untouched?.headSha).toBe(first.pull.headSha);
  });
});

describe('the base of a pull request that is updated', exhaustive, () => {
  it('stays what it is, and so do the commits that it stands on, when the banner’s command is used', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await upstream.grow({ branch: 'develop', from: 'main~1', count: 4 });
    await clone.git('fetch', '--quiet');
    await clone.git('switch', '--quiet', '-c', 'topic', 'origin/develop');
    await clone.commit();
    const firstPush = await clone.push('-o', 'base=develop', 'origin', 'HEAD:topic');
    const first = await expectAccepted(bed, contribution, firstPush);
    expect(first.pull.base).toBe('develop');
    const command = remoteLines(firstPush)
      .find((line) => line.includes('git push -o'))
      ?.trim();
    expect(command).toContain(' -o base=develop ');
    // Upstream goes on meanwhile, so that the tip of develop is another one.
    await upstream.grow({ branch: 'develop', count: 2 });
    await clone.commit();
    const args = (command ?? '').replace(/^git push /, '').split(' ');
    for (const given of [
      args,
      args.filter((arg, at) => arg !== 'base=develop' && args[at + 1] !== 'base=develop'),
    ]) {
      const second = await expectAccepted(bed, contribution, await clone.push(...given));
      expect(second.pull).toMatchObject({ number: first.pull.number, base: 'develop' });
      expect(second.commits).toHaveLength(2);
    }
  });
});
