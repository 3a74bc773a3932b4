/** Pushes to a host that says what Forgejo says: a relay in front of a real Gitea. */
import { describe, expect, inject, it } from 'vitest';
import { contribute, expectAccepted } from '../e2e/support/contribution.ts';
import { FORGEJO_WORDS } from './support/forgejo-words.ts';
import { useGiteaBed } from './support/gitea-bed.ts';

describe.skipIf(inject('gitea') === null)('a push to a host with Forgejo’s words', () => {
  const bed = useGiteaBed(FORGEJO_WORDS);

  async function opened() {
    const contribution = await contribute(bed);
    await contribution.clone.commit({ message: 'One\n\nWhy it is so.\n\nAnd how.\n' });
    const first = await expectAccepted(bed, contribution, await contribution.clone.push());
    const update = () =>
      contribution.clone.push('-f', '-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:topic');
    return { ...contribution, first, update };
  }

  it('opens a pull request with its text, although options are not decoded, and updates it', async () => {
    const { upstream, clone, first, update } = await opened();
    expect(await bed.host.onlyPull(upstream)).toMatchObject({
      title: 'One',
      body: 'Why it is so.\n\nAnd how.',
    });
    await clone.git('commit', '--amend', '-m', 'Better');
    const second = await expectAccepted(bed, { upstream, clone }, await update());
    expect(second.pull.number).toBe(first.pull.number);
  });

  it('that the host has already, after a close and a lost answer, ends in the pull request that is open', async () => {
    const { upstream, clone, first, update } = await opened();
    await bed.people.call('PATCH', `/repos/${upstream.fullName}/pulls/${first.pull.number}`, {
      state: 'closed',
    });
    await clone.commit({ message: 'Two\n' });
    bed.faults.inject({
      method: 'POST',
      path: /\/git-receive-pack$/,
      cut: { during: 'answer', afterBytes: 0 },
    });
    bed.faults.inject({ method: 'GET', path: /\/pulls$/, answer: { status: 503 }, times: 3 });
    const lost = await update();
    expect(lost.code, lost.stderr).toBe(1);
    const again = await expectAccepted(bed, { upstream, clone }, await update());
    expect(again.pull.title).toBe('Two');
    expect((await bed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed', 'open']);
    expect(await bed.host.pushes(upstream)).toHaveLength(3);
  });
});
