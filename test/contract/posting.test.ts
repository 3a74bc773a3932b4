/** Anonymous comments and issues (contract, 2.1 to 2.6, 4.1 to 4.3, 7). */
import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { useCodeHost } from './support/code-host.ts';
import { type Answer, CLIENT_HEADER, expectError, inTurns, send, type Sent } from './support/http.ts';
import type { Recorded } from './support/records.ts';
import { useService } from './support/service.ts';

const IDENTITY_SECRET = 'a secret of the contract tests, which is long enough';
const TOKEN = /^[A-Z2-7]{16}$/;
const HASH = /^[0-9a-f]{8}$/;

const host = useCodeHost();
const service = useService(() => (port) => ({
  ...host.variables,
  IDENTITY_SECRET,
  SERVICE_URL: `http://127.0.0.1:${port}`,
  CLIENT_IP_HEADER: CLIENT_HEADER,
  LIMIT_CREATIONS: '10000/1h',
}));

let clients = 0;
/** Somebody who has sent nothing yet. */
const newClient = (): string => `192.0.2.${++clients}`;

const issuesUrl = (repository = 'octo/hello'): string =>
  `${service.url}/v1/gh/${repository}/issues/anonymous`;
const commentsUrl = (number: number | string, kind = 'issues', repository = 'octo/hello'): string =>
  `${service.url}/v1/gh/${repository}/${kind}/${number}/comments/anonymous`;

function comment(number: number, json: unknown, kind = 'issues'): Promise<Answer> {
  return send(commentsUrl(number, kind), { json, from: newClient() });
}

interface Commented {
  readonly comment_url: string;
  readonly hash: string;
  readonly karma: number;
  readonly user_token: string;
}

async function commented(number: number, json: unknown, kind?: string): Promise<Commented> {
  const answer = await comment(number, json, kind);
  expect(answer.status, answer.text).toBe(200);
  return answer.json as Commented;
}

/** The text of the newest comment at the host. */
const newestText = (number: number): string | undefined =>
  host.repositories.get('octo/hello')?.threads[number - 1]?.comments.at(-1)?.body;

const lastCreation = (): Recorded => host.asked(/\/(?:issues|comments)$/, 'POST').at(-1) as Recorded;

async function newThread(repository = 'octo/hello'): Promise<number> {
  const json = { title: 'A thread', body: 'to comment on' };
  const answer = await send(issuesUrl(repository), { json, from: newClient() });
  expect(answer.status, answer.text).toBe(200);
  return (answer.json as { number: number }).number;
}

beforeAll(async () => {
  await host.createRepository('octo', 'hello');
  await newThread();
  await newThread();
});

describe('a comment', () => {
  it.each(['issues', 'pulls'])('on %s is answered with these four fields', async (kind) => {
    const answer = await comment(1, { body: 'It breaks here, too.' }, kind);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
    const id = host.repositories.get('octo/hello')?.threads[0]?.comments.at(-1)?.id;
    expect(answer.json).toEqual({
      comment_url: `${host.url}/octo/hello/issues/1#issuecomment-${id}`,
      hash: expect.stringMatching(HASH) as string,
      karma: 1,
      user_token: expect.stringMatching(TOKEN) as string,
    });
  });

  it.each(['Plain.', '  kept\tas it is \r\n\r\n* ä · 漢字 🎉\n', '> quoted\n\n```js\ncode\n```'])(
    'is posted as it is, with the footer under it: %j',
    async (body) => {
      const { hash } = await commented(1, { body });
      const report = `${service.url}/v1/moderation/report?hash=${hash}`;
      expect(newestText(1)).toBe(`${body}\n\n---\nanon-${hash} · karma (1) · [report](${report})`);
    },
  );

  it('of a pull request is a general one, by the bot account', async () => {
    await commented(1, { body: 'In general.' }, 'pulls');
    const { path, headers } = lastCreation();
    expect(path).toBe('/api/repos/octo/hello/issues/1/comments');
    expect(headers['authorization']).toMatch(/ token-of-the-bot$/);
  });

  it('without a token gets a new one each time', async () => {
    const [first, second] = [await commented(1, { body: 'a' }), await commented(1, { body: 'b' })];
    expect(first.user_token).not.toBe(second.user_token);
    expect(first.hash).not.toBe(second.hash);
  });

  it('with a token keeps its identity and counts up its karma', async () => {
    const { user_token, hash } = await commented(1, { body: 'one' });
    for (const karma of [2, 3]) {
      const next = await commented(1, { body: 'more', user_token });
      expect(next).toMatchObject({ hash, karma, user_token });
      expect(newestText(1)).toContain(`anon-${hash} · karma (${karma}) · `);
    }
  });

  it('takes a token that the service has not made', async () => {
    expect(await commented(1, { body: 'mine', user_token: 'a token of my own' })).toMatchObject({
      karma: 1,
      user_token: 'a token of my own',
    });
  });

  it('has the first eight digits of the HMAC-SHA256 of thread and token as its hash', async () => {
    const user_token = 'ABCDEFGHIJKLMNOP';
    for (const number of [1, 2]) {
      const { hash } = await commented(number, { body: 'hashed', user_token });
      const hmac = createHmac('sha256', IDENTITY_SECRET).update(`octo/hello#${number}|${user_token}`);
      expect(hash).toBe(hmac.digest('hex').slice(0, 8));
    }
  });

  it('has another hash, and a karma of its own, on another thread', async () => {
    const first = await commented(1, { body: 'here' });
    const second = await commented(2, { body: 'there', user_token: first.user_token });
    expect(second.hash).not.toBe(first.hash);
    expect(second.karma).toBe(1);
  });

  it('reaches a thread that sixty others have written to within the hour', async () => {
    const number = await newThread();
    const answers = await inTurns(100, () => comment(number, { body: 'one of many' }));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });
});

