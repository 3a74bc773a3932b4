/** Updates of pull requests that judging tells apart. */
import { expect } from 'vitest';
import { type Accepted, type Contribution, contribute, expectAccepted } from '../support/contribution.ts';
import { remoteLines } from '../support/push-output.ts';
import type { TestBed } from '../support/test-bed.ts';
import type { Shapes } from './shape.ts';

const thisSecond = () => Math.floor(Date.now() / 1000);

/** Commits have dates of whole seconds: after this, what is new would get another one. */
export async function nextSecond(): Promise<void> {
  const now = thisSecond();
  await expect.poll(thisSecond).toBeGreaterThan(now);
}

/** An open pull request of two commits, and what updates it. */
export async function opened(bed: TestBed) {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  for (const message of ['One\n', 'Two\n']) await clone.commit({ message });
  const first = await expectAccepted(bed, contribution, await clone.push());
  const option = `pr-hash=${first.banner.prHash}`;
  const update = (from = clone) => from.push('-f', '-o', option, 'origin', 'HEAD:topic');
  return { ...contribution, first, update };
}

const ids = (commits: readonly { readonly oid: string }[]) => commits.map(({ oid }) => oid);

/** A contribution with an open pull request of one commit. */
export async function openedOne(bed: TestBed): Promise<Contribution & { first: Accepted }> {
  const contribution = await contribute(bed);
  await contribution.clone.commit({ message: 'First try\n' });
  const first = await expectAccepted(bed, contribution, await contribution.clone.push());
  return { ...contribution, first };
}

export const UPDATES: Shapes = {
  'keeps the ids of the commits that the pull request had': async (bed) => {
    const { clone, upstream, first, update } = await opened(bed);
    await nextSecond();
    await clone.commit({ message: 'Three\n' });
    const second = await expectAccepted(bed, { upstream, clone }, await update());
    expect(ids(second.commits).slice(0, 2)).toEqual(ids(first.commits));
    await nextSecond();
    await clone.git('commit', '--quiet', '--amend', '--message=Four');
    const third = await expectAccepted(bed, { upstream, clone }, await update());
    expect(ids(third.commits).slice(0, 2)).toEqual(ids(first.commits));
    expect(third.pull.headSha).not.toBe(second.pull.headSha);
  },
};

export const BASES: Shapes = {
  'changes when the push names another one': async (bed) => {
    const contribution = await openedOne(bed);
    const { clone, first, upstream } = contribution;
    await upstream.grow({ branch: 'next', from: 'main' });
    await clone.commit();
    const pushed = await clone.push('-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:refs/for/next');
    expect((await expectAccepted(bed, contribution, pushed)).pull.base).toBe('next');
  },
};

/** A pull request that is not open any more is followed by another, from its branch. */
export async function opensAnother(bed: TestBed, state: 'closed' | 'merged'): Promise<void> {
  const contribution = await openedOne(bed);
  const { clone, first, upstream } = contribution;
  const name = { owner: upstream.owner, repo: upstream.name, number: first.pull.number };
  if (state === 'closed') bed.sandbox.maintainer.close(name);
  else await bed.sandbox.maintainer.merge(name);
  await clone.commit({ message: 'Try again\n' });
  const pushed = await clone.push('-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:topic');
  const second = await expectAccepted(bed, contribution, pushed);
  expect(second.pull.number).not.toBe(first.pull.number);
  expect(second.banner).toMatchObject({ branch: first.banner.branch, prHash: first.banner.prHash });
  expect(second.pull.title).toBe('Try again');
  expect((await bed.host.pulls(upstream)).map((pull) => pull.state)).toEqual(['closed', 'open']);
  expect(remoteLines(pushed)).toContain('Your pull request is open.');
}
