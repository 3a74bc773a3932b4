/**
 * `-o pr-hash=…`: the same pull request again, whatever has become of it (contract, 2.7, 3.3 and
 * 4.6).
 */
import { describe, expect, it } from 'vitest';
import { openedOne, opensAnother } from '../shapes/updates.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { readHistory } from '../support/objects.ts';
import { remoteLines } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

const NOTICE = /^No pull request of octo\/\w+ has that pr-hash, so this would open a NEW one\.$/m;

describe('a push with a pr-hash', () => {
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

  it('opens a new pull request from the same branch when the old one is merged', exhaustive, () =>
    opensAnother(bed, 'merged'),
  );

  it('that nobody has opens a new pull request with a hash of its own, and says so', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const pushed = await clone.push('-o', 'pr-hash=0123456789ab', 'origin', 'HEAD:topic');
    const { banner } = await expectAccepted(bed, contribution, pushed);
    expect(banner.prHash).not.toBe('0123456789ab');
    expect(banner.prKey).toMatch(/^[0-9a-f]{32}$/);
    expect(remoteLines(pushed).join('\n')).toMatch(NOTICE);
    expect(await bed.host.workBranches(upstream)).toEqual([banner.branch]);
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

  it('with other words leaves nothing of the old commits on the branch', async () => {
    const { clone, first, upstream } = await openedOne(bed);
    await clone.git('commit', '--quiet', '--amend', '--message=Other words');
    const pushed = await clone.push('-f', '-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:x');
    expect(pushed.code, pushed.stderr).toBe(0);
    const history = await readHistory(first.forkPath, first.banner.branch, '^main');
    expect(history.map(({ oid }) => oid)).not.toContain(first.pull.headSha);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
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
