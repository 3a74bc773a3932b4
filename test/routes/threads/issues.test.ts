/** Anonymous issues (contract, 4.3 and section 7). */
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { issueAnswer } from '../../../src/routes/threads/issues.ts';
import { FakeThreads } from '../../durable/support/fake-threads.ts';
import { holdClock } from '../../durable/support/pseudonym.ts';
import { type Call, SECRET, post } from '../support/json-caller.ts';

let host: FakeThreads;

const open = (payload: unknown, more: Partial<Call> & { on?: string } = {}) => {
  const { on = 'octo/hello', ...call } = more;
  return post(`/v1/gh/${on}/issues/anonymous`, { payload, ...call });
};

beforeEach(() => {
  host = new FakeThreads();
  holdClock();
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('an issue', () => {
  it('is created with footer and labels, and answered with all that its author needs', async () => {
    const variables = { SERVICE_URL: 'https://public.test' };
    const payload = { title: 'It breaks', body: 'Words', labels: ['bug', 'No such label'] };
    const { status, body } = await open(payload, { variables });
    const token = body['user_token'] as string;
    const hash = createHmac('sha256', SECRET).update(`octo/hello#1|${token}`).digest('hex').slice(0, 8);
    expect(status).toBe(200);
    expect(token).toMatch(/^[A-Z2-7]{16}$/);
    expect(body).toEqual({
      issue_url: 'https://host.test/octo/hello/issues/1',
      number: 1,
      hash,
      karma: 0,
      user_token: token,
      issue_reply_token: token,
    });
    expect(issueAnswer.parse(body)).toEqual(body);
    expect(host.issues).toEqual([
      {
        title: 'It breaks',
        body: expect.stringMatching(
          /^Words\n\n---\n\*[^\n]*\(https:\/\/public\.test\)[^\n]*\*\n\*[^\n]*\*$/,
        ) as string,
        labels: ['bug', 'No such label'],
      },
    ]);
  });

  it('has a link to where it was called, if the service knows no other address of its own', async () => {
    await open({ title: 'It breaks', body: 'Words' }, { origin: 'https://edge.test' });
    expect(host.issues[0]?.body).toContain('(https://edge.test)');
  });

  it('is a thread on which its token comments under its pseudonym', async () => {
    const { body: issue } = await open({ title: 'It breaks', body: 'Words' });
    const path = `/v1/gh/octo/hello/issues/${issue['number'] as number}/comments/anonymous`;
    const payload = { body: 'More', user_token: issue['issue_reply_token'] };
    const { body } = await post(path, { payload });
    expect(body).toMatchObject({ hash: issue['hash'], karma: 1 });
  });
});

describe('an issue is refused', () => {
  const FOOTER = "*The original author's identity has been anonymized.*";
  const REQUIRED = 'title and body are required';
  it.each<[what: string, payload: unknown, message: unknown]>([
    ['no JSON', '{', 'invalid payload'],
    ['an array', [], 'invalid payload'],
    ['nothing in it', {}, REQUIRED],
    ['no title', { body: 'Words' }, REQUIRED],
    ['a blank title', { title: ' ', body: 'Words' }, REQUIRED],
    ['no body', { title: 'Title' }, REQUIRED],
    ['a blank body', { title: 'Title', body: '\n' }, REQUIRED],
    ['null as title', { title: null, body: 'Words' }, REQUIRED],
    ['a number as title', { title: 5, body: 'Words' }, 'invalid payload'],
    ['an object as title, and no body', { title: {} }, 'invalid payload'],
    ['a number as body', { title: 'Title', body: 5 }, 'invalid payload'],
    ['one label', { title: 'Title', body: 'Words', labels: 'bug' }, 'invalid payload'],
    ['numbers as labels', { title: 'Title', body: 'Words', labels: ['a', 1] }, 'invalid payload'],
    ['a NUL in the title', { title: 'T\0', body: 'Words' }, 'title must not contain NUL characters'],
    [
      'an open comment',
      { title: 'T', body: '<!--' },
      expect.stringContaining('comment or block is never closed'),
    ],
    [
      'a footer',
      { title: 'T', body: FOOTER },
      expect.stringContaining("line that looks like the service's footer"),
    ],
    ['a long title', { title: 'x'.repeat(257), body: 'Words' }, 'title must have at most 256 characters'],
  ])('with %s, and the host is not asked', async (_, payload, message) => {
    expect(await open(payload)).toMatchObject({ status: 400, body: { error: message } });
    expect(host.requests).toEqual([]);
  });

  it('when body and footer are longer than the host takes', async () => {
    const { status, body } = await open({ title: 'Title', body: 'x'.repeat(65_536) });
    const [, limit] = /^body must have at most (\d+) characters$/.exec(body['error'] as string) ?? [];
    expect(status).toBe(400);
    expect((await open({ title: 'Title', body: 'x'.repeat(Number(limit)) })).status).toBe(200);
  });

  it('about a name that is none', async () => {
    const { status, body } = await open({ title: 'Title', body: 'Words' }, { on: 'octo/he%2fllo' });
    expect(status).toBe(400);
    expect(body['error']).toContain('letters, digits');
  });

  it.each([
    [404, {}, 400, 'failed to create issue: 404 Not Found'],
    [410, {}, 400, 'failed to create issue: 410 Gone'],
    [403, {}, 400, 'failed to create issue: 403 Forbidden'],
    [
      429,
      { 'retry-after': '60' },
      503,
      '127.0.0.1:9 asks to slow down; the issue was not created: try again later',
    ],
  ])('as the host does, with %i', async (hostStatus, headers, status, message) => {
    host.disturb = ({ method }) =>
      method === 'POST' ? Response.json({}, { status: hostStatus, headers }) : undefined;
    // Accounts of their own: one that is to slow down is left alone.
    const variables = { HOSTING_TOKEN: `bot-that-meets-${hostStatus}` };
    const answer = await open({ title: 'Title', body: 'Words' }, { variables });
    expect(answer).toMatchObject({ status, body: { error: message } });
  });

  it('when the answer is lost, and whoever sends it again with its key is told', async () => {
    host.disturb = ({ method }) => {
      if (method === 'POST') throw new TypeError('the connection is gone');
      return undefined;
    };
    const call = {
      variables: { HOSTING_TOKEN: 'bot-whose-answers-are-lost' },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    };
    const send = () => open({ title: 'Title', body: 'Words' }, call);
    expect(await send()).toMatchObject({ status: 502, code: 'may-exist' });
    host.disturb = () => undefined;
    const again = await send();
    expect(again).toMatchObject({ status: 409, code: 'may-exist' });
    expect(again.body['error']).toMatch(/before you send it with another key$/);
  });

  it('when the answer is lost, once: nobody wants it twice', async () => {
    host.loseAnswer = ({ method }) => (method === 'POST' ? Response.json({}, { status: 502 }) : undefined);
    const { status, body } = await open({ title: 'Title', body: 'Words' });
    expect(status).toBe(502);
    expect(body['error']).toContain('look there before you try again');
    expect(host.issues).toHaveLength(1);
  });
});