/** Neither is an object in JSON. */
const NO_OBJECT: readonly (string | Uint8Array)[] = [
  '',
  '{',
  '{"body": "x"',
  "{'body': 'x'}",
  'null',
  '[]',
  '[{"body": "x"}]',
  '"x"',
  '5',
  'body=x',
  Buffer.from('{"body": "\xff"}', 'latin1'),
];

async function refused(url: string, sent: Sent, status: number, message: string): Promise<void> {
  const before = host.requests.length;
  const answer = await send(url, { method: 'POST', from: newClient(), ...sent });
  expectError(answer, status, message);
  expect(host.causedSince(before)).toEqual([]);
}

describe('a comment is refused', () => {
  it.each(['issues', 'pulls'])('on %s without a body', async (kind) => {
    for (const json of [{}, { body: '' }, { body: ' \n\t ' }, { user_token: 'A' }])
      await refused(commentsUrl(1, kind), { json }, 400, 'body is required');
  });

  it.each(['0', '-1', '1.5', 'abc', '1e3', '1a', '%20', '99999999999999999999999999'])(
    'with the number %s',
    async (number) => {
      for (const kind of ['issues', 'pulls'])
        await refused(commentsUrl(number, kind), { json: { body: 'x' } }, 400, 'invalid issue number');
    },
  );

  it.each(NO_OBJECT)('if it is no JSON object: %j', async (body) => {
    await refused(commentsUrl(1), { body }, 400, 'invalid payload');
  });

  it.each([
    { body: 5 },
    { body: true },
    { body: ['x'] },
    { body: { text: 'x' } },
    { body: 'x', user_token: 5 },
    { body: 'x', user_token: ['A'] },
  ])('if a value is of another type: %j', async (json) => {
    await refused(commentsUrl(1), { json }, 400, 'invalid payload');
  });
});

/** Those that reach the host. */
async function labelsOf(labels: object): Promise<unknown> {
  const json = { title: 'a', body: 'b', ...labels };
  expect((await send(issuesUrl(), { json, from: newClient() })).status).toBe(200);
  const { labels: sent = [] } = JSON.parse(lastCreation().body.toString()) as { labels?: unknown };
  return sent;
}

