/**
 * The page of a pull request, to whomever asks: what it says of the service, and what asking leaves
 * behind.
 */
import { applyD1Migrations, listDurableObjectIds, runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { forgetEverything } from '../../../src/isolate/recent.ts';
import { shownPull } from '../../durable/support/shown-pull.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { prKeyOf } from '../../../src/secret/keyed-hash.ts';
import worker from '../../../src/worker.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const SECRET = 'a secret that is long enough for this';
const HASH = '0123456789ab';
const AT = '2026-11-23T10:00:00Z';
const WITH_BOT = { HOSTING_TOKEN: 'bot-token', SERVICE_URL: 'https://gitveil.test' };
let isPrivate = false;
let title = 'T';
/** Requests to the code host. */
let asked = 0;
/** Whether the host never shows the files that a policy stands in. */
let isSilentAboutFiles = false;
const URL = `https://gitveil.test/v1/pr/${HASH}`;

/** The code host's answers about the conversation; null to any other request. */
function saidOn(url: string): Response | Promise<never> | null {
  if (url.endsWith('/user')) return Response.json({ id: 2, login: 'bot' });
  if (url.endsWith('/issues/7')) {
    return Response.json({ number: 7, title, state: 'open', locked: false, body: 'B', created_at: AT });
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
  if (/\/git-upload-pack$|\/contents\//.test(url)) {
    // It shows no files, and so no policy.
    return isSilentAboutFiles ? new Promise(() => {}) : new Response(null, { status: 404 });
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
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (url) => {
    asked += 1;
    return shownPull(url) ?? saidOn(url as string) ?? new Response(null);
  });
  const object = bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(HASH));
  const url = 'https://host.test/octo/hello/pull/7';
  const dates = { committedAt: 1, commitHashes: new Uint8Array() };
  const at = Date.now() + 3_600_000;
  await object.record(
    { prHash: HASH, host: 'gh', owner: 'octo', repo: 'hello', number: 7, url, fork: null },
    { tip: 'a', dates, lease: null },
    at,
  );
  await object.tellLater(['statistics'], at);
  await runDurableObjectAlarm(object);
});

it('wakes no object for a hash that no push has recorded', async () => {
  expect((await ask()).status).toBe(200);
  const before = await listDurableObjectIds(bindings.PULL_REQUESTS);
  for (const suffix of ['', '.atom']) {
    const answer = await ask(`https://gitveil.test/v1/pr/ba9876543210${suffix}`);
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('No such pull request')]);
  }
  expect(await listDurableObjectIds(bindings.PULL_REQUESTS)).toHaveLength(before.length);
});

it('is there while the list of pages is out of reach, or the service asks for its key', async () => {
  await bindings.DB.exec('ALTER TABLE hashes_by_repository RENAME TO out_of_reach');
  expect((await ask(URL, { SERVICE_API_KEY: 'key' })).status).toBe(200);
  await bindings.DB.exec('ALTER TABLE out_of_reach RENAME TO hashes_by_repository');
});

it('asks for the pr-key for a withdrawal, for an update where that needs it, and never shows it', async () => {
  // An address may break behind its slashes.
  const remote = 'https://<wbr>gitveil.test/<wbr>v1/<wbr>gh/<wbr>octo/<wbr>hello';
  const withdrawal = `git push -o withdraw -o pr-hash=${HASH} -o pr-key=&lt;key&gt; ${remote}`;
  for (const [policy, key] of [
    ['hash', ''],
    ['key', ' -o pr-key=&lt;key&gt;'],
  ] as const) {
    const { text } = await ask(URL, { PR_UPDATE_POLICY: policy, IDENTITY_SECRET: SECRET });
    expect(text).toContain(withdrawal);
    expect(text).toContain(`git push -o pr-hash=${HASH}${key} ${remote}`);
    expect(text).not.toContain(prKeyOf(SECRET, HASH));
  }
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
  expect(text).toMatch(/<h1><bdi>octo\/hello #7</);
  isPrivate = false;
  expect((await ask(URL, WITH_BOT)).text).toContain('<h1><bdi>T</bdi></h1>');
});

it('leads on without a policy that does not come, and nobody keeps that', exhaustive, async () => {
  forgetEverything();
  isSilentAboutFiles = true;
  const { headers, text } = await ask(URL, { ...WITH_BOT, SERVICE_URL: 'https://silent.test' });
  isSilentAboutFiles = false;
  expect(headers.get('Cache-Control')).toBe('no-store');
  expect(text).toContain('<h1><bdi>T</bdi></h1>');
  expect(text).toContain('>Reply</a>');
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

it('is JSON for a program that asks for it, with what people wrote where that can be read', async () => {
  forgetEverything();
  const accept = { Accept: 'application/json' };
  const { status, headers, text } = await ask(URL, WITH_BOT, accept);
  expect([status, headers.get('Content-Type'), headers.get('Vary')]).toEqual([
    200,
    'application/json',
    expect.stringContaining('Accept'),
  ]);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+Z$/) as string;
  const url = 'https://host.test/octo/hello/pull/7';
  expect(JSON.parse(text)).toEqual({
    hash: HASH,
    state: 'open',
    url,
    title: 'T',
    events: [{ kind: 'opened', at: time, url }],
    comments: [{ author: null, at: AT, path: null, text: 'B' }],
  });
  forgetEverything();
  const without = await ask(URL, {}, accept);
  expect(JSON.parse(without.text)).toMatchObject({ hash: HASH, title: null });
  expect(without.text).not.toContain('comments');
  const unknown = await ask(URL.replace(HASH, 'fedcba987654'), {}, accept);
  expect([unknown.status, JSON.parse(unknown.text)]).toEqual([404, { error: 'no such pull request' }]);
});

it('is JSON in which a terminal finds nothing to obey', async () => {
  forgetEverything();
  title = 'T \u009b31m\u202e';
  const { text } = await ask(URL, WITH_BOT, { Accept: 'application/json' });
  title = 'T';
  expect(text).toContain('"title":"T \uFFFD31m[U+202E]"');
});

it('asks the code host nothing for a page of another site, which would spend the calls of its readers', async () => {
  forgetEverything();
  const accept = { Accept: 'application/json' };
  const loaded = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'empty', Origin: 'https://site.test' };
  asked = 0;
  const { status, headers, text } = await ask(URL, WITH_BOT, { ...accept, ...loaded });
  expect([status, headers.get('Cache-Control'), asked]).toEqual([200, 'no-store', 0]);
  expect(JSON.parse(text)).toMatchObject({ hash: HASH, state: 'open', title: null });
  // A browser of before 2023 sends its origin alone, and none where somebody follows a link.
  expect(JSON.parse((await ask(URL, WITH_BOT, { ...accept, Origin: loaded.Origin })).text).title).toBeNull();
  expect(asked).toBe(0);
  const named = { ...WITH_BOT, ALLOWED_ORIGINS: loaded.Origin };
  expect(JSON.parse((await ask(URL, named, { ...accept, ...loaded })).text)).toMatchObject({ title: 'T' });
  forgetEverything();
  const followed = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'document' };
  expect((await ask(URL, WITH_BOT, followed)).text).toContain('<h1><bdi>T</bdi></h1>');
});
