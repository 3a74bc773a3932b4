/**
 * A flood of comments and issues: the operator hears of it once, and undoes it, comments and issues
 * only on request.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { ALWAYS } from '../support/failing-host.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { comment, commentsOn, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: { ...OPERATOR, ALERT_ADDRESS: 'hidden' } });
const operator = new Operator(bed);

async function openIssue(upstream: Upstream) {
  const path = `/v1/gh/${upstream.fullName}/issues/anonymous`;
  const { status, body } = await speak(bed, bed.person(), path, { title: 'Hello', body: 'Is it me?' });
  expect(status).toBe(200);
  const thread = `${upstream.fullName}/issues/${String(body['number'])}`;
  return { thread, url: String(body['issue_url']) };
}

/** Comments of so many persons. Answers their addresses. */
async function commentAll(thread: string, count: number): Promise<string[]> {
  const persons = Array.from({ length: count }, () => bed.person());
  const answers = await Promise.all(persons.map((person) => comment(bed, person, thread, 'Buy!')));
  expect(answers.map(({ status }) => status)).toEqual(persons.map(() => 200));
  return answers.map(({ body }) => String(body['comment_url']));
}

/** A new issue with comments. */
async function discussion(count: number) {
  const upstream = await bed.createUpstream({ commits: 1 });
  const issue = await openIssue(upstream);
  return { upstream, ...issue, comments: await commentAll(issue.thread, count) };
}

const stateOf = async (thread: string) =>
  (await bed.host.call<{ state: string }>('GET', `/repos/${thread}`)).state;

const idOf = (url: string) => url.replace(/.*-/, '');

describe('a flood of comments', exhaustive, () => {
  it('is told once, and its button removes comments and issues of the last two hours', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    // Opened by somebody else at that time, once: it has nothing to do with the flood.
    const { pull } = await expectAccepted(bed, contribution, await contribution.clone.push());
    const { thread, url, comments } = await discussion(30);
    await expect.poll(() => operator.alerts()).toHaveLength(1);
    const [alert] = await operator.alerts();
    expect(alert?.title).toBe('Flood of comments and issues');
    expect(alert?.message).toMatch(
      /^2\d comments and issues were posted from 20 distinct IPs in the last 60 s\. The most active client posted \d of them\. "Remove comments, issues" deletes all comments and closes all issues of the last two hours, and closes the pull requests of clients that opened more than one\. Noticed at /,
    );

    expect(await operator.press(alert!, 'Suspend comments')).toMatchObject({ status: 200 });
    await expect.poll(async () => (await comment(bed, bed.person(), thread, 'Buy!')).status).toBe(503);
    const { status, body } = await operator.press(alert!, 'Remove comments, issues');
    const undone = body['closed_urls'] as string[];
    expect({ status, ...body, closed_urls: undone.length }).toEqual({
      status: 200,
      closed: undone.length,
      failed: 0,
      closed_urls: undone.length,
      failed_urls: [],
    });
    expect(undone).toEqual(expect.arrayContaining([url, ...comments]));
    expect(undone).not.toContain(pull.url);
    expect(await commentsOn(bed, thread)).toEqual([]);
    expect(await stateOf(thread)).toBe('closed');
    expect(await operator.press(alert!, 'Allow comments')).toMatchObject({ status: 200 });
    await expect.poll(async () => (await comment(bed, bed.person(), thread, 'Sorry.')).status).toBe(200);
    await operator.rollBack({ comments: true, issues: true });
  });
});

describe('a rollback', exhaustive, () => {
  it('names what the host refuses, removes it later, and takes what somebody has deleted for removed', async () => {
    const { thread, url, comments, upstream } = await discussion(5);
    const failing = comments.slice(0, 3);
    for (const [index, status] of [403, 404, 502].entries()) {
      const path = new RegExp(`/issues/comments/${idOf(failing[index]!)}$`);
      bed.sandbox.faults.inject({ method: 'DELETE', path, times: ALWAYS, answer: { status } });
    }
    bed.sandbox.faults.inject({ method: 'PATCH', path: /\/issues\/\d+$/, answer: { status: 403 } });
    bed.sandbox.maintainer.deleteComment(upstream.owner, upstream.name, Number(idOf(comments[3]!)));
    expect((await operator.rollBack({ comments: true, issues: true })).body).toEqual({
      closed: 2,
      failed: 4,
      closed_urls: comments.slice(3).toSorted(),
      failed_urls: [...failing, url].toSorted(),
    });
    expect(await commentsOn(bed, thread)).toHaveLength(3);
    bed.sandbox.faults.clear();
    expect((await operator.rollBack({ comments: true, issues: true })).body).toMatchObject({
      closed: 4,
      failed: 0,
    });
    expect([(await commentsOn(bed, thread)).length, await stateOf(thread)]).toEqual([0, 'closed']);
  });
});
