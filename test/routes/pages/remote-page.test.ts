/**
 * GET /v1/gh/<owner>/<repo> in a browser: what a crowd that reads it, or asks for made-up names,
 * costs the service.
 */
import { applyD1Migrations, runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { shownPull } from '../../durable/support/shown-pull.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import worker from '../../../src/worker.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };

/** How often the pages have listed pull requests in D1, and asked an object of one. */
const asked = { lists: 0, objects: 0 };
const DB = new Proxy(bindings.DB, {
  get(target, name) {
    const value: unknown = Reflect.get(target, name);
    if (name !== 'prepare') return typeof value === 'function' ? value.bind(target) : value;
    return (sql: string) => {
      if (sql.includes('FROM works_by_repository')) asked.lists += 1;
      return target.prepare(sql);
    };
  },
});
const PULL_REQUESTS = new Proxy(bindings.PULL_REQUESTS, {
  get(target, name) {
    const value: unknown = Reflect.get(target, name);
    if (name === 'get') asked.objects += 1;
    return typeof value === 'function' ? value.bind(target) : value;
  },
});

async function ask(path: string, client = '192.0.2.7'): Promise<Response> {
  const request = new Request(`https://veil.test${path}`, {
    headers: { Accept: 'text/html', 'CF-Connecting-IP': client },
  });
  return worker.fetch(request, { ...bindings, DB, PULL_REQUESTS, LIMIT_DISCOVERIES: '3/1m' });
}

async function read(path: string, client?: string): Promise<string> {
  const response = await ask(path, client);
  expect(response.status).toBe(path.includes('missing') ? 404 : 200);
  return response.text();
}

/** The host has every repository that it is asked for, but one. */
function publicRepository(url: unknown): Response | null {
  const [, owner, name] = /\/repos\/([^/]+)\/([^/?]+)$/.exec(String(url)) ?? [];
  if (owner === undefined || name === undefined || name === 'missing') return null;
  if (name === 'unreadable') return new Response(null, { status: 502 });
  return Response.json({
    id: 1,
    name,
    full_name: `${owner}/${name}`,
    owner: { login: owner },
    private: false,
    archived: false,
    size: 1,
    fork: false,
    default_branch: 'main',
  });
}

beforeAll(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(
    async (url) => shownPull(url) ?? publicRepository(url) ?? new Response(null, { status: 404 }),
  );
  const object = bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName('0123456789ab'));
  const url = 'https://host.test/octo/hello/pull/7';
  const at = Date.now() + 3_600_000;
  await object.record(
    { prHash: '0123456789ab', host: 'gh', owner: 'octo', repo: 'hello', number: 7, url, fork: null },
    { tip: 'a', dates: { committedAt: 1, commitHashes: new Uint8Array() }, lease: null },
    at,
  );
  await object.tellLater(['statistics'], at);
  await runDurableObjectAlarm(object);
});
beforeEach(() => void vi.setSystemTime(Date.now()));
afterEach(() => {
  vi.useRealTimers();
  Object.assign(asked, { lists: 0, objects: 0 });
});

it('asks for the pull requests of a repository once in some seconds, whatever its spelling', async () => {
  for (const path of [
    '/v1/gh/octo/hello',
    '/v1/gh/octo/hello',
    '/v1/gh/Octo/Hello',
    '/v1/gh/octo/hello.git',
  ]) {
    expect(await read(path)).toContain('/pull/7"');
  }
  expect(asked).toEqual({ lists: 1, objects: 1 });
  vi.setSystemTime(Date.now() + 6_000);
  expect(await read('/v1/gh/octo/hello')).toContain('/pull/7"');
  expect(asked).toEqual({ lists: 2, objects: 2 });
});

it('asks for made-up names as often as the client may clone, and shows the rest of the page all the same', async () => {
  const pages = [];
  for (let count = 0; count < 8; count++) {
    pages.push(await read(`/v1/gh/octo/made-up-${count}`, '192.0.2.8'));
  }
  expect(pages.filter((page) => page.includes('None yet.'))).toHaveLength(3);
  expect(pages.filter((page) => page.includes('cannot be read at the moment.'))).toHaveLength(5);
  expect(asked.lists).toBe(3);
  // Others who ask for the same are not told so.
  expect(await read('/v1/gh/octo/made-up-7')).toContain('None yet.');
});

it('is not kept while nobody knows what the repository accepts', async () => {
  const page = await ask('/v1/gh/octo/unreadable', '192.0.2.10');
  expect(await page.text()).toContain('What this repository accepts cannot be read at the moment.');
  expect(page.headers.get('Cache-Control')).toBe('no-store');
});

it('says that there is no such repository', async () => {
  const page = await read('/v1/gh/octo/missing', '192.0.2.9');
  expect(page).toContain('<h1>No such repository</h1>');
  expect(page).toContain('has no public repository octo/missing. Correct the name.');
  expect(page).not.toContain('git clone');
});

it('is kept by no cache as the text for a terminal, which a browser would be given instead of the page', async () => {
  const request = new Request('https://veil.test/v1/gh/mrdoob/three.js', { headers: { Accept: '*/*' } });
  const { headers } = await worker.fetch(request, bindings);
  expect(headers.get('Content-Type')).toMatch(/^text\/plain/);
  expect([headers.get('Cache-Control'), headers.get('Vary')]).toEqual(['no-store', 'Accept']);
});
