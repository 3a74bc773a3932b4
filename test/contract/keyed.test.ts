/**
 * A service with SERVICE_API_KEY, and without everything that has a default (contract, 1, 4.8 to
 * 4.15, 5). Nothing is pushed to it, as its notifications would go to the public instance.
 */
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { useCodeHost } from './support/code-host.ts';
import { type Answer, expectError, send } from './support/http.ts';
import { useService } from './support/service.ts';

const KEY = 'the-key-of-the-service';
const COMMIT_HASH = '0123456789abcdef0123456789abcdef01234567';
const KEYED = ['/api/stats', '/api/recent-prs', '/api/pr-status/0123456789ab', '/metrics'];

const host = useCodeHost();
const service = useService(() => {
  const { HOSTING_URL, HOSTING_API_URL, HOSTING_TOKEN } = host.variables as Record<string, string>;
  return {
    HOSTING_URL: HOSTING_URL as string,
    HOSTING_API_URL: HOSTING_API_URL as string,
    HOSTING_TOKEN: HOSTING_TOKEN as string,
    SERVICE_API_KEY: KEY,
    COMMIT_HASH,
    LOG_FORMAT: 'json',
    READ_TIMEOUT: '1s',
    WRITE_TIMEOUT: '1s',
  };
});

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  send(`${service.url}${path}`, { headers });

beforeAll(async () => {
  await host.createRepository('octo', 'hello');
});

describe('the service key', () => {
  it.each(KEYED)('is needed for %s', async (path) => {
    for (const headers of [{}, { 'X-Service-Key': 'wrong' }, { 'X-Service-Key': `${KEY}x` }]) {
      const answer = await get(path, headers);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expectError(answer, answer.status, 'API key required');
    }
    expect((await get(path, { 'X-Service-Key': KEY })).status).toBe(200);
  });

  it('is needed for nothing else', async () => {
    const git = '/v1/gh/octo/hello';
    const paths = [
      '/health',
      '/api/status',
      '/badges/deployed.svg',
      '/badges/anonymous-friendly.svg',
      '/badge/octo/hello',
      '/v1/moderation/report?hash=01234567',
      `${git}/info/refs?service=git-upload-pack`,
      `${git}/info/refs?service=git-receive-pack`,
    ];
    const answers = await Promise.all(paths.map((path) => get(path)));
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
    const issue = await send(`${service.url}${git}/issues/anonymous`, { json: { title: 'a', body: 'b' } });
    expect(issue.status).toBe(200);
    const { number } = issue.json as { number: number };
    const url = `${service.url}${git}/issues/${number}/comments/anonymous`;
    expect((await send(url, { json: { body: 'b' } })).status).toBe(200);
  });

  it('opens the metrics of the contract', async () => {
    const answer = await get('/metrics', { 'X-Service-Key': KEY });
    expect(Object.keys(answer.json as object).toSorted()).toEqual(['goroutines', 'memory', 'uptime']);
    const { memory } = answer.json as { memory: object };
    expect(Object.keys(memory).toSorted()).toEqual(['alloc', 'num_gc', 'sys', 'total_alloc']);
  });

  it('opens the address of a topic at the public instance, the default', async () => {
    const answer = await get('/api/pr-status/0123456789ab', { 'X-Service-Key': KEY });
    expect(answer.json).toEqual({
      hash: '0123456789ab',
      notify_topic: 'anon-pr-0123456789ab',
      subscribe_url: 'https://ntfy.sh/anon-pr-0123456789ab',
    });
  });
});

it('health names the commit that the operator has named', async () => {
  const { deployedCommit, verify } = (await get('/health')).json as {
    deployedCommit: string;
    verify: { github: string };
  };
  expect(deployedCommit).toBe(COMMIT_HASH);
  expect(verify.github).toContain(COMMIT_HASH);
});

