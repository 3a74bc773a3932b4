/** `PR_UPDATE_POLICY=key`: the branch name is public, so the pr_hash alone updates nothing. */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from './support/contribution.ts';
import { bannerOf, statusTable } from './support/push-output.ts';
import { useTestBed } from './support/test-bed.ts';

const bed = useTestBed({ env: { PR_UPDATE_POLICY: 'key' } });
const REFUSED = ' ! [remote rejected] HEAD -> topic (push rejected: the pr-key is missing or wrong)';

async function opened() {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit();
  const pushed = await clone.push();
  const first = await expectAccepted(bed, contribution, pushed);
  const key = / -o pr-key=([0-9a-f]{32}) /.exec(first.banner.command)?.[1] ?? 'none';
  const update = (...options: string[]) =>
    clone.push('-o', `pr-hash=${first.banner.prHash}`, ...options, 'origin', 'HEAD:topic');
  await clone.commit();
  return { ...contribution, first, key, update };
}

describe('a pull request with a key', () => {
  it('is updated as the banner spells it, again and again', async () => {
    const { clone, upstream, first, key } = await opened();
    expect(first.banner.command).toContain(` -o pr-key=${key} `);
    for (let round = 0; round < 2; round++) {
      const pushed = await clone.tryGit(...first.banner.command.split(' ').slice(1));
      const second = await expectAccepted(bed, { upstream, clone }, pushed);
      expect(second.pull.number).toBe(first.pull.number);
      expect(bannerOf(pushed).command).toBe(first.banner.command);
      await clone.commit();
    }
  });

  it('is not touched without the key, or with another', async () => {
    const { upstream, first, key, update } = await opened();
    const other = key.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
    for (const options of [[], ['-o', `pr-key=${other}`]]) {
      const pushed = await update(...options);
      expect(pushed.code).toBe(1);
      expect(statusTable(pushed)).toEqual([REFUSED]);
    }
    expect(await bed.host.onlyPull(upstream)).toEqual(first.pull);
    expect((await update('-o', `pr-key=${key}`)).code).toBe(0);
  });

  it('is not withdrawn without it', async () => {
    const { clone, upstream, first, key } = await opened();
    const withdraw = (...options: string[]) =>
      clone.push('-o', `pr-hash=${first.banner.prHash}`, ...options, 'origin', ':main');
    const refused = await withdraw();
    expect(statusTable(refused)).toEqual([
      ' ! [remote rejected] main (push rejected: the pr-key is missing or wrong)',
    ]);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'open' });
    expect((await withdraw('-o', `pr-key=${key}`)).code).toBe(0);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
  });

  it('keeps its key when a push after its closing opens another from the same branch', async () => {
    const { upstream, first, key, update } = await opened();
    bed.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number: first.pull.number });
    expect(statusTable(await update())).toEqual([REFUSED]);
    expect((await update('-o', `pr-key=${key}`)).code).toBe(0);
    expect((await bed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed', 'open']);
  });

  it('that does not exist is opened anew, with a key of its own', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    const pushed = await contribution.clone.push('-o', 'pr-hash=0123456789ab', 'origin', 'HEAD:topic');
    await expectAccepted(bed, contribution, pushed);
    expect(bannerOf(pushed).command).toMatch(/ -o pr-key=[0-9a-f]{32} /);
  });
});
