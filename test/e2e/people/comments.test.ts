/** Comments and issues from a person's client to the code host, with the tripwire under them. */
import { describe, expect, it } from 'vitest';
import { comment, commentsOn, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

/** A repository with an issue that someone without an account has opened. */
async function withIssue() {
  const upstream = await bed.createUpstream({ commits: 1, labels: ['bug'] });
  const author = bed.person();
  const path = `/v1/gh/${upstream.fullName}/issues/anonymous`;
  const issue = await speak(bed, author, path, {
    title: 'It breaks',
    body: 'Here is how.',
    labels: ['bug', 'x'],
  });
  expect(issue.status).toBe(200);
  const thread = `${upstream.fullName}/issues/${String(issue.body['number'])}`;
  return { upstream, author, issue, thread };
}

describe('an issue', () => {
  it("is opened by the bot, without the labels that it may not set, and its author's token comments on it", async () => {
    const { upstream, author, issue, thread } = await withIssue();
    const opened = await bed.host.call<{
      user: { login: string };
      body: string;
      html_url: string;
      labels: { name: string }[];
    }>('GET', `/repos/${thread}`);
    expect(opened.user.login).toBe(bed.sandbox.botLogin);
    expect(opened.html_url).toBe(issue.body['issue_url']);
    expect(opened.labels).toEqual([]);
    expect(opened.body).toMatch(/^Here is how\.\n\n---\n\*.*\*\n\*.*\*$/);
    expect(opened.body).toContain(`](${bed.service.url})`);

    const token = issue.body['issue_reply_token'];
    const more = await comment(bed, author, thread, 'More of it.', token);
    expect(more.body).toMatchObject({ hash: issue.body['hash'], karma: 1, user_token: token });
    const link = `${bed.service.url}/v1/moderation/report?hash=${String(issue.body['hash'])}`;
    expect(await commentsOn(bed, thread)).toEqual([
      `More of it.\n\n---\nanon-${String(issue.body['hash'])} · karma (1) · [report](${link})`,
    ]);
    expect(bed.host.requestsFor(upstream, 'POST', /\/comments$/)).toHaveLength(1);
  });
});

const newKey = () => ({ 'Idempotency-Key': crypto.randomUUID() });

describe('an Idempotency-Key', () => {
  it(
    'posts a comment once, however often it is sent, from any address, and each time with the same answer',
    exhaustive,
    async () => {
      const { author, thread, upstream } = await withIssue();
      const path = `/v1/gh/${thread}/comments/anonymous`;
      const headers = newKey();
      const sent = { body: 'Once.' };
      const [first, second] = await Promise.all([
        speak(bed, author, path, sent, headers),
        speak(bed, author, path, sent, headers),
      ]);
      expect([first.status, first.body]).toEqual([200, second.body]);
      expect(await speak(bed, bed.person(), path, sent, headers)).toEqual(first);
      const stranger = await speak(bed, author, path, sent, newKey());
      expect(stranger.body['hash']).not.toBe(first.body['hash']);
      const under = { body: 'Again.', user_token: first.body['user_token'] };
      const more = await speak(bed, author, path, under, headers);
      expect(more).toMatchObject({ status: 422, code: 'key-reused' });
      const own = newKey();
      const mine = await speak(bed, author, path, under, own);
      expect(mine.body).toMatchObject({ hash: first.body['hash'], karma: 2 });
      expect(await speak(bed, author, path, under, own)).toEqual(mine);
      expect(await commentsOn(bed, thread)).toHaveLength(3);
      expect(bed.host.requestsFor(upstream, 'POST', /\/comments$/)).toHaveLength(3);
    },
  );

  it.each(['1', 'x'.repeat(256), 'a key with blanks'])('%j is refused', async (key) => {
    const { author, thread } = await withIssue();
    const path = `/v1/gh/${thread}/comments/anonymous`;
    const answer = await speak(bed, author, path, { body: 'Hi' }, { 'Idempotency-Key': key });
    expect(answer).toEqual({
      status: 400,
      code: 'invalid-field',
      body: { error: 'Idempotency-Key must be 16 to 255 visible ASCII characters, such as a random UUID' },
    });
    expect(await commentsOn(bed, thread)).toEqual([]);
  });
});

it(
  'each comment of a pseudonym has a karma of its own, however often the service is killed',
  exhaustive,
  async () => {
    const { author, thread, issue } = await withIssue();
    const token = issue.body['issue_reply_token'];
    for (let death = 1; death <= 4; death++) {
      const many = Array.from({ length: 8 }, (_, index) =>
        comment(bed, author, thread, `${death}.${index}`, token).catch(() => null),
      );
      // It dies while one is on its way, or has just come.
      await expect.poll(async () => (await commentsOn(bed, thread)).length).toBeGreaterThanOrEqual(3 * death);
      await bed.restart();
      await Promise.all(many);
    }
    expect((await comment(bed, author, thread, 'The last.', token)).status).toBe(200);
    const karmas = (await commentsOn(bed, thread)).map((text) => /karma \((\d+)\)/.exec(text)?.[1]);
    expect(karmas).toEqual(karmas.map((_, index) => String(index + 1)));
    expect(karmas.length).toBeGreaterThan(12);
  },
);
