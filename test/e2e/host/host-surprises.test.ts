/** A code host as it really is: it redirects writes, forgets for a while what it has done, and serves many at once. */
import { describe, expect, it } from 'vitest';
import {
  HEAD_INVALID,
  moved,
  pullRequestExists,
  SUSPENDED_GIT,
  SUSPENDED_REST,
  SUSPENDED_TEXT,
} from '../../../sandbox/known-answers.ts';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { ALWAYS, withWork } from '../support/failing-host.ts';
import { comment, commentsOn, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

const PULL = 'the pull request could not be opened';

describe('a repository that was renamed', exhaustive, () => {
  it('takes a comment that is redirected as a GET, once', async () => {
    const upstream = await bed.createUpstream({ commits: 1 });
    const person = bed.person();
    const path = `/v1/gh/${upstream.fullName}/issues/anonymous`;
    expect((await speak(bed, person, path, { title: 'It breaks', body: 'Here.' })).status).toBe(200);
    const renamed = bed.renameUpstream(upstream, `${upstream.name}-renamed`);
    const target = `${bed.sandbox.apiUrl}/repos/${renamed.fullName}/issues/1/comments`;
    const oldPath = new RegExp(`/repos/${upstream.fullName}/issues/1/comments$`);
    bed.sandbox.faults.inject({ method: 'POST', path: oldPath, times: ALWAYS, answer: moved(301, target) });

    const posted = await comment(bed, person, `${upstream.fullName}/issues/1`, 'Under its old name.');
    expect(posted.status, JSON.stringify(posted.body)).toBe(200);
    expect(posted.body['comment_url']).toContain(`/${renamed.fullName}/issues/1#`);
    const comments = await commentsOn(bed, `${renamed.fullName}/issues/1`);
    expect(comments).toEqual([expect.stringMatching(/^Under its old name\./)]);
  });
});

describe('a pull request', exhaustive, () => {
  it('that was opened though its answer is lost and it is not shown yet keeps its branch, and is found later', async () => {
    const contribution = await withWork(bed);
    const { upstream, clone } = contribution;
    const path = new RegExp(`/repos/${upstream.fullName}/pulls$`);
    const lost = { during: 'answer', afterBytes: 0 } as const;
    bed.sandbox.faults.inject({ method: 'POST', path, cut: lost });
    bed.sandbox.faults.inject({ method: 'GET', path, times: ALWAYS, answer: { status: 200, body: [] } });
    const failed = await clone.push();
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain(`push rejected: ${PULL}`);
    expect(failed.stderr).toContain('Push the same commits again later');
    // Still not shown: the branch stays, the pull request stays open.
    expect((await clone.push()).code).toBe(1);
    bed.sandbox.faults.clear();
    const { state, head } = await bed.host.onlyPull(upstream);
    expect(state).toBe('open');

    const again = await expectAccepted(bed, contribution, await clone.push());
    expect(again.pull.head).toBe(head);
    await bed.host.onlyPull(upstream);
  });

  it('that was opened by an attempt before is not lost because the next attempt fails earlier', async () => {
    const contribution = await withWork(bed);
    const { upstream, clone } = contribution;
    const pulls = new RegExp(`/repos/${upstream.fullName}/pulls$`);
    const lost = { during: 'answer', afterBytes: 0 } as const;
    bed.sandbox.faults.inject({ method: 'POST', path: pulls, cut: lost });
    bed.sandbox.faults.inject({ method: 'GET', path: pulls, times: ALWAYS, answer: { status: 502 } });
    expect((await clone.push()).code).toBe(1);
    bed.sandbox.faults.clear();
    const lookUp = new RegExp(`/repos/${upstream.fullName}$`);
    bed.sandbox.faults.inject({ method: 'GET', path: lookUp, times: ALWAYS, answer: { status: 451 } });
    expect((await clone.push()).code).toBe(1);
    bed.sandbox.faults.clear();
    await expectAccepted(bed, contribution, await clone.push());
    await bed.host.onlyPull(upstream);
  });

  it('that exists already by the word of the host, which shows none, keeps its branch', async () => {
    const contribution = await withWork(bed);
    const { upstream } = contribution;
    const path = new RegExp(`/repos/${upstream.fullName}/pulls$`);
    const answer = pullRequestExists('gitveil-bot:anon');
    bed.sandbox.faults.inject({ method: 'POST', path, answer });
    await expectRefused(bed, upstream, await contribution.clone.push(), PULL, { branches: 1 });
    await expectAccepted(bed, contribution, await contribution.clone.push());
    await bed.host.onlyPull(upstream);
  });

  it('whose branch the host does not know yet is opened a moment later', async () => {
    const contribution = await withWork(bed);
    const path = new RegExp(`/repos/${contribution.upstream.fullName}/pulls$`);
    bed.sandbox.faults.inject({ method: 'POST', path, answer: HEAD_INVALID });
    await expectAccepted(bed, contribution, await contribution.clone.push());
    await bed.host.onlyPull(contribution.upstream);
  });
});

describe('pushes at the same time', exhaustive, () => {
  it('onto a branch that the fork lacks all become pull requests', async () => {
    const { upstream, clone, person } = await contribute(bed);
    await clone.commit();
    await expectAccepted(bed, { upstream, clone }, await clone.push());
    await upstream.grow({ branch: 'next', from: 'main', count: 2 });
    const clones = await Promise.all(
      [person, ...Array.from({ length: 4 }, () => bed.person())].map((one) => one.copy(upstream, 'next')),
    );
    for (const one of clones) await one.commit();
    // None of them is quicker than the others.
    const path = new RegExp(`/${bed.sandbox.botLogin}/${upstream.name}/git/refs$`);
    bed.sandbox.faults.inject({ method: 'POST', path, times: 2 * clones.length, delayMs: 200 });
    const pushed = await Promise.all(clones.map((one) => one.push('origin', 'HEAD:next')));
    for (const { code, stderr } of pushed) expect(code, stderr).toBe(0);
    expect(await bed.host.pulls(upstream)).toHaveLength(1 + clones.length);
  });
});

describe('a bot account that the host has suspended', exhaustive, () => {
  it.each([
    ['by its REST interface', SUSPENDED_REST, 'the fork could not be made', /\/forks$/],
    ['by Git', SUSPENDED_GIT, 'the fork could not be made', /gitveil-bot\/.*\/git-upload-pack$/],
  ] as const)('and says so %s, is named to the person, and in full to the operator', async (...given) => {
    const [, answer, reason, path] = given;
    const { upstream, clone } = await withWork(bed);
    bed.sandbox.faults.inject({ method: 'POST', path, times: ALWAYS, answer });
    const lines = await expectRefused(bed, upstream, await clone.push(), reason);
    expect(lines.join('\n')).toContain(SUSPENDED_TEXT);
    const said = `hostSays="${SUSPENDED_TEXT} (403)"`;
    await expect.poll(() => bed.logLines.at(-1)).toContain(said);
  });
});
