/**
 * Repositories that take no pull requests, or few of one account; and drafts, which the host does
 * not count.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { remoteLines } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

describe('a repository that takes pull requests', exhaustive, () => {
  it.each([
    ['none', 'takes no pull requests.'],
    ['collaborators', 'takes pull requests only from its collaborators.'],
  ] as const)('of %s refuses a push before anything is written', async (pullRequests, sentence) => {
    const { clone, upstream } = await contribute(bed, { pullRequests });
    await clone.commit();
    const pushed = await clone.push();
    const lines = await expectRefused(bed, upstream, pushed, 'not accepted by the repository');
    expect(lines).toContain(`${upstream.fullName} ${sentence}`);
    expect(lines).toContain(`You can open an issue instead: ${upstream.url}/new-issue`);
    expect(bed.host.forkPath(upstream)).toBeNull();
    const page = await (await fetch(upstream.url, { headers: { accept: 'text/html' } })).text();
    expect(page).toContain('It accepts only anonymous issues and replies.');
    expect(page).not.toContain('Change a file');
    expect(bed.host.requestsFor(upstream, 'POST', /forks|receive-pack|pulls/)).toEqual([]);
  });
});

describe('a limit of open pull requests', exhaustive, () => {
  const ADVICE = 'A draft does not count towards such a limit: with Git, add -o draft.';

  it('refuses without a reason; the advice is a draft, which works', async () => {
    const contribution = await contribute(bed, { pullRequestCap: 1 });
    const { clone, upstream } = contribution;
    await clone.commit();
    expect((await clone.push('origin', 'HEAD:one')).code).toBe(0);
    await clone.commit();
    const refused = await clone.push('origin', 'HEAD:two');
    expect(refused.code).toBe(1);
    expect(remoteLines(refused)).toContain(ADVICE);
    expect(refused.stderr).not.toContain('does not exist');
    expect(await bed.host.workBranches(upstream)).toHaveLength(1);
    const drafted = await clone.push('-o', 'draft', 'origin', 'HEAD:two');
    const { pull } = await expectAccepted(bed, contribution, drafted);
    expect(pull.isDraft).toBe(true);
    expect(await bed.host.pulls(upstream)).toHaveLength(2);
  });

  it.each([['draft'], ['squash']])(
    'that the host explains is passed on, with the advice if it is no draft: %s',
    async (option) => {
      const { clone, upstream } = await contribute(bed);
      await clone.commit();
      const message = 'You have reached the maximum number of open pull requests.';
      const path = new RegExp(`/repos/${upstream.fullName}/pulls$`);
      bed.sandbox.faults.inject({ method: 'POST', path, answer: { status: 422, body: { message } } });
      const pushed = await clone.push('-o', option, 'origin', 'HEAD:topic');
      const lines = await expectRefused(bed, upstream, pushed, 'the pull request could not be opened');
      expect(lines.join('\n')).toContain(`says: ${message}`);
      expect(lines.includes(ADVICE)).toBe(option !== 'draft');
    },
  );
});

describe('draft', exhaustive, () => {
  it('shows in the preview, and opens a draft, which an update leaves as it is', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const previewed = await clone.push('-o', 'draft', '-o', 'preview', 'origin', 'HEAD:topic');
    expect(remoteLines(previewed)).toContain('This push would open a pull request as a draft:');
    const { banner, pull } = await expectAccepted(
      bed,
      contribution,
      await clone.push('-o', 'draft', 'origin', 'HEAD:topic'),
    );
    expect(pull.isDraft).toBe(true);
    await clone.commit();
    const updated = await clone.push('-o', `pr-hash=${banner.prHash}`, '-o', 'draft', 'origin', 'HEAD:topic');
    expect(updated.code, updated.stderr).toBe(0);
    expect(remoteLines(updated).join('\n')).toContain('The option draft changes nothing');
    expect((await bed.host.onlyPull(upstream)).isDraft).toBe(true);
  });
});
