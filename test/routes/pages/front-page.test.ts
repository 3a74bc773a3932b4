/**
 * GET / and GET /v1/gh/<owner>/<repo>, in a browser and in a terminal; the front page also while
 * all else is dead.
 */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import { parseRepositoryText } from '../../../src/pages/commands.ts';
import { openLedger } from '../../../src/stats/statistics.ts';
import { parseConfig } from '../../../src/config/config.ts';
import worker from '../../../src/worker.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

function get(path: string, accept = HTML, variables: Record<string, unknown> = {}): Promise<Response> {
  const request = new Request(`https://veil.test${path}`, { headers: { Accept: accept } });
  return Promise.resolve(worker.fetch(request, { ...bindings, ...variables }));
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

beforeEach(() => applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS));

describe('the front page', () => {
  it.each([
    'octo/hello',
    '127.0.0.1:9/octo/hello',
    'https://127.0.0.1:9/octo/hello/',
    ' https://127.0.0.1:9/octo/hello.git',
  ])('leads to the page of the repository that was typed: %j', async (typed) => {
    const response = await get(`/?repo=${encodeURIComponent(typed)}`);
    expect([response.status, response.headers.get('Location')]).toEqual([302, '/v1/gh/octo/hello']);
  });

  it('says which host it asks, and takes no address of another', async () => {
    expect(await (await get('/')).text()).toContain('Which repository at 127.0.0.1:9?');
    const response = await get('/?repo=gitlab.com/octo/hello');
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('127.0.0.1:9')]);
  });

  it('says what is wrong with what was typed, and escapes it', async () => {
    const typed = '"><script>alert(1)</script>';
    const response = await get(`/?repo=${encodeURIComponent(typed)}`);
    expect(response.status).toBe(400);
    const page = await response.text();
    expect(page).toContain('Write it as owner/repo');
    expect(page).not.toContain('<script>alert');
    expect(page).toContain('&lt;owner&gt;/<wbr>&lt;repo&gt;');
  });

  it.each([HTML, '*/*'])(
    'says that the code host is embedded where it is, to whoever accepts %s',
    async (accept) => {
      const embedded = 'its code host is embedded';
      expect(await (await get('/', accept, { EMBEDDED_HOST: 'true' })).text()).toContain(embedded);
      expect(await (await get('/', accept)).text()).not.toContain(embedded);
    },
  );

  it('allows its own script and style, and nothing else', async () => {
    const policy = (await get('/')).headers.get('Content-Security-Policy') ?? '';
    expect(policy).toMatch(/default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; /);
    expect(policy).not.toContain('unsafe');
  });

  it('shows no statistics where the service asks a key for them', async () => {
    const page = await (await get('/', HTML, { SERVICE_API_KEY: 'key' })).text();
    expect(page).toContain('Pushes are accepted');
    expect(page).not.toMatch(/so far|Recent pull requests/);
  });

  it('shows the newest pull requests, and links to nothing but web pages', async () => {
    const config = parseConfig({ ...bindings });
    if (config.kind === 'invalid') throw new Error('bad configuration');
    const ledger = openLedger(bindings, config.config, new HttpClient([]));
    vi.setSystemTime(Date.now() + 60 * 60_000);
    const createdAt = new Date(Date.now() - 3 * 60_000).toISOString();
    const entry = { host: 'gh', owner: 'octo', repo: 'hello', createdAt };
    await ledger.recordPullRequest({ ...entry, prUrl: 'javascript:alert(1)' });
    await ledger.recordPullRequest({ ...entry, prUrl: 'https://host.test/octo/hello/pull/7' });
    const page = await (await get('/')).text();
    expect(page).toContain('2 pull requests so far');
    // An early visitor at the host looks like the author.
    expect(page).toMatch(/<a href="\/v1\/gh\/octo\/hello">octo\/hello<\/a>\s+#7/);
    expect(page).not.toContain('host.test/octo');
    expect(page).toContain('3 minutes ago');
    expect(page).not.toContain('javascript:');
  });

  it('is served while the database and the guard are dead, and says what is not known', async () => {
    vi.spyOn(console, 'log').mockImplementation(() => {});
    vi.setSystemTime(Date.now() + 2 * 60 * 60_000);
    const dead = { DB: undefined, GUARD: undefined, LAST_KNOWN: undefined };
    const page = await get('/', HTML, dead);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('The service cannot tell whether pushes are accepted');
  });

  it('says that pushes are suspended, and that they are accepted again', async () => {
    const variables = { PANIC_PASSWORD: 'stop', IDENTITY_SECRET: 'x'.repeat(32) };
    for (const active of [true, false]) {
      const body = JSON.stringify({ password: 'stop', active });
      const request = new Request('https://veil.test/admin/panic', { method: 'POST', body });
      expect((await worker.fetch(request, { ...bindings, ...variables })).status).toBe(200);
      const page = await (await get('/')).text();
      expect(page).toContain(active ? 'Pushes are suspended at the moment' : 'Pushes are accepted');
    }
  });

  it('is a few lines for a terminal', async () => {
    const response = await get('/?repo=octo/hello', '*/*');
    expect(response.headers.get('Content-Type')).toMatch(/^text\/plain/);
    expect(await response.text()).toContain('  git clone https://veil.test/v1/gh/octo/hello\n');
    expect(response.headers.get('Vary')).toContain('Accept');
  });
});