function expectBadge(answer: Answer, color: string, ...texts: string[]): void {
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^image\/svg\+xml(;|$)/);
  expect(answer.text).toMatch(/^<svg\b/);
  const others = ['#4CAF50', '#9E9E9E', '#0ea5e9', '#e05d44'].filter((other) => other !== color);
  expect(answer.text).toContain(color);
  for (const other of others) expect(answer.text.toLowerCase()).not.toContain(other.toLowerCase());
  const shown = [...answer.text.matchAll(/<text\b[^>]*>([^<]*)<\/text>/g)].map(([, text = '']) => text);
  for (const text of texts) expect(shown).toContain(text);
}

const friendly = (query: string): Promise<Answer> => get(`/badges/anonymous-friendly.svg${query}`);

describe('the badge anonymous-friendly.svg', () => {
  it.each([
    '',
    '?repo=',
    '?repo=hello',
    '?repo=octo%2F',
    '?repo=%2Fhello',
    '?repo=octo%2Fhello%2Fmore',
    '?repo=octo%2F..',
    '?repo=oc+to%2Fhello',
    '?repo=oct%C3%B6%2Fhello',
    '?repo=%00',
    `?repo=octo%2F${'x'.repeat(300)}`,
  ])('is gray without a repository, or with what is none: %j', async (query) => {
    expectBadge(await friendly(query), '#9E9E9E');
  });

  it.each([
    ['no such repository', null],
    ['no such file', { 'README.md': 'x\n' }],
    ['another answer', { '.gitveil.yml': 'anonymous_friendly: false\n' }],
    ['nothing of it', { '.gitveil.yml': 'accept: false\n' }],
    ['a file that is none', { '.gitveil.yml': ': [\n' }],
    ['a file elsewhere', { 'docs/.gitveil.yml': 'anonymous_friendly: true\n' }],
  ])('is gray for a repository with %s', async (what, files) => {
    const name = what.replaceAll(' ', '-');
    if (files !== null) await host.createRepository('octo', name, { files });
    expectBadge(await friendly(`?repo=octo%2F${name}`), '#9E9E9E');
  });

  it('is green for a repository with the file', async () => {
    const files = { '.gitveil.yml': '# welcome\nanonymous_friendly: true\n' };
    await host.createRepository('octo', 'friendly', { files });
    for (const repo of ['octo%2Ffriendly', 'octo/friendly'])
      expectBadge(await friendly(`?repo=${repo}`), '#4CAF50');
  });
});

describe('the badge deployed.svg', () => {
  it.each([
    ['', '0123456'],
    ['?commit=fedcba9876543210', 'fedcba9'],
    ['?commit=abc', 'abc'],
  ])('shows seven characters of the commit, in blue: %j', async (query, shown) => {
    const answer = await get(`/badges/deployed.svg${query}`);
    expectBadge(answer, '#0ea5e9', 'deployed', shown);
    expect(answer.headers['cache-control']).toBe('public, max-age=3600');
  });
});

describe('the badge of a repository', () => {
  it.each(['octo/hello', 'a/b', `${'x'.repeat(39)}/${'y'.repeat(100)}`, 'Octo-Cat/under_score.js'])(
    'shows its pull requests, in green: %s',
    async (repository) => {
      const answer = await get(`/badge/${repository}`);
      expectBadge(answer, '#4CAF50', 'Anonymous PRs', '0');
      expect(answer.headers['cache-control']).toBe('public, max-age=300');
    },
  );

  it.each([
    `${'x'.repeat(101)}/hello`,
    `octo/${'y'.repeat(101)}`,
    'oc%20to/hello',
    'octo/hel~lo',
    'octo/h%C3%A9llo',
    'octo/a%2Fb',
    'octo/%2e%2e',
    'octo/..',
    '../hello',
    'octo/a..b',
  ])('is refused for %s', async (repository) => {
    const answer = await send(service.url, { path: `/badge/${repository}` });
    expectError(answer, 400, 'Invalid owner or repo');
  });
});

