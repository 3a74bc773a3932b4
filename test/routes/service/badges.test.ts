/**
 * The badges: what they say, in which colour, for how long; what is refused; and badges while
 * something is dead.
 */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { type Http, HttpClient } from '../../../src/outgoing/http-client.ts';
import { guardOf } from '../../../src/objects.ts';
import { d1Ledger } from '../../../src/stats/ledger.ts';
import worker from '../../../src/worker.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const DEAD_DB = {
  prepare: () => {
    throw new Error('D1_ERROR: no answer');
  },
} as unknown as D1Database;

function get(path: string, variables: Partial<Env> = {}, from = '192.0.2.1'): Promise<Response> {
  const headers = { 'CF-Connecting-IP': from };
  return Promise.resolve(
    worker.fetch(new Request(`https://gitveil.test${path}`, { headers }), {
      ...bindings,
      HOSTING_API_URL: 'https://host.test/api',
      HOSTING_TOKEN: 'token',
      ...variables,
    }),
  );
}

/** Reads the text of a badge, and the colour of its message. */
async function read(response: Response): Promise<[text: string | undefined, color: string | undefined]> {
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('image/svg+xml');
  const svg = await response.text();
  const colors = [...svg.matchAll(/fill="(#[0-9A-Fa-f]{6})"/g)].map(([, color]) => color);
  return [/<title>(.*?)<\/title>/.exec(svg)?.[1], colors[0]];
}

async function record(number: number, repo: string): Promise<void> {
  await d1Ledger(bindings.DB).recordPullRequest({
    host: 'gh',
    owner: 'octo',
    repo,
    prUrl: `https://host.test/octo/${repo}/pull/${number}`,
    createdAt: '2026-11-01T10:00:00.000Z',
  });
}

/** The host, with one file in one repository. */
function host(repo: string, file: string | null): MockInstance<Http['fetch']> {
  return vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (pathname === `/api/repos/octo/${repo}`) {
      return Response.json({
        id: 1,
        name: repo,
        owner: { login: 'octo' },
        private: false,
        archived: false,
        size: 1,
      });
    }
    if (file === null || pathname !== `/api/repos/octo/${repo}/contents/.gitveil.yml`) {
      return Response.json({ message: 'Not Found' }, { status: 404 });
    }
    const content = Buffer.from(file).toString('base64');
    return Response.json({ type: 'file', encoding: 'base64', size: file.length, sha: 'a', content });
  });
}

/** The isolate's memory outlives a test: each begins when nothing is fresh any more. */
let now = Date.now();

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  now += 60 * 60_000;
  vi.useFakeTimers({ toFake: ['Date'], now });
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('GET /badge/:owner/:repo', () => {
  it('counts the pull requests of the repository, whatever the case and with or without .git', async () => {
    await record(1, 'hello');
    await record(2, 'Hello');
    await record(3, 'other');
    const response = await get('/badge/octo/hello');
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(await read(response)).toEqual(['Anonymous PRs: 2', '#4CAF50']);
    expect(await read(await get('/badge/OCTO/Hello.git'))).toEqual(['Anonymous PRs: 2', '#4CAF50']);
    expect(await read(await get('/badge/octo/none'))).toEqual(['Anonymous PRs: 0', '#4CAF50']);
  });

  it('is asked for once in five minutes', async () => {
    await record(4, 'hello');
    expect((await read(await get('/badge/octo/hello')))[0]).toBe('Anonymous PRs: 3');
    await record(5, 'hello');
    vi.setSystemTime(now + 5 * 60_000 - 1);
    expect((await read(await get('/badge/octo/hello')))[0]).toBe('Anonymous PRs: 3');
    vi.setSystemTime(now + 5 * 60_000);
    expect((await read(await get('/badge/octo/hello')))[0]).toBe('Anonymous PRs: 4');
  });

  it('shows the last known number while the database is dead, and says so when there is none', async () => {
    expect(await read(await get('/badge/octo/hello', { DB: DEAD_DB }))).toEqual([
      'Anonymous PRs: 4',
      '#4CAF50',
    ]);
    const response = await get('/badge/octo/never', { DB: DEAD_DB });
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await read(response)).toEqual(['Anonymous PRs: unknown', '#9E9E9E']);
  });

  it.each([
    '/badge/octo/a..b',
    '/badge/octo/a%2Fb',
    '/badge/a%2F..%2Fb/hello',
    `/badge/octo/${'a'.repeat(101)}`,
    '/badge/octo/%3Csvg%3E',
    '/badge/octo/h%00',
    '/badge/octo/.git',
    '/badge/oct%C3%B6/hello',
  ])('refuses %s', async (path) => {
    const response = await get(path);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'Invalid owner or repo' });
  });
});

