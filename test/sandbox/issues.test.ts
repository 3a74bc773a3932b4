/** Issues and comments, the labels and texts that GitHub refuses, and the bot's notifications about them. */
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

  test('are refused of strangers, and where the repository is archived or missing', async () => {
    const wanted = { title: 'x' };
    expect((await call(host, 'POST', ISSUES, wanted, { token: null })).status).toBe(401);
    expect((await call(host, 'POST', '/repos/octocat/old/issues', wanted)).status).toBe(403);
    expect((await call(host, 'POST', '/repos/octocat/nope/issues', wanted)).status).toBe(404);
  });

  test('are read, listed, changed and closed', exhaustive, async () => {
    const number = await newIssue();
    const path = `${ISSUES}/${number}`;
    const changed = await call(host, 'PATCH', path, { title: 'New', labels: ['bug'], state: 'closed' });
    expect(changed.body).toMatchObject({ title: 'New', state: 'closed', state_reason: 'completed' });
    expect((await call(host, 'GET', path)).body).toMatchObject({ labels: [] });
    const open = await call(host, 'GET', ISSUES);
    expect(open.list.map((issue) => issue['number'])).not.toContain(number);
    const all = await call(host, 'GET', `${ISSUES}?state=all`);
    expect(all.list.map((issue) => issue['number'])).toContain(number);
    expect((await call(host, 'GET', `${ISSUES}/9999`)).status).toBe(404);
    expect((await call(host, 'GET', `${ISSUES}/x`)).status).toBe(404);
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
  test('are made, read, listed, changed and deleted', exhaustive, async () => {
    const number = await newIssue();
    const id = await newComment(number, 'First');
    const { body } = await call(host, 'GET', `${COMMENTS}/${id}`);
    expect(body).toMatchObject({
      body: 'First',
      user: { login: host.botLogin },
      html_url: `${host.url}/octocat/hello/issues/${number}#issuecomment-${id}`,
    });
    expect((await call(host, 'PATCH', `${COMMENTS}/${id}`, { body: 'Changed' })).body['body']).toBe(
      'Changed',
    );
    await newComment(number);
    const { list } = await call(host, 'GET', `${ISSUES}/${number}/comments`);
    expect(list.map((comment) => comment['body'])).toEqual(['Changed', 'A comment']);
    expect((await call(host, 'GET', `${ISSUES}/${number}`)).body['comments']).toBe(2);
    expect((await call(host, 'DELETE', `${COMMENTS}/${id}`)).status).toBe(204);
    expect((await call(host, 'GET', `${COMMENTS}/${id}`)).status).toBe(404);
    expect((await call(host, 'DELETE', `${COMMENTS}/${id}`)).status).toBe(404);
  });

  test('are listed since a moment, and page by page', async () => {
    const number = await newIssue();
    await newComment(number, 'Old');
    clock += 60_000;
    await newComment(number, 'New');
    const since = new Date(clock).toISOString();
    const recent = await call(host, 'GET', `${ISSUES}/${number}/comments?since=${since.slice(0, 19)}Z`);
    expect(recent.list.map((comment) => comment['body'])).toEqual(['New']);
    const first = await call(host, 'GET', `${ISSUES}/${number}/comments?per_page=1`);
    expect(first.list).toHaveLength(1);
    expect(first.headers.get('link')).toContain('rel="next"');
  });

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
  test('come when someone else comments or closes, once a thread', async () => {
    await call(host, 'PUT', '/notifications', {});
    const number = await newIssue();
    await newComment(number, 'My own');
    expect((await call(host, 'GET', '/notifications')).list).toEqual([]);

    const on = { owner: 'octocat', repo: 'hello', number };
    clock += 1000;
    const comment = host.maintainer.comment(on, 'Hm', 'hubot');
    const first = await call(host, 'GET', '/notifications');
    expect(first.list).toMatchObject([
      {
        reason: 'author',
        unread: true,
        subject: { type: 'Issue', latest_comment_url: `${host.apiUrl}${COMMENTS}/${comment}` },
        repository: { full_name: 'octocat/hello' },
      },
    ]);
    clock += 1000;
    host.maintainer.close(on);
    const second = await call(host, 'GET', '/notifications');
    expect(second.list).toHaveLength(1);
    expect(second.list[0]?.['id']).toBe(first.list[0]?.['id']);
    expect(second.list[0]?.['updated_at']).not.toBe(first.list[0]?.['updated_at']);
  });

  test('are answered with 304 until there is something new', async () => {
    clock += 1000;
    const on = { owner: 'octocat', repo: 'hello', number: await newIssue() };
    host.maintainer.comment(on, 'Hm');
    const first = await call(host, 'GET', '/notifications');
    expect(first.headers.get('x-poll-interval')).toBe('60');
    const lastModified = first.headers.get('last-modified') ?? '';
    const poll = () =>
      call(host, 'GET', '/notifications', undefined, { headers: { 'if-modified-since': lastModified } });
    expect((await poll()).status).toBe(304);
    clock += 1000;
    host.maintainer.comment(on, 'Again');
    expect((await poll()).status).toBe(200);
  });

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
