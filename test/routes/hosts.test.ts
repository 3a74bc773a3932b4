/**
 * Several code hosts in one service: each is asked for its own repositories, with its own token,
 * and counted by itself.
 */
import { applyD1Migrations, createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { recordName } from '../../src/config/hosts.ts';
import type { Env } from '../../src/env.ts';
import { identityHash } from '../../src/secret/keyed-hash.ts';
import { type Http, HttpClient } from '../../src/outgoing/http-client.ts';
import { d1Ledger } from '../../src/stats/ledger.ts';
import worker from '../../src/worker.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const SECRET = 'a secret of more than thirty-two characters';
const HOSTS = 'cb=forgejo:https://berg.test,my=gitea:https://tea.test';
const TOKENS = { HOSTING_TOKEN: 'first', HOSTING_TOKEN_CB: 'second' };

/** Each request: its method and address. */
let asked: string[];

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  asked = [];
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation((async (input, init) => {
    const { method, url } = new Request(input, init);
    asked.push(`${method} ${url}`);
    return new Response('gone', { status: 404 });
  }) satisfies Http['fetch']);
});
afterEach(() => void vi.restoreAllMocks());

function fetchFrom(path: string, init?: RequestInit): Promise<Response> {
  const variables = { HOSTS, ...TOKENS, IDENTITY_SECRET: SECRET, HOSTING_URL: 'https://hub.test' };
  const request = new Request(`https://veil.test${path}`, init);
  return Promise.resolve(worker.fetch(request, { ...bindings, ...variables }, createExecutionContext()));
}

const comment = { method: 'POST', body: JSON.stringify({ body: 'Hi', user_token: 'T' }) };

describe('a path', () => {
  it.each([
    ['gh', 'https://hub.test'],
    ['cb', 'https://berg.test'],
    ['my', 'https://tea.test'],
  ])('of %s is fetched from %s', async (key, url) => {
    const response = await fetchFrom(`/v1/${key}/octo/hello/info/refs?service=git-upload-pack`);
    expect(response.status).toBe(404);
    expect(asked).toEqual([`GET ${url}/octo/hello.git/info/refs?service=git-upload-pack`]);
  });

  it.each([
    '/v1/xy/octo/hello/info/refs?service=git-upload-pack',
    '/v1/xy/octo/hello',
    '/v1/CB/octo/hello',
    '/v1/constructor/octo/hello',
    '/badge/xy/octo/hello',
  ])('of no host asks nobody: %s', async (path) => {
    const { status } = await fetchFrom(path);
    expect([400, 404]).toContain(status);
    expect(asked).toEqual([]);
  });

  it('of no host is a page in a browser, which names the hosts that there are', async () => {
    const headers = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const path of ['/v1/xy/octo/hello', '/v1/xy/octo/hello/new-issue']) {
      const response = await fetchFrom(path, { headers });
      expect([response.status, response.headers.get('Content-Type')]).toEqual([
        404,
        'text/html; charset=UTF-8',
      ]);
      const known = 'begin here with /v1/gh/ for hub.test, /v1/cb/ for berg.test, and /v1/my/ for tea.test.';
      expect(await response.text()).toContain(known);
    }
    expect(asked).toEqual([]);
  });

  it('of no host is JSON for programs, and text for Git, which shows it', async () => {
    const api = await fetchFrom('/v1/xy/octo/hello/issues/1/comments/anonymous', comment);
    expect([api.status, await api.json()]).toMatchObject([404, { error: 'not found' }]);
    const remote = await fetchFrom('/v1/xy/octo/hello');
    expect([remote.status, await remote.json()]).toMatchObject([404, { error: 'not found' }]);
    const git = await fetchFrom('/v1/xy/octo/hello/info/refs?service=git-receive-pack');
    expect([git.status, await git.text()]).toEqual([404, expect.stringContaining('/v1/cb/ for berg.test')]);
  });

  it.each([
    ['/octo/hello/info/refs?service=git-upload-pack', 'git clone https://veil.test/v1/gh/octo/hello'],
    ['/v1/octo/hello.git/info/refs?service=git-upload-pack', 'git clone https://veil.test/v1/gh/octo/hello'],
    [
      '/v1/github/octo/hello/info/refs?service=git-receive-pack',
      'git push https://veil.test/v1/gh/octo/hello',
    ],
    [
      '/v1/berg.test/octo/hello/info/refs?service=git-upload-pack',
      'git clone https://veil.test/v1/cb/octo/hello',
    ],
    ['/v1/cb/octo/info/refs?service=git-receive-pack', 'git push https://veil.test/v1/cb/octo/<repo>'],
  ])('that lacks its host or its repository is told to Git as it was meant: %s', async (path, command) => {
    const answer = await fetchFrom(path);
    expect([answer.status, (await answer.text()).split('\n')[0]]).toEqual([
      404,
      `No such code host. Did you mean: ${command}`,
    ]);
    expect(asked).toEqual([]);
  });

  it('that is no repository is told without a guess', async () => {
    const answer = await fetchFrom('/v1/xy/-/..%2f/info/refs?service=git-upload-pack');
    expect(await answer.text()).not.toContain('Did you mean');
  });

  it('of a host without a bot takes no comments, and says which variable is missing', async () => {
    const response = await fetchFrom('/v1/my/octo/hello/issues/1/comments/anonymous', comment);
    expect([response.status, await response.text()]).toEqual([
      503,
      expect.stringContaining('HOSTING_TOKEN_MY'),
    ]);
    expect(asked).toEqual([]);
  });

  it('shows in a browser the remote of its own host', async () => {
    const response = await fetchFrom('/v1/cb/octo/hello');
    expect(await response.text()).toContain('git clone https://veil.test/v1/cb/octo/hello\n');
  });
});

const entry = (host: string, number: number) => ({
  host,
  owner: 'Octo',
  repo: 'apart',
  prUrl: `https://${host}.test/octo/apart/pull/${number}`,
  createdAt: '2026-11-01T10:00:00.000Z',
});

describe('what is recorded', () => {
  it('keeps a pseudonym of the first host as the contract has it, and those of others apart', () => {
    const repository = { owner: 'octo', name: 'hello' };
    const [first, other] = ['gh', 'cb'].map((key) =>
      identityHash(SECRET, `${recordName({ key }, repository)}#1`, 'T'),
    );
    expect(first).toBe(identityHash(SECRET, 'octo/hello#1', 'T'));
    expect(other).not.toBe(first);
  });

  it('counts the pull requests of each host by themselves', async () => {
    const ledger = d1Ledger(bindings.DB);
    for (const [host, number] of [
      ['gh', 1],
      ['cb', 1],
      ['cb', 2],
    ] as const) {
      await ledger.recordPullRequest(entry(host, number));
    }
    const titles = ['/badge/octo/apart', '/badge/gh/octo/apart', '/badge/cb/octo/apart'].map(
      async (path) => /<title>(.*?)<\/title>/.exec(await (await fetchFrom(path)).text())?.[1],
    );
    expect(await Promise.all(titles)).toEqual(['Anonymous PRs: 1', 'Anonymous PRs: 1', 'Anonymous PRs: 2']);
    const recent = await (await fetchFrom('/api/recent-prs')).json<{ prs: object[] }>();
    expect(recent.prs).toHaveLength(3);
  });
});