describe('an issue', () => {
  it('is answered with these six fields', async () => {
    const json = { title: 'It breaks', body: 'Here is how.' };
    const answer = await send(issuesUrl(), { json, from: newClient() });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
    const number = host.repositories.get('octo/hello')?.threads.length as number;
    const { user_token } = answer.json as { user_token: string };
    expect(user_token).toMatch(TOKEN);
    const hmac = createHmac('sha256', IDENTITY_SECRET).update(`octo/hello#${number}|${user_token}`);
    expect(answer.json).toEqual({
      issue_url: `${host.url}/octo/hello/issues/${number}`,
      number,
      hash: hmac.digest('hex').slice(0, 8),
      karma: 0,
      user_token,
      issue_reply_token: user_token,
    });
  });

  it('is posted as it is, with two lines in italics under it', async () => {
    const body = '  Here is how.\r\n\r\n* ä 🎉 ';
    await send(issuesUrl(), { json: { title: 'It breaks', body }, from: newClient() });
    const sent = JSON.parse(lastCreation().body.toString()) as { title: string; body: string };
    expect(sent.title).toBe('It breaks');
    expect(sent.body.startsWith(`${body}\n\n---\n`)).toBe(true);
    const [first, second, ...more] = sent.body.slice(`${body}\n\n---\n`.length).split('\n');
    expect(more).toEqual([]);
    expect(first).toMatch(/^\*[^*]*anonymous contribution made via[^*]*\*$/);
    expect(first).toContain(`](${service.url})`);
    expect(second).toBe("*The original author's identity has been anonymized.*");
  });

  it('is answered by its author with the reply token', async () => {
    const answer = await send(issuesUrl(), { json: { title: 'a', body: 'b' }, from: newClient() });
    const { number, hash, issue_reply_token } = answer.json as Record<string, string>;
    expect(await commented(Number(number), { body: 'PS', user_token: issue_reply_token })).toMatchObject({
      hash,
      karma: 1,
    });
  });

  it('has the labels that were sent, letter for letter, and none by itself', async () => {
    expect(await labelsOf({ labels: ['Bug', 'good first issue', 'unknown'] })).toEqual([
      'Bug',
      'good first issue',
      'unknown',
    ]);
    expect(await labelsOf({ labels: [] })).toEqual([]);
    expect(await labelsOf({})).toEqual([]);
  });

  it('is created forty times an hour in one repository, for clients that differ', async () => {
    await host.createRepository('octo', 'busy');
    const numbers = await inTurns(40, () => newThread('octo/busy'));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
  });

  it('neither it nor a comment is told to anybody', async () => {
    await newThread();
    await commented(1, { body: 'quietly' });
    expect(host.messages).toEqual([]);
  });

  it.each(['PUT', 'PATCH', 'DELETE'])('cannot be changed: %s', async (method) => {
    for (const url of [issuesUrl(), commentsUrl(1)]) {
      const answer = await send(url, { method, json: { title: 'a', body: 'b' }, from: newClient() });
      expect([404, 405]).toContain(answer.status);
      expect(Object.keys(answer.json as object)).toEqual(['error']);
    }
  });
});

describe('an issue is refused', () => {
  it.each([
    {},
    { title: 'a' },
    { body: 'b' },
    { title: '', body: 'b' },
    { title: ' \n', body: 'b' },
    { title: 'a', body: '' },
    { title: 'a', body: '\t ' },
  ])('without a title and a body: %j', async (json) => {
    await refused(issuesUrl(), { json }, 400, 'title and body are required');
  });

  it.each(NO_OBJECT)('if it is no JSON object: %j', async (body) => {
    await refused(issuesUrl(), { body }, 400, 'invalid payload');
  });

  it.each([
    { title: 5, body: 'b' },
    { title: 'a', body: ['b'] },
    { title: 'a', body: 'b', labels: 'bug' },
    { title: 'a', body: 'b', labels: { bug: true } },
    { title: 'a', body: 'b', labels: ['bug', 5] },
  ])('if a value is of another type: %j', async (json) => {
    await refused(issuesUrl(), { json }, 400, 'invalid payload');
  });

  it('with the status of the host if the repository is missing', async () => {
    const answer = await send(issuesUrl('octo/missing'), { json: { title: 'a', body: 'b' } });
    expectError(answer, 400, 'failed to create issue: 404 Not Found');
  });

  it.each([
    [403, '403 Forbidden'],
    [410, '410 Gone'],
    [422, '422 Unprocessable Entity'],
  ])('with the status of the host: %i', async (status, said) => {
    host.intercept = ({ method, path }) =>
      method === 'POST' && path.endsWith('/issues') ? { status, json: { message: 'No.' } } : null;
    try {
      const json = { title: 'a', body: 'b' };
      const answer = await send(issuesUrl(), { json, from: newClient() });
      expectError(answer, 400, `failed to create issue: ${said}`);
    } finally {
      host.intercept = () => null;
    }
  });
});
