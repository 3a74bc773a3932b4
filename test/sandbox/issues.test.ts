/**
 * Issues and comments, the labels and texts that GitHub refuses, and the bot's notifications about
 * them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { call } from './support/host.ts';
import { exhaustive } from '../support/exhaustive.ts';

const ISSUES = '/repos/octocat/hello/issues';
const COMMENTS = `${ISSUES}/comments`;
let host: Sandbox;
let clock = Date.UTC(2026, 0, 1);

beforeAll(async () => {
  host = await startSandbox({ now: () => new Date(clock) });
  host.createRepository({ owner: 'octocat', name: 'hello', labels: ['bug', 'help wanted'] });
  host.createRepository({ owner: 'octocat', name: 'old', archived: true });
  host.createRepository({ owner: host.botLogin, name: 'own', labels: ['bug', 'help wanted'] });
});

afterAll(() => host.close());

async function newIssue(): Promise<number> {
  const { body } = await call(host, 'POST', ISSUES, { title: 'An issue', body: 'Why' });
  return Number(body['number']);
}

async function newComment(number: number, body = 'A comment'): Promise<number> {
  const answer = await call(host, 'POST', `${ISSUES}/${number}/comments`, { body });
  return Number(answer.body['id']);
}

function refused(message: string): object {
  return { errors: [{ resource: 'IssueComment', code: 'unprocessable', field: 'data', message }] };
}

test('a comment takes one thumb of each account, and nothing else', async () => {
  const id = await newComment(await newIssue());
  const react = (content: string) => call(host, 'POST', `${COMMENTS}/${id}/reactions`, { content });
  expect((await react('+1')).status).toBe(201);
  expect((await react('+1')).status).toBe(200);
  expect((await react('hooray')).status).toBe(422);
  const { body } = await call(host, 'GET', `${COMMENTS}/${id}`);
  expect(body).toMatchObject({ reactions: { '+1': 1, total_count: 1 } });
});

describe('issues', () => {
  test(
    'are made with the labels that exist, spelt as they are, by who may set them',
    exhaustive,
    async () => {
      const labels = ['bug', 'Bug', 'no such', { name: 'help wanted' }];
      const wanted = { title: ' Title ', body: 'Text\n', labels };
      const stranger = await call(host, 'POST', ISSUES, wanted);
      expect([stranger.status, stranger.body['labels']]).toEqual([201, []]);
      const { status, body } = await call(host, 'POST', `/repos/${host.botLogin}/own/issues`, wanted);
      expect(status).toBe(201);
      expect(body).toMatchObject({
        title: 'Title',
        body: 'Text\n',
        state: 'open',
        comments: 0,
        labels: [{ name: 'bug' }, { name: 'help wanted' }],
        html_url: `${host.url}/${host.botLogin}/own/issues/${String(body['number'])}`,
      });
    },
  );

  test.each<[string, object, string]>([
    ['no title', { body: 'x' }, 'missing_field'],
    ['a blank title', { title: ' \n' }, 'missing_field'],
    ['a body that is no text', { title: 'x', body: 1 }, 'invalid'],
    ['a body that is too long', { title: 'x', body: 'x'.repeat(65_537) }, 'custom'],
    ['labels that are no list', { title: 'x', labels: 'bug' }, 'invalid'],
  ])('are refused with %s', async (_what, wanted, code) => {
    const { status, body } = await call(host, 'POST', ISSUES, wanted);
    expect(status).toBe(422);
    expect(body).toMatchObject({ errors: [{ resource: 'Issue', code }] });
  });
});

test('issues are listed by whoever wrote them, and since a moment', async () => {
  const number = await newIssue();
  clock += 5_000;
  const since = new Date(clock).toISOString();
  const listed = async (query: string) =>
    (await call(host, 'GET', `${ISSUES}?state=all&${query}`)).list.map((issue) => issue['number']);
  expect(await listed(`creator=${host.botLogin.toUpperCase()}`)).toContain(number);
  expect(await listed('creator=octocat')).toEqual([]);
  expect(await listed(`since=${since}`)).toEqual([]);
  await newComment(number);
  expect(await listed(`since=${since}&creator=${host.botLogin}`)).toEqual([number]);
});

describe('comments', () => {
  test('are refused when blank, too long, or on nothing', async () => {
    const number = await newIssue();
    const post = (body: unknown, on = number) => call(host, 'POST', `${ISSUES}/${on}/comments`, { body });
    expect((await post(' \n')).body).toMatchObject(refused('Body cannot be blank'));
    expect((await post('x'.repeat(65_537))).body).toMatchObject(
      refused('Body is too long (maximum is 65536 characters)'),
    );
    expect((await post('x'.repeat(65_536))).status).toBe(201);
    expect((await post(undefined)).status).toBe(422);
    expect((await post('x', 9999)).status).toBe(404);
  });

  test('of others cannot be changed, but the maintainer can delete any', async () => {
    const number = await newIssue();
    const on = { owner: 'octocat', repo: 'hello', number };
    const theirs = host.maintainer.comment(on, 'Thanks', 'hubot');
    expect((await call(host, 'GET', `${COMMENTS}/${theirs}`)).body).toMatchObject({
      user: { login: 'hubot' },
    });
    expect((await call(host, 'PATCH', `${COMMENTS}/${theirs}`, { body: 'x' })).status).toBe(403);
    expect((await call(host, 'DELETE', `${COMMENTS}/${theirs}`)).status).toBe(403);
    const mine = await newComment(number);
    host.maintainer.deleteComment('octocat', 'hello', mine);
    expect((await call(host, 'GET', `${COMMENTS}/${mine}`)).status).toBe(404);
  });
});

describe('notifications', () => {
  test('are marked as read, one or all, and chosen by time', async () => {
    clock += 60_000;
    const on = { owner: 'octocat', repo: 'hello', number: await newIssue() };
    const since = `${new Date(clock).toISOString().slice(0, 19)}Z`;
    host.maintainer.comment(on, 'Hm');
    const recent = await call(host, 'GET', `/notifications?since=${since}`);
    expect(recent.list).toHaveLength(1);
    const thread = `/notifications/threads/${String(recent.list[0]?.['id'])}`;
    expect((await call(host, 'PATCH', thread)).status).toBe(205);
    expect((await call(host, 'GET', thread)).body).toMatchObject({ unread: false });
    expect((await call(host, 'GET', `/notifications?since=${since}`)).list).toEqual([]);
    expect((await call(host, 'GET', `/notifications?since=${since}&all=true`)).list).toHaveLength(1);
    expect((await call(host, 'GET', `/notifications?all=true&before=${since}`)).list.length).toBeGreaterThan(
      0,
    );
    expect((await call(host, 'PUT', '/notifications', {})).status).toBe(205);
    expect((await call(host, 'GET', '/notifications')).list).toEqual([]);
  });

  test('are the bot’s alone', async () => {
    expect((await call(host, 'GET', '/notifications', undefined, { token: null })).status).toBe(401);
    expect((await call(host, 'GET', '/notifications?since=soon')).status).toBe(422);
    expect((await call(host, 'GET', '/notifications/threads/1')).status).toBe(404);
  });
});
