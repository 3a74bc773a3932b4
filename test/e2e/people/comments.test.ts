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

  it.each([
    ['is not there', { name: 'elsewhere' }, 'nowhere', '404 Not Found'],
    ['only the bot can see', { name: 'hidden', private: true }, 'hidden', '404 Not Found'],
    ['is archived', { name: 'old', archived: true }, 'old', '403 Forbidden'],
  ])('in a repository that %s is refused as the host does', async (_, facts, name, status) => {
    await bed.createUpstream({ commits: 0, ...facts });
    const path = `/v1/gh/octo/${name}/issues/anonymous`;
    expect(await speak(bed, bed.person(), path, { title: 'Title', body: 'Words' })).toMatchObject({
      status: 400,
      body: { error: `failed to create issue: ${status}` },
    });
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

  it('creates an issue once', async () => {
    const upstream = await bed.createUpstream({ commits: 1 });
    const path = `/v1/gh/${upstream.fullName}/issues/anonymous`;
    const headers = newKey();
    const open = () => speak(bed, bed.person(), path, { title: 'It breaks', body: 'How.' }, headers);
    const first = await open();
    expect(first.body).toMatchObject({ number: 1, karma: 0, issue_reply_token: first.body['user_token'] });
    expect(await open()).toEqual(first);
  });

  it('of a comment that the host has refused may be sent again', async () => {
    const { author, thread } = await withIssue();
    const headers = newKey();
    const path = `/v1/gh/${thread.replace(/\d+$/, '77')}/comments/anonymous`;
    const missing = { status: 400, code: 'not-created' };
    expect(await speak(bed, author, path, { body: 'Hi' }, headers)).toMatchObject(missing);
    expect(await speak(bed, author, path, { body: 'Hi' }, headers)).toMatchObject(missing);
  });

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

describe('comments', () => {
  it('of some megabytes are read to their end and refused', async () => {
    const { upstream, author, thread } = await withIssue();
    expect(await comment(bed, author, thread, 'x'.repeat(3_000_000))).toMatchObject({
      status: 413,
      body: { error: 'request body too large' },
    });
    expect(bed.host.requestsFor(upstream, 'POST', /\/comments$/)).toEqual([]);
  });

  it('of two persons and many at once have pseudonyms and karma of their own', async () => {
    const { thread } = await withIssue();
    const [one, other] = [bed.person(), bed.person()];
    const tokens = ['ONE', 'OTHER'];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        comment(bed, index % 2 === 0 ? one : other, thread, `${index}`, tokens[index % 2]),
      ),
    );
    const karmas = [0, 1].map((who) =>
      answers.filter((_, index) => index % 2 === who).map(({ body }) => body['karma'] as number),
    );
    const all = Array.from({ length: 10 }, (_, index) => index + 1);
    for (const list of karmas) expect(list.toSorted((a, b) => a - b)).toEqual(all);
    expect(new Set(answers.map(({ body }) => body['hash'])).size).toBe(2);
    expect(await commentsOn(bed, thread)).toHaveLength(20);
  });

  it('on a thread that is not there are refused as the host does', async () => {
    const { upstream, author } = await withIssue();
    expect(await comment(bed, author, `${upstream.fullName}/pulls/99`, 'Hi')).toMatchObject({
      status: 400,
      body: { error: 'failed to create comment: 404 Not Found' },
    });
  });

  it.each([
    ['whose answer is lost', { cut: { during: 'answer', afterBytes: 0 } }],
    ['whose answer breaks off', { cut: { during: 'answer', afterBytes: 40 } }],
  ] as const)('%s are found, and posted once', async (_, fault) => {
    const { author, thread } = await withIssue();
    bed.sandbox.faults.inject({ method: 'POST', path: /\/comments$/, ...fault });
    expect(await comment(bed, author, thread, 'Once', 'TOKEN')).toMatchObject({
      status: 200,
      body: { karma: 1 },
    });
    expect(await comment(bed, author, thread, 'Then', 'TOKEN')).toMatchObject({
      status: 200,
      body: { karma: 2 },
    });
    expect(await commentsOn(bed, thread)).toHaveLength(2);
  });

  it('whose answer is lost are found among many', async () => {
    const { upstream, author, thread } = await withIssue();
    const on = { owner: upstream.owner, repo: upstream.name, number: 1 };
    for (let index = 0; index < 120; index++) bed.sandbox.maintainer.comment(on, `${index}`, 'mona');
    bed.sandbox.faults.inject({
      method: 'POST',
      path: /\/comments$/,
      cut: { during: 'answer', afterBytes: 0 },
    });
    const { body } = await comment(bed, author, thread, 'Once', 'TOKEN');
    expect(body).toMatchObject({
      karma: 1,
      comment_url: expect.stringContaining('#issuecomment-') as string,
    });
    expect(bed.host.requestsFor(upstream, 'POST', /\/comments$/)).toHaveLength(1);
  });

  it.each([
    ['a fault of its own', { answer: { status: 500, body: { message: 'boom' } } }, 502],
    ['a closed connection', { cut: { during: 'request', afterBytes: 0 } }, 502],
    ['a page in place of JSON', { answer: { status: 503, body: '<html>' } }, 502],
    ['a limit', { times: 3, answer: { status: 403, headers: { 'retry-after': '1' }, body: {} } }, 503],
  ] as const)('to which the host answers with %s do not count', exhaustive, async (_, fault, status) => {
    const { author, thread } = await withIssue();
    bed.sandbox.faults.inject({ method: 'POST', path: /\/comments$/, ...fault });
    expect((await comment(bed, author, thread, 'Hi', 'TOKEN')).status).toBe(status);
    expect((await comment(bed, author, thread, 'Hi', 'TOKEN')).body['karma']).toBe(1);
    expect(await commentsOn(bed, thread)).toHaveLength(1);
  });
});