/** Sends the body in pieces with pauses, each shorter than READ_TIMEOUT, all together longer. */
function sendSlowly(path: string, type: string, pieces: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const body = pieces.join('');
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.once('close', () => resolve(received));
    socket.once('error', (error) => (received === '' ? reject(error) : resolve(received)));
    const head = ['POST', path, 'HTTP/1.1'].join(' ');
    const fields = [`Host: ${hostname}`, `Content-Type: ${type}`, `Content-Length: ${body.length}`];
    socket.write(`${[head, ...fields, 'Connection: close'].join('\r\n')}\r\n\r\n`);
    let next = 0;
    const timer = setInterval(() => {
      if (next === pieces.length || socket.destroyed) clearInterval(timer);
      else socket.write(pieces[next++] as string);
    }, 400);
  });
}

describe('READ_TIMEOUT', () => {
  const pieces = ['{"bo', 'dy"', ': "s', 'low', 'ly', '"', '}'];

  it('bounds the whole of a request, not each wait', async () => {
    const [JSON_TYPE, FORM_TYPE] = ['application/json', 'application/x-www-form-urlencoded'];
    const answers = await Promise.all([
      sendSlowly('/v1/gh/octo/hello/issues/1/comments/anonymous', JSON_TYPE, pieces),
      sendSlowly('/v1/gh/octo/hello/issues/anonymous', JSON_TYPE, pieces),
      sendSlowly('/admin/panic', JSON_TYPE, pieces),
      sendSlowly('/admin/rollback', JSON_TYPE, pieces),
      sendSlowly('/v1/moderation/report', FORM_TYPE, ['h', 'as', 'h=', '0123', '45', '6', '7']),
    ]);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });
});

const lines = (): string[] => service.stdout().split('\n').filter(Boolean);

describe('the log in JSON', () => {
  it('has the four fields of the contract first, in every line on standard output', () => {
    expect(lines().length).toBeGreaterThan(0);
    for (const line of lines()) {
      const entry = JSON.parse(line) as Record<string, unknown>;
      expect(Object.keys(entry).slice(0, 4), line).toEqual(['timestamp', 'level', 'message', 'privacy']);
      expect(entry, line).toMatchObject({
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        level: expect.stringMatching(/^[a-z]+$/) as string,
        message: expect.stringMatching(/\S/) as string,
        privacy: 'anonymized',
      });
    }
    expect(service.stderr()).toBe('');
  });

  it('has one warning about the database that is not there', () => {
    const warnings = lines().filter((line) => line.includes('DB_URL'));
    expect(warnings).toHaveLength(1);
    expect(JSON.parse(warnings[0] as string)).toMatchObject({ level: 'warn' });
  });

  it('tells nothing of who asks', async () => {
    const headers = {
      'User-Agent': 'Netscape-of-Ada/1.0',
      'X-Forwarded-For': '203.0.113.7',
      'CF-Connecting-IP': '203.0.113.8',
      Referer: 'https://home.example/ada',
    };
    await host.createRepository('octo', 'broken');
    const refusal = { status: 403, json: { message: 'No.' } };
    host.intercept = ({ method, path }) => {
      if (!path.includes('octo/broken')) return null;
      return method === 'POST' ? refusal : path.includes('info/refs') ? 'hang-up' : null;
    };
    const before = lines().length;
    await Promise.all([
      get('/nowhere', headers),
      get('/v1/gh/octo/broken/info/refs?service=git-receive-pack', headers),
      get('/v1/gh/octo/broken/info/refs?service=git-upload-pack', headers),
      send(`${service.url}/v1/gh/octo/broken/issues/anonymous`, { headers, json: { title: 'a', body: 'b' } }),
      send(`${service.url}/admin/panic`, { headers, json: { password: 'x', active: true } }),
    ]);
    host.intercept = () => null;
    // What the host did not answer, and what it refused.
    await expect.poll(() => lines().length).toBeGreaterThan(before + 1);
    const text = service.stdout() + service.stderr();
    for (const word of ['Netscape', '203.0.113', 'home.example', 'octo/broken'])
      expect(text).not.toContain(word);
  });
});
