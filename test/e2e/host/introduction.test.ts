/** The comment with which the bot introduces itself, once in the life of a repository. */
import { describe, expect, it } from 'vitest';
import { contribute, type Contribution, expectAccepted } from '../support/contribution.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { commentsOn } from '../support/speak.ts';
import { topicTexts } from '../support/topic.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const SERVICE_URL = 'https://veil.test';
const bed = useOwnTestBed({ env: { SERVICE_URL } });

const commentsBelow = ({ fullName }: Upstream, number: number): Promise<string[]> =>
  commentsOn(bed, `${fullName}/issues/${number}`);

/** Opens a pull request with one commit. Answers its number and hash. */
async function open(contribution: Contribution) {
  await contribution.clone.commit();
  const pushed = await contribution.clone.push('origin', 'HEAD:topic');
  const { pull, banner } = await expectAccepted(bed, contribution, pushed);
  return { number: pull.number, prHash: banner.prHash };
}

/** Another person who contributes to the same repository. */
async function another({ upstream }: Contribution): Promise<Contribution> {
  const person = bed.person();
  return { upstream, person, clone: await person.copy(upstream) };
}

/** Waits until its topic has heard of it, which is told after the introduction or beside it. */
async function settled({ prHash }: { readonly prHash: string }): Promise<void> {
  await expect.poll(() => topicTexts(bed, prHash)).toHaveLength(1);
}

describe('the first pull request in a repository', () => {
  it('has a comment with what this is, who runs it, and how to stop it; no later one has', async () => {
    const contribution = await contribute(bed);
    const { upstream } = contribution;
    const { number, prHash } = await open(contribution);
    await expect.poll(() => commentsBelow(upstream, number)).toHaveLength(1);
    const [text = ''] = await commentsBelow(upstream, number);
    expect(text.split('\n\n')).toHaveLength(3);
    expect(text).toContain(`[gitveil](${SERVICE_URL})`);
    expect(text).toContain(`${SERVICE_URL}/maintainers`);
    for (const word of ['stop', 'mute', 'welcome', 'close all'])
      expect(text).toContain(`\`@${bed.sandbox.botLogin} ${word}\``);
    expect(text).toContain(`\`${upstream.owner}/.github\``);
    // The pull request itself is what the contract says.
    const path = `/repos/${upstream.fullName}/pulls/${number}`;
    expect((await bed.host.call<{ body: string | null }>('GET', path)).body ?? '').not.toContain('gitveil');
    await bed.service.runScheduled();
    const feed = await fetch(`${bed.service.url}/v1/pr/${prHash}.atom`);
    expect(await feed.text()).not.toMatch(/comment/i);
    const second = await open(await another(contribution));
    await settled(second);
    expect(await commentsBelow(upstream, second.number)).toEqual([]);
    expect(await commentsBelow(upstream, number)).toEqual([text]);
  });

  it('has one comment of two that are opened at once', async () => {
    const first = await contribute(bed);
    const both = [first, await another(first)];
    const opened = await Promise.all(both.map((one) => open(one)));
    await Promise.all(opened.map((one) => settled(one)));
    const comments = await Promise.all(opened.map(({ number }) => commentsBelow(first.upstream, number)));
    expect(comments.flat()).toHaveLength(1);
  });

  it.each([
    [
      'is locked',
      { answer: { status: 403, body: { message: 'Unable to create comment because issue is locked.' } } },
    ],
    ['is refused as spam', { answer: { status: 422, body: { message: 'Validation Failed' } } }],
    ['loses the answer', { cut: { during: 'answer', afterBytes: 0 } }],
  ] as const)(
    'is as good as any other if its thread %s: nothing is tried twice',
    exhaustive,
    async (_, fault) => {
      const contribution = await contribute(bed);
      const path = /\/issues\/\d+\/comments$/;
      bed.sandbox.faults.inject({ method: 'POST', path, ...fault });
      const before = bed.host.requests.length;
      const posts = () => {
        const requests = bed.host.requests.slice(before);
        return requests.filter((one) => one.method === 'POST' && path.test(one.path));
      };
      const first = await open(contribution);
      await settled(first);
      await expect.poll(posts).toHaveLength(1);
      await settled(await open(await another(contribution)));
      expect(posts()).toHaveLength(1);
    },
  );
});

describe('INTRODUCE=never', () => {
  it('posts nothing', exhaustive, async () => {
    await bed.restart(undefined, { INTRODUCE: 'never' });
    const contribution = await contribute(bed);
    const opened = await open(contribution);
    await settled(opened);
    expect(await commentsBelow(contribution.upstream, opened.number)).toEqual([]);
  });
});