describe('GET /badges/deployed.svg', () => {
  it('is red while pushes are suspended', async () => {
    await guardOf(bindings).setPanic(true, { kind: 'password' });
    vi.setSystemTime((now += 2_000));
    expect(await read(await get('/badges/deployed.svg'))).toEqual(['deployed: suspended', '#e05d44']);
    await guardOf(bindings).setPanic(false, { kind: 'password' });
    vi.setSystemTime((now += 2_000));
    expect((await read(await get('/badges/deployed.svg')))[1]).toBe('#0ea5e9');
  });
});

describe('GET /badges/anonymous-friendly.svg', () => {
  it.each([
    ['with the file', 'friendly', 'anonymous_friendly: true\n', 'verified', '#4CAF50'],
    ['with a file that says no', 'unfriendly', 'anonymous_friendly: false\n', 'not verified', '#9E9E9E'],
    ['with a file that cannot be read', 'broken', 'anonymous_friendly: [\n', 'not verified', '#9E9E9E'],
    ['without the file', 'plain', null, 'not verified', '#9E9E9E'],
  ])('%s', async (_, repo, file, message, color) => {
    host(repo, file);
    const response = await get(`/badges/anonymous-friendly.svg?repo=octo%2F${repo}`);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(await read(response)).toEqual([`anonymous-friendly: ${message}`, color]);
  });
});

const badge = (repo: string, from = '192.0.2.1') =>
  get(`/badges/anonymous-friendly.svg?repo=octo/${repo}`, {}, from);

/** How GitHub answers Git about what it does not show. */
function noRepositories(): Set<string> {
  const paths = new Set<string>();
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (input) => {
    paths.add(new URL(input instanceof Request ? input.url : input).pathname);
    return new Response(null, { status: 401 });
  });
  return paths;
}

/** How often the host may be asked is limited, and comments and pushes need that, too. */
describe('badges of more and more repositories', () => {
  it('are as many for the address of an image proxy as for others, and none that is known turns gray', async () => {
    host('welcoming', 'anonymous_friendly: true\n');
    await badge('welcoming');
    vi.setSystemTime((now += 10 * 60_000));
    const paths = noRepositories();
    for (let made = 0; made < 70; made++) await badge(`made-up-${made}`);
    expect(paths.size).toBe(54);
    const refused = await badge('made-up-99');
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(await read(refused)).toEqual(['anonymous-friendly: not verified', '#9E9E9E']);
    const known = await badge('welcoming');
    expect(known.headers.get('cache-control')).toBe('public, max-age=300');
    expect((await read(known))[0]).toBe('anonymous-friendly: verified');
    // A part is kept for whoever comes next.
    await badge('of-another', '192.0.2.2');
    expect([...paths].some((path) => path.includes('/octo/of-another'))).toBe(true);
    vi.setSystemTime((now += 60_000));
    await badge('made-up-99');
    expect([...paths].some((path) => path.includes('/octo/made-up-99'))).toBe(true);
  });

  it('show what is known at once while the host is silent', async () => {
    host('quick', 'anonymous_friendly: true\n');
    await badge('quick');
    vi.setSystemTime((now += 10 * 60_000));
    vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(() => new Promise(() => {}));
    // No patience ends.
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout'], now });
    const shown = badge('quick').then(read);
    expect(await shown).toEqual(['anonymous-friendly: verified', '#4CAF50']);
  });
});

it('an unknown badge is answered with JSON', async () => {
  const response = await get('/badges/other.svg');
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({
    error: 'unknown badge: there are anonymous-friendly.svg, deployed.svg and report.svg',
  });
});
