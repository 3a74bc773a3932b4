/** Comments, issues, reports, events, policy and badge through the service on a real Gitea. */
import { describe, expect, inject, it } from 'vitest';
import { contribute, expectAccepted } from '../e2e/support/contribution.ts';
import type { Person } from '../e2e/support/person.ts';
import { remoteLines } from '../e2e/support/push-output.ts';
import { report, speak } from '../e2e/support/speak.ts';
import { TEST_HEADER } from '../e2e/support/tripwire.ts';
import { HOST_KEY, useGiteaBed } from './support/gitea-bed.ts';

describe.skipIf(inject('gitea') === null)('on Gitea', () => {
  const bed = useGiteaBed();

  const post = (person: Person, path: string, payload: object) =>
    speak(bed.inner, person, `/v1/${HOST_KEY}/${path}`, payload);

  const texts = async (thread: string) =>
    (await bed.people.call<{ body: string }[]>('GET', `/repos/${thread}/comments`)).map(({ body }) => body);

  /** Someone with a thread of their own. */
  async function withIssue() {
    const upstream = await bed.createUpstream();
    const author = bed.person();
    const issue = await post(author, `${upstream.fullName}/issues/anonymous`, {
      title: 'It breaks',
      body: 'Here is how.',
      labels: ['bug'],
    });
    expect(issue.status).toBe(200);
    const thread = `${upstream.fullName}/issues/${String(issue.body['number'])}`;
    const { hash, user_token: token } = issue.body;
    const comment = (body: string) =>
      post(author, `${thread}/comments/anonymous`, { body, user_token: token });
    return { upstream, author, issue, thread, hash, comment };
  }

  it('an issue is opened, and its author comments on it', async () => {
    const { issue, thread, hash, comment } = await withIssue();
    const answer = await comment('More of it.');
    expect(answer.body).toMatchObject({ hash, karma: 1 });
    const link = `${bed.serviceUrl}/v1/moderation/report?hash=${String(hash)}`;
    expect(await texts(thread)).toEqual([
      `More of it.\n\n---\nanon-${String(hash)} · karma (1) · [report](${link})`,
    ]);
    expect(String(issue.body['issue_url'])).toContain(`/${thread}`);
  });

  it('a comment whose answer is lost is found, and counts once', async () => {
    const { thread, comment } = await withIssue();
    bed.faults.inject({ method: 'POST', path: /\/comments$/, cut: { during: 'answer', afterBytes: 0 } });
    expect((await comment('Lost?')).body).toMatchObject({ karma: 1 });
    expect((await comment('No.')).body).toMatchObject({ karma: 2 });
    expect(await texts(thread)).toHaveLength(2);
  });

  it('a comment on a thread that is missing or locked, and an issue without issues, are refused', async () => {
    const { upstream, author, thread, comment } = await withIssue();
    const { fullName } = upstream;
    const missing = await post(author, `${fullName}/issues/4711/comments/anonymous`, { body: 'x' });
    expect(missing).toMatchObject({
      status: 400,
      body: { error: 'failed to create comment: 404 Not Found' },
    });
    await bed.people.call('PUT', `/repos/${thread}/lock`, { lock_reason: 'Off-topic' });
    expect((await comment('x')).body).toMatchObject({ error: 'failed to create comment: 403 Forbidden' });
    await bed.people.call('PATCH', `/repos/${fullName}`, { has_issues: false });
    const issue = await post(author, `${fullName}/issues/anonymous`, { title: 'T', body: 'B' });
    expect(issue).toMatchObject({ status: 400, body: { error: 'failed to create issue: 403 Forbidden' } });
  });

  it('reports set karma to 0, and delete in the end', async () => {
    const { thread, hash, comment } = await withIssue();
    for (const body of ['one', 'two']) await comment(body);
    const others = Array.from({ length: 6 }, () => bed.person());
    for (const person of others.slice(0, 3)) await report(bed.inner, person, hash);
    const karmas = async () => (await texts(thread)).map((text) => /karma \((\d+)\)/.exec(text)?.[1]);
    await expect.poll(karmas).toEqual(['0', '0']);
    for (const person of others.slice(3)) await report(bed.inner, person, hash);
    await expect.poll(() => texts(thread)).toEqual([]);
  });

  it('the topic of a pull request tells of comments, reviews and the merge, each once', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    const { banner, pull } = await expectAccepted(bed, contribution, await contribution.clone.push());
    const told = async () => {
      const url = `${bed.inner.sandbox.notifyUrl}/anon-pr-${banner.prHash}/json?poll=1`;
      const lines = (await (await fetch(url, { headers: { [TEST_HEADER]: '1' } })).text()).split('\n');
      return lines.filter(Boolean).map((line) => (JSON.parse(line) as { message: string }).message);
    };
    const place = `/repos/${contribution.upstream.fullName}`;
    await bed.people.call('POST', `${place}/issues/${pull.number}/comments`, { body: 'Thanks!' });
    await bed.people.call('POST', `${place}/pulls/${pull.number}/reviews`, {
      body: 'Good',
      event: 'APPROVED',
    });
    await expectTold(told, 3);
    await bed.people.merge(contribution.upstream.fullName, pull.number);
    await expectTold(told, 4);
    await bed.inner.service.runScheduled();
    const page = `${bed.serviceUrl}/v1/pr/${banner.prHash}`;
    const said = ['opened', 'commented on', 'commented on', 'merged'].map(
      (event) => `Your anonymous pull request was ${event}: ${page}`,
    );
    expect(await told()).toEqual(said);
    expect(await (await fetch(page)).text()).toContain('erged');
  });

  /**
   * Runs the scheduled handler until the topic has told so much: Gitea notifies in the background.
   */
  async function expectTold(told: () => Promise<string[]>, count: number): Promise<void> {
    await expect
      .poll(
        async () => {
          await bed.inner.service.runScheduled();
          return (await told()).length;
        },
        { interval: 500 },
      )
      .toBe(count);
  }

  it('stop and welcome are heard from the owner and a collaborator, not from a stranger', async () => {
    const { upstream, author, thread } = await withIssue();
    const { fullName } = upstream;
    const [lisa, eve] = ['lisa', 'eve'].map((name) => `${name}-${fullName.split('-').at(-1)}`);
    for (const username of [lisa, eve]) {
      const account = { username, email: `${username}@host.test`, password: 'correct horse battery' };
      await bed.people.call('POST', '/admin/users', { ...account, must_change_password: false });
    }
    await bed.people.call('PUT', `/repos/${fullName}/collaborators/${lisa}`, { permission: 'read' });
    const say = async (word: string, as: string | undefined) => {
      const body = { body: `@${bed.sandbox.botLogin} ${word}` };
      const path = `/repos/${thread}/comments?sudo=${as}`;
      const { id } = await bed.people.call<{ id: number }>('POST', path, body);
      return async () => {
        await bed.inner.service.runScheduled();
        const reactions = `/repos/${fullName}/issues/comments/${id}/reactions`;
        const given = await bed.people.call<{ content: string; user: { login: string } }[] | null>(
          'GET',
          reactions,
        );
        return (given ?? []).map(({ content, user }) => `${content} ${user.login}`);
      };
    };
    const open = async () =>
      (await post(author, `${fullName}/issues/anonymous`, { title: 'Hello', body: 'World' })).status;
    const thumb = [`+1 ${bed.sandbox.botLogin}`];
    const forged = await say('stop', eve);
    await expect.poll(await say('stop', lisa), { interval: 500 }).toEqual(thumb);
    expect([await forged(), await open()]).toEqual([[], 403]);
    await expect.poll(await say('welcome', upstream.owner), { interval: 500 }).toEqual(thumb);
    expect(await open()).toBe(200);
  });

  it('a policy is heeded, and badges say so', async () => {
    const { upstream, clone, person } = await contribute(bed);
    await upstream.grow({ files: { '.gitveil.yml': 'anonymous_friendly: true\naccept: [issues]\n' } });
    await clone.commit();
    const pushed = await clone.push('origin', 'HEAD:topic');
    expect(remoteLines(pushed).join('\n')).toContain('does not accept anonymous pull requests');
    const comment = await post(person, `${upstream.fullName}/issues/1/comments/anonymous`, { body: 'x' });
    expect(comment.status).toBe(403);
    const count = await fetch(`${bed.serviceUrl}/badge/${HOST_KEY}/${upstream.fullName}`);
    expect(count.status).toBe(200);
    expect(await count.text()).toContain('Anonymous PRs');
  });
});
