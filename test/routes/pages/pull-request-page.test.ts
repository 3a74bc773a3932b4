/** The page of a pull request, to whomever asks: what it says of the service, and what asking leaves behind. */
import { applyD1Migrations, listDurableObjectIds, runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { forgetEverything } from '../../../src/isolate/recent.ts';
import { shownPull } from '../../durable/support/shown-pull.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import worker from '../../../src/worker.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const HASH = '0123456789ab';
const AT = '2026-11-23T10:00:00Z';
const WITH_BOT = { HOSTING_TOKEN: 'bot-token', SERVICE_URL: 'https://gitveil.test' };
let isPrivate = false;
const URL = `https://gitveil.test/v1/pr/${HASH}`;

/** The code host's answers about the conversation; null to any other request. */
function saidOn(url: string): Response | null {
  if (url.endsWith('/issues/7')) {
    return Response.json({ number: 7, title: 'T', state: 'open', locked: false, body: 'B', created_at: AT });
  }
  if (url.endsWith('/repos/octo/hello')) {
    return Response.json({
      id: 1,
      name: 'hello',
      owner: { login: 'octo' },
      private: isPrivate,
      archived: false,
      size: 1,
    });
  }
  return /\/comments\?/.test(url) ? Response.json([]) : null;
}

async function ask(url = URL, variables: Partial<Env> = {}, headers: Record<string, string> = {}) {
  const request = new Request(url, { headers: { Accept: 'text/html', ...headers } });
  const response = await worker.fetch(request, { ...bindings, ...variables });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

beforeAll(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(
    async (url) => shownPull(url) ?? saidOn(url as string) ?? new Response(null),
  );
  const object = bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(HASH));
  const url = 'https://host.test/octo/hello/pull/7';
  const dates = { committedAt: 1, commitHashes: new Uint8Array() };
  const at = Date.now() + 3_600_000;
  await object.record(
    { prHash: HASH, host: 'gh', owner: 'octo', repo: 'hello', number: 7, url },
    { tip: 'a', dates, key: 'k'.repeat(32), lease: null },
    at,
  );
  await object.tellLater(['page', 'ledger'], at);
  await runDurableObjectAlarm(object);
});

it('wakes no object for a hash that no push has recorded', async () => {
  expect((await ask()).status).toBe(200);
  const before = await listDurableObjectIds(bindings.PULL_REQUESTS);
  for (const suffix of ['', '.atom']) {
    expect((await ask(`https://gitveil.test/v1/pr/ba9876543210${suffix}`)).status).toBe(404);
  }
  expect(await listDurableObjectIds(bindings.PULL_REQUESTS)).toHaveLength(before.length);
});

it('is there while the list of pages is out of reach, or the service asks for its key', async () => {
  await bindings.DB.exec('ALTER TABLE recorded_hashes RENAME TO out_of_reach');
  expect((await ask(URL, { SERVICE_API_KEY: 'key' })).status).toBe(200);
  await bindings.DB.exec('ALTER TABLE out_of_reach RENAME TO recorded_hashes');
});

it('asks for the pr-key where an update does, and never shows it', async () => {
  expect((await ask()).text).not.toContain('pr-key');
  const { text } = await ask(URL, { PR_UPDATE_POLICY: 'key' });
  expect(text).toContain(`-o pr-hash=${HASH} -o pr-key=&lt;key&gt; https://gitveil.test/v1/gh/octo/hello`);
  expect(text).not.toContain('kkkk');
});

it('may be kept by all caches only where it names the operator’s address', async () => {
  const elsewhere = URL.replace('gitveil', 'elsewhere');
  const given = await ask(elsewhere, WITH_BOT);
  expect(given.headers.get('Cache-Control')).toBe('public, max-age=60');
  expect(given.text).not.toContain('elsewhere.test');
  const { SERVICE_URL: _, ...bot } = WITH_BOT;
  expect((await ask(elsewhere, bot)).headers.get('Cache-Control')).toBe('private, max-age=60');
});