describe("a remote's address", exhaustive, () => {
  it('shows its commands in a browser and in a terminal', async () => {
    const page = await get('/v1/gh/octo/hello.git');
    expect(page.headers.get('Content-Type')).toMatch(/^text\/html/);
    const text = await page.text();
    expect(text).toContain('Contribute to octo/hello without an account');
    expect(text).toMatch(/<a href="\/maintainers">What maintainers should know<\/a>/);
    expect(await (await get('/v1/gh/octo/hello', '*/*')).text()).toContain(
      'git clone https://veil.test/v1/gh/octo/hello\n',
    );
  });
});

const HOSTS = [
  {
    key: 'gh',
    kind: 'github',
    url: 'https://github.com',
    apiUrl: 'https://api.github.com',
    token: null,
  },
  {
    key: 'cb',
    kind: 'forgejo',
    url: 'http://host.test:3000',
    apiUrl: 'http://host.test:3000/api/v1',
    token: null,
  },
] as const;

it('names the first host that can be pushed to', async () => {
  const variables = { HOSTING_TOKEN: '', HOSTS: 'my=gitea:http://127.0.0.1:9999', HOSTING_TOKEN_MY: 't' };
  const text = await (await get('/', 'text/plain', variables)).text();
  expect(text).toContain('git push https://veil.test/v1/my/<owner>/<repo> HEAD:refs/heads/my-change');
  expect(await (await get('/', HTML, variables)).text()).not.toMatch(/gh\/(?!octo\/hello">)/);
  const typed = await get('/?repo=octo/hello', HTML, variables);
  expect(typed.headers.get('Location')).toBe('/v1/my/octo/hello');
});

describe('a repository as people write it', () => {
  it.each([
    ['octo/hello', 'gh/octo/hello'],
    [' octo/hello.git ', 'gh/octo/hello'],
    ['gh/octo/hello', 'gh/octo/hello'],
    ['cb/octo/hello', 'cb/octo/hello'],
    ['https://GitHub.com/octo/hello/', 'gh/octo/hello'],
    ['https://github.com/octo/hello/tree/main?tab=x#top', 'gh/octo/hello'],
    ['http://host.test:3000/octo/hello.git', 'cb/octo/hello'],
    ['git@github.com:octo/hello.git', 'gh/octo/hello'],
    ['ssh://git@github.com/octo/hello.git', 'gh/octo/hello'],
    ['https://Veil.test/v1/gh/octo/hello', 'gh/octo/hello'],
    ['https://veil.test/v1/cb/octo/hello/issues/7', 'cb/octo/hello'],
  ])('%j is %s', (text, expected) => expect(parseRepositoryText(text, HOSTS, 'veil.test')).toBe(expected));

  it.each([
    '',
    'octo',
    'octo/',
    '/hello',
    'octo/../hello',
    '../hello',
    'octo/he llo',
    'octo/hello/tree/main',
    'octo/.',
    'xy/octo/hello',
    'https://gitlab.com/octo/hello',
    'git@gitlab.com:octo/hello.git',
    'https://elsewhere.test/v1/gh/octo/hello',
    'https://veil.test/v1/xy/octo/hello',
    'http://host.test/octo/hello',
  ])('%j is none', (text) => expect(parseRepositoryText(text, HOSTS, 'veil.test')).toBeNull());
});
