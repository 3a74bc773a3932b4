/** Pushes to a real Gitea after somebody has deleted the bot's fork by hand, also with a token that breaks Git there. */
import { describe, expect, inject, it } from 'vitest';
import { contribute, expectAccepted } from '../e2e/support/contribution.ts';
import { remoteLines } from '../e2e/support/push-output.ts';
import { BOT, BOT_SCOPES, newToken } from './support/gitea.ts';
import { useGiteaBed } from './support/gitea-bed.ts';

describe.skipIf(inject('gitea') === null).each([
  ['the documented scopes', BOT_SCOPES],
  // As these pages said once.
  ['public-only', `public-only,${BOT_SCOPES}`],
])('a fork that was deleted by hand, with a token of %s', (_, scopes) => {
  const bed = useGiteaBed((gitea) => newToken(gitea, BOT, scopes));

  /** A clone with new work, where the bot has had a fork. */
  async function withDeletedFork() {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    await bed.people.call('DELETE', `/repos/${BOT}/${upstream.name}`);
    expect(bed.host.forkPath(upstream)).toBeNull();
    await clone.commit({ message: 'More\n' });
    return { ...contribution, prHash: banner.prHash };
  }

  it('is made anew by the next push', async () => {
    const contribution = await withDeletedFork();
    await expectAccepted(bed, contribution, await contribution.clone.push('origin', 'HEAD:again'));
    expect(await bed.host.pulls(contribution.upstream)).toHaveLength(2);
  });

  it('is made anew by a push that names its pull request, which the host has closed', async () => {
    const { prHash, ...contribution } = await withDeletedFork();
    const pushed = await contribution.clone.push('-o', `pr-hash=${prHash}`, 'origin', 'HEAD:topic');
    await expectAccepted(bed, contribution, pushed);
    const states = (await bed.host.pulls(contribution.upstream)).map(({ state }) => state);
    expect(states.toSorted()).toEqual(['closed', 'open']);
  });

  it('is made anew by a push to a branch that it has lacked', async () => {
    const contribution = await withDeletedFork();
    const { clone, upstream } = contribution;
    await upstream.grow({ branch: 'release', from: 'main' });
    const pushed = await clone.push('origin', 'HEAD:refs/for/release');
    expect(pushed.code, remoteLines(pushed).join('\n')).toBe(0);
    expect(await bed.host.pulls(upstream)).toHaveLength(2);
  });
});