it('is kept by nobody while the conversation cannot be read', async () => {
  forgetEverything();
  const { headers, text } = await ask(URL);
  expect(headers.get('Cache-Control')).toBe('no-store');
  expect(text).toContain('This service has no bot account that could read it.');
});

it('shows nothing of a repository that only the bot may see', async () => {
  forgetEverything();
  isPrivate = true;
  const { text } = await ask(URL, WITH_BOT);
  expect(text).toContain('The code host does not show it to the public.');
  expect(text).not.toContain('<dt>Title');
  isPrivate = false;
  expect((await ask(URL, WITH_BOT)).text).toContain('<dt>Title');
});

it('has no patch of a repository that only the bot may see', async () => {
  forgetEverything();
  const asked: string[] = [];
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (url) => {
    asked.push(url as string);
    const name = { id: 1, name: 'hello', owner: { login: 'octo', id: 2 } };
    return Response.json({ ...name, private: true, archived: false, size: 1, has_pull_requests: true });
  });
  const { status, text } = await ask(`${URL}.patch`, { HOSTING_TOKEN: 'secret' });
  expect([status, text]).toEqual([404, 'No patch. The code host no longer shows this pull request.\n']);
  expect(asked.map((url) => url.replace(/^.*\/repos/, ''))).toEqual(['/octo/hello']);
});

it('leaves the patch at the host unread where only its head is asked for', async () => {
  let isLeft = false;
  const answered = { id: 1, name: 'hello', owner: { login: 'octo', id: 2 }, private: false, archived: false };
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (url) => {
    if (!(url as string).includes('/pulls/')) return Response.json({ ...answered, size: 1 });
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(Buffer.from('From 1')),
      cancel: () => void (isLeft = true),
    });
    return new Response(body);
  });
  const request = new Request(`${URL}.patch`, { method: 'HEAD' });
  const response = await worker.fetch(request, { ...bindings, HOSTING_TOKEN: 'secret' });
  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(isLeft).toBe(true);
});

it('has no patch for a client over its limits, and the calls are charged to it', async () => {
  const asked = vi
    .spyOn(HttpClient.prototype, 'fetch')
    .mockImplementation(async () => Response.json({ message: 'Not Found' }, { status: 404 }));
  const variables = { HOSTING_TOKEN: 'secret', CLIENT_IP_HEADER: 'X-Client' };
  const patch = (client: string, more: Partial<Env>) =>
    ask(`${URL}.patch`, { ...variables, ...more }, { 'X-Client': client });
  const few = { LIMIT_DISCOVERIES: '1/1m' };
  expect((await patch('192.0.2.21', few)).status).toBe(404);
  const second = await patch('192.0.2.21', few);
  expect([second.status, second.text]).toEqual([429, expect.stringMatching(/^Too many clones/)]);
  expect(second.headers.get('Retry-After')).toMatch(/^\d+$/);
  expect((await patch('192.0.2.22', few)).status).toBe(404);
  const cheap = { LIMIT_CALLS: '1/1h' };
  expect((await patch('192.0.2.23', cheap)).status).toBe(404);
  await patch('192.0.2.23', cheap);
  asked.mockClear();
  const charged = await patch('192.0.2.23', cheap);
  expect([charged.status, charged.text]).toEqual([429, expect.stringMatching(/requests to the code host/)]);
  expect(asked).not.toHaveBeenCalled();
});

it('can be asked for in upper case, runs no script but its own, and loads nothing', async () => {
  const { status, headers, text } = await ask(URL.replace(HASH, HASH.toUpperCase()));
  expect(status).toBe(200);
  expect(headers.get('Content-Security-Policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^ ]+'; script-src 'sha256-[^ ]+'; img-src data:;/,
  );
  expect(text).not.toMatch(/<script [^>]|<img|src=/);
  expect(text).toContain(`<link rel="alternate" type="application/atom+xml" href="/v1/pr/${HASH}.atom" />`);
});
