/** Accounts, tokens, repositories, what they hold, and what every REST answer carries. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { Workshop } from './support/git.ts';
import { call, createFilled } from './support/host.ts';

const workshop = new Workshop();
let host: Sandbox;
let workTree: string;

beforeAll(async () => {
  host = await startSandbox();
  workTree = await workshop.workTree();
  await createFilled(host, workTree, { owner: 'octocat', name: 'hello', defaultBranch: 'trunk' });
  await createFilled(host, workTree, { owner: 'octocat', name: 'secret', private: true });
  host.createRepository({ owner: 'octocat', name: 'empty' });
});

afterAll(async () => {
  await host.close();
  workshop.remove();
});

describe('accounts', () => {
  test('tells the bot who it is', async () => {
    const { status, body } = await call(host, 'GET', '/user');
    expect([status, body['login']]).toEqual([200, host.botLogin]);
  });

  test('refuses a wrong token everywhere, and no token where one is needed', async () => {
    const wrong = await call(host, 'GET', '/repos/octocat/hello', undefined, { token: 'wrong' });
    expect(wrong.status).toBe(401);
    expect(wrong.body).toMatchObject({ message: 'Bad credentials', status: '401' });
    const missing = await call(host, 'GET', '/user', undefined, { token: null });
    expect([missing.status, missing.body['message']]).toEqual([401, 'Requires authentication']);
  });
});

describe('repositories', () => {
  test('are described with what the service asks for', async () => {
    const { status, body } = await call(host, 'GET', '/repos/Octocat/HELLO');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      full_name: 'octocat/hello',
      default_branch: 'trunk',
      private: false,
      fork: false,
      archived: false,
      html_url: `${host.url}/octocat/hello`,
      clone_url: `${host.url}/octocat/hello.git`,
    });
  });

  test('are not there when missing, or private and not one’s own', async () => {
    for (const name of ['missing', 'secret']) {
      const { status, body } = await call(host, 'GET', `/repos/octocat/${name}`);
      expect([status, body['message']]).toEqual([404, 'Not Found']);
      expect(body['documentation_url']).toContain('docs.github.com/rest/repos/repos#get-a-repository');
    }
  });
});

describe('every answer', () => {
  test('carries a request id and the rate limit, which goes down', async () => {
    const first = await call(host, 'GET', '/user');
    const second = await call(host, 'GET', '/user');
    expect(first.headers.get('x-github-request-id')).toMatch(/^[0-9A-F]{32}$/);
    expect(first.headers.get('x-ratelimit-limit')).toBe('5000');
    const left = [first, second].map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect((left[0] ?? 0) - (left[1] ?? 0)).toBe(1);
  });

  test('says so when the JSON or the route is wrong', async () => {
    const headers = { authorization: `token ${host.botToken}` };
    const url = `${host.apiUrl}/repos/octocat/hello/issues`;
    const broken = await fetch(url, { method: 'POST', body: '{"title":', headers });
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ message: 'Problems parsing JSON' });
    expect((await fetch(`${host.apiUrl}/nonsense`)).status).toBe(404);
    const huge = await fetch(url, { method: 'POST', body: 'x'.repeat(3_000_000), headers });
    expect(huge.status).toBe(413);
  });
});
