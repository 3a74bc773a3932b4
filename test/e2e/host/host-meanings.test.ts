/**
 * Answers of a code host, and what each means for a push: tried again where that is safe, and told
 * as what it is.
 */
import { describe, expect, it } from 'vitest';
import {
  ADDRESS_PRIVATE,
  ADDRESS_PRIVATE_REASON,
  AUTHOR_UNKNOWN,
  BAD_CREDENTIALS,
  BASE_INVALID,
  DOWN_FOR_TWO_MINUTES,
  LARGE_FILE,
  LFS_UNKNOWN,
  NAME_TAKEN,
  NO_DRAFTS,
  NOT_FOUND,
  PUSH_TIMED_OUT,
  pushRefused,
  REFS_UNREADABLE,
  SECRETS_FOUND,
  USER_BLOCKED,
} from '../../../sandbox/known-answers.ts';
import { expectAccepted, expectRefused } from '../support/contribution.ts';
import { ALWAYS, expectAgain, withFork, withWork } from '../support/failing-host.ts';
import { comment, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

const RECEIVE = /gitveil-bot\/.*\/git-receive-pack$/;
const PULL = 'the pull request could not be opened';
const COMMITS = 'the code host refused the commits';

const pullsOf = (name: string) => new RegExp(`/repos/${name}/pulls$`);

describe('a fault that passes', exhaustive, () => {
  it.each([
    ['an internal error as the reason', pushRefused('x', 'Internal Server Error')],
    ['one 401', BAD_CREDENTIALS],
    ['one 403', { status: 403, body: 'Forbidden\n' }],
  ])('of receive-pack, %s, is not seen by the person', async (_, answer) => {
    const contribution = await withFork(bed);
    bed.sandbox.faults.inject({ method: 'POST', path: RECEIVE, answer });
    await expectAccepted(bed, contribution, await contribution.clone.push());
    await bed.host.onlyPull(contribution.upstream);
  });

  it.each([
    ['a branch that it does not know yet', REFS_UNREADABLE],
    ['one 401', BAD_CREDENTIALS],
  ])('of the REST interface, %s, is not seen by the person', async (_, answer) => {
    const contribution = await withWork(bed);
    const path = pullsOf(contribution.upstream.fullName);
    bed.sandbox.faults.inject({ method: 'POST', path, answer });
    await expectAccepted(bed, contribution, await contribution.clone.push());
    await bed.host.onlyPull(contribution.upstream);
  });

  it('and lasts is told with the next step, and the same push is accepted later', async () => {
    const contribution = await withFork(bed);
    const answer = pushRefused('x', 'Internal Server Error');
    bed.sandbox.faults.inject({ method: 'POST', path: RECEIVE, times: ALWAYS, answer });
    const lines = await expectRefused(bed, contribution.upstream, await contribution.clone.push(), COMMITS);
    expect(lines.join('\n')).toContain('Push the same commits again later');
    await expectAgain(bed, contribution);
  });
});

describe('a push that the host refuses', exhaustive, () => {
  it.each([
    ['a secret', SECRETS_FOUND, ['  src/api/github.ts:34 (GitHub Personal Access Token)', 'git rebase -i']],
    ['a large file', LARGE_FILE, ['  boesp-1.pdf (122.92 MB)', 'git rebase -i']],
    ['an unknown author', AUTHOR_UNKNOWN, ['This service names none', 'can adopt your change']],
    ['files of Git LFS', LFS_UNKNOWN, ['This service cannot send them there', 'git lfs untrack']],
  ])('because of %s is told with the file and a step that works', async (_, messages, expected) => {
    const { clone, upstream } = await withFork(bed);
    const answer = pushRefused('x', 'push declined due to repository rule violations', messages);
    bed.sandbox.faults.inject({ method: 'POST', path: RECEIVE, answer });
    const text = (await expectRefused(bed, upstream, await clone.push(), COMMITS)).join('\n');
    for (const words of expected) expect(text).toContain(words);
    expect(text).not.toMatch(/https?:|[\da-f]{40}|lfs push/);
  });

  it('because of the address that the service writes is told to the operator, and the person is not to blame', async () => {
    const { clone, upstream } = await withFork(bed);
    const answer = pushRefused('x', ADDRESS_PRIVATE_REASON, ADDRESS_PRIVATE);
    bed.sandbox.faults.inject({ method: 'POST', path: RECEIVE, answer });
    const text = (await expectRefused(bed, upstream, await clone.push(), COMMITS)).join('\n');
    expect(text).toContain('Your commits are fine.');
    expect(text).toContain('ANON_EMAIL must be no private address');
  });

  it('because it is too large is sent once, and told so', async () => {
    const { clone, upstream } = await withFork(bed);
    bed.sandbox.faults.inject({ method: 'POST', path: RECEIVE, times: ALWAYS, answer: { status: 413 } });
    const reason = 'the commits could not be sent to the fork';
    const before = bed.host.requests.length;
    const lines = await expectRefused(bed, upstream, await clone.push(), reason);
    expect(lines.join('\n')).toMatch(/does not take so large a push \(413\)/);
    expect(bed.host.requests.slice(before).filter(({ path }) => RECEIVE.test(path))).toHaveLength(1);
  });

  it('because its commits took too long to arrive may be pushed again, and is told so', async () => {
    const contribution = await withFork(bed);
    const { clone, upstream } = contribution;
    const fault = { method: 'POST', path: RECEIVE, times: ALWAYS, answer: PUSH_TIMED_OUT };
    bed.sandbox.faults.inject(fault);
    const reason = 'the commits could not be sent to the fork';
    const text = (await expectRefused(bed, upstream, await clone.push(), reason)).join('\n');
    expect(text).toContain('The code host did not get all of it in time (408).');
    expect(text).toContain('Push the same again later. The service continues where it stopped.');
    await expectAgain(bed, contribution);
  });

  it('because the bot has a repository of that name is told with a next step', async () => {
    const contribution = await withWork(bed);
    const { clone, upstream } = contribution;
    bed.sandbox.faults.inject({ method: 'POST', path: /\/forks$/, times: ALWAYS, answer: NAME_TAKEN });
    const lines = await expectRefused(bed, upstream, await clone.push(), 'the fork could not be made');
    expect(lines.join('\n')).toContain('The bot account has another repository of this name');
    expect(lines).toContain('Push again later: the fork may be ready then.');
    await expectAgain(bed, contribution);
  });

  it('because it finds no place for a branch on the bot’s fork does not say that the repository is missing', async () => {
    const contribution = await withFork(bed);
    const { upstream } = contribution;
    await upstream.grow({ branch: 'next', from: 'main', count: 2 });
    const clone = await bed.person().copy(upstream, 'next');
    await clone.commit();
    const path = /\/git\/refs$/;
    bed.sandbox.faults.inject({ method: 'POST', path, times: ALWAYS, answer: NOT_FOUND });
    const push = () => clone.push('origin', 'HEAD:refs/for/next');
    const pushed = await push();
    const text = (await expectRefused(bed, upstream, pushed, /brought up to date/)).join('\n');
    expect(text).toContain('The code host does not let this service make a branch on its fork.');
    expect(text).toContain('Push again in a few minutes');
    expect(text).not.toContain('does not exist');
    bed.sandbox.faults.clear();
    await expectAccepted(bed, { upstream, clone }, await push());
  });

  it('because it may not fork is no missing repository', async () => {
    const { clone, upstream } = await withWork(bed);
    bed.sandbox.faults.inject({ method: 'POST', path: /\/forks$/, times: ALWAYS, answer: NOT_FOUND });
    const lines = await expectRefused(bed, upstream, await clone.push(), 'the fork could not be made');
    expect(lines.join('\n')).toContain('does not let this service fork the repository');
    expect(bed.host.requestsFor(upstream, 'POST', /\/forks$/)).toHaveLength(1);
  });

  it.each([
    ['drafts', NO_DRAFTS, 'Push again without -o draft.'],
    ['the base', BASE_INVALID, 'The base branch "main" is not there any more.'],
  ])('because of %s says what to do', async (_, answer, words) => {
    const { clone, upstream } = await withWork(bed);
    bed.sandbox.faults.inject({ method: 'POST', path: pullsOf(upstream.fullName), answer });
    const lines = await expectRefused(bed, upstream, await clone.push('-o', 'draft'), PULL);
    expect(lines.join('\n')).toContain(words);
  });
});

describe('a comment', exhaustive, () => {
  it('of a bot that somebody has blocked is refused with the status alone, as the contract has it, and with the host’s words in the log', async () => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    const issue = { title: 'It breaks', body: 'Here.' };
    expect((await speak(bed, person, `/v1/gh/${upstream.fullName}/issues/anonymous`, issue)).status).toBe(
      200,
    );
    bed.sandbox.faults.inject({ method: 'POST', path: /\/comments$/, answer: USER_BLOCKED });
    expect(await comment(bed, person, `${upstream.fullName}/issues/1`, 'Words')).toMatchObject({
      status: 400,
      body: { error: 'failed to create comment: 422 Unprocessable Entity' },
    });
    await expect.poll(() => bed.logLines.join('\n')).toContain('User is blocked');
  });
});

// The last one: the account waits for two minutes.
describe('a host that is down for a time that it names', exhaustive, () => {
  it('is left alone by every call for as long', async () => {
    const { clone, upstream } = await withWork(bed);
    bed.sandbox.faults.inject({ method: 'POST', path: /\/forks$/, answer: DOWN_FOR_TWO_MINUTES });
    const lines = await expectRefused(bed, upstream, await clone.push(), 'the fork could not be made');
    expect(lines.join('\n')).toContain('asks to wait 2 minutes');
    expect(bed.host.requestsFor(upstream, 'POST', /\/forks$/)).toHaveLength(1);
    const before = bed.host.requests.length;
    expect((await clone.push()).stderr).toContain('the code host asks to wait');
    expect(bed.host.requests.slice(before).filter(({ path }) => path.startsWith('/api/'))).toEqual([]);
  });
});
