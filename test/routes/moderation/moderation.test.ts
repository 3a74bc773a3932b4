/**
 * GET and POST /v1/moderation/report: pages for people, JSON for programs, and who may report how
 * often.
 */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { standingAnswer } from '../../../src/routes/moderation/moderation.ts';
import { listPseudonym } from '../../../src/stats/recorded-hashes.ts';
import worker from '../../../src/worker.ts';
import { timingOutOnly } from '../../support/timeouts.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const workerEnv = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const bindings = { ...workerEnv, IDENTITY_SECRET: 'x'.repeat(32), LOG_FORMAT: 'json' };
const URL_OF_REPORTS = 'https://veil.test/v1/moderation/report';
const JSON_TYPE = 'application/json';
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

let count = 0;
const newHash = (): string => (++count).toString(16).padStart(8, '0');
/** As if a comment had been posted under it. */
async function given(): Promise<string> {
  const hash = newHash();
  await listPseudonym(workerEnv.DB, hash);
  return hash;
}
const newAddress = (): string => `2001:db8:${(++count).toString(16)}::1`;

function request(
  init: RequestInit & { search?: string; address?: string },
  variables: Partial<Env> = {},
): Promise<Response> {
  const { search = '', address = newAddress(), ...rest } = init;
  const headers = new Headers(rest.headers);
  headers.set('CF-Connecting-IP', address);
  return Promise.resolve(
    worker.fetch(new Request(`${URL_OF_REPORTS}${search}`, { ...rest, headers }), {
      ...bindings,
      ...variables,
    }),
  );
}

const read = (hash: string, accept = JSON_TYPE): Promise<Response> =>
  request({ search: `?hash=${hash}`, headers: { Accept: accept } });

const report = (hash: string, options: { address?: string; headers?: Record<string, string> } = {}) =>
  request({
    method: 'POST',
    body: new URLSearchParams({ hash }),
    ...(options.address !== undefined && { address: options.address }),
    headers: { Accept: JSON_TYPE, ...options.headers },
  });

beforeAll(() => applyD1Migrations(workerEnv.DB, workerEnv.TEST_MIGRATIONS));

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a report that stalls', () => {
  it('is told so, and not that its hash is wrong', async () => {
    const body = new ReadableStream({ type: 'bytes', start: () => {} });
    const response = await request(
      { method: 'POST', body, headers: { Accept: JSON_TYPE } },
      { READ_TIMEOUT: '50ms' },
    );
    expect(response.status).toBe(408);
    expect(await response.json()).toMatchObject({
      error: 'The report did not arrive completely. Send it again.',
    });
  });
});

describe('the report page', () => {
  it('loads nothing, runs nothing, and is kept nowhere', async () => {
    const response = await read(newHash(), 'text/html');
    const policy = response.headers.get('Content-Security-Policy');
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(response.headers.get('Set-Cookie')).toBeNull();
    expect(await response.text()).not.toMatch(/<script|<img|<link rel="stylesheet"| style=| on\w+=/);
  });

  it('is a page for whoever asks for nothing, and JSON for who asks for it', async () => {
    const hash = newHash();
    expect((await read(hash, '*/*')).headers.get('Content-Type')).toMatch(/^text\/html/);
    expect(await (await read(hash)).json()).toEqual({ hash, reports: 0, state: 'registered' });
  });

  it.each([
    ['fails', () => Promise.reject(new Error('gone'))],
    ['is silent', () => new Promise(() => {})],
  ])('asks the pseudonym itself while the list of those with reports %s', async (_, first) => {
    vi.spyOn(console, 'log').mockImplementation(() => {});
    const hash = await given();
    await report(hash);
    timingOutOnly(3_000);
    const DB = { prepare: () => ({ bind: () => ({ first }) }) };
    const options = { search: `?hash=${hash}`, headers: { Accept: JSON_TYPE } };
    const answer = await request(options, { DB: DB as unknown as D1Database });
    expect(await answer.json()).toEqual({ hash, reports: 1, state: 'registered' });
  });

  it.each([
    '',
    '?hash=',
    '?hash=1234567',
    '?hash=ABCDEF12',
    '?hash=123456789',
    '?hash=%3Cscript%3Ealert(1)%3C/script%3E',
  ])('refuses the hash in %j and repeats none of it', async (search) => {
    const page = await request({ search, headers: { Accept: 'text/html' } });
    expect(page.status).toBe(400);
    const text = await page.text();
    expect(text).toContain('No such pseudonym');
    expect(text).not.toContain('alert(1)');
    const answer = await request({ search, headers: { Accept: JSON_TYPE } });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: 'invalid hash' });
  });
});

it.each([
  ['broken JSON', '{"hash":', JSON_TYPE],
  ['no object', '"12345678"', JSON_TYPE],
  ['another type', '{"hash":12345678}', JSON_TYPE],
  ['nothing', '', 'application/x-www-form-urlencoded'],
  ['bytes', new Uint8Array([0xff, 0x00, 0xfe]), 'application/octet-stream'],
])('a report with %s as its body is refused', async (_, body, type) => {
  const headers = { Accept: JSON_TYPE, 'Content-Type': type };
  const answer = await request({ method: 'POST', body, headers });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: 'invalid hash' });
});

describe.each([
  ['a pseudonym', given],
  ['a hash that nobody has', async () => newHash()],
])('a report of %s', (_of, aHash) => {
  it('flags the pseudonym as the third and blocks it as the sixth', async () => {
    const hash = await aHash();
    const answers = [];
    for (let reports = 1; reports <= 7; reports++)
      answers.push(standingAnswer.parse(await (await report(hash)).json()));
    const states = ['registered', 'registered', 'flagged', 'flagged', 'flagged', 'blocked', 'blocked'];
    expect(answers).toEqual(states.map((state, index) => ({ hash, reports: Math.min(6, index + 1), state })));
    expect(standingAnswer.parse(await (await read(hash)).json()).state).toBe('blocked');
    expect(await (await read(hash, 'text/html')).text()).toContain('It may no longer post');
  });

  it('counts once for an address, whatever the client claims, and again after 30 days', async () => {
    vi.setSystemTime('2026-11-21T12:00:00Z');
    const hash = await aHash();
    await report(hash, { address: '2001:db8:1:2::1' });
    const headers = {
      'X-Forwarded-For': '203.0.113.9',
      'X-Real-IP': '203.0.113.9',
      Forwarded: 'for=203.0.113.9',
    };
    const again = await report(hash, { address: '2001:db8:1:2:ffff::9', headers });
    expect(await again.json()).toEqual({ hash, reports: 1, state: 'registered' });
    vi.setSystemTime(Date.now() + 30 * DAY_MS + 1);
    const later = await report(hash, { address: '2001:db8:1:2::1' });
    expect(await later.json()).toEqual({ hash, reports: 1, state: 'registered' });
  });

  it('counts twice for a /48 of IPv6, whatever network of it sends more', exhaustive, async () => {
    vi.setSystemTime(Date.now());
    const hash = await aHash();
    const site = newAddress().replace('::1', '');
    const totals = [];
    for (let network = 1; network <= 30; network++) {
      const answer = await report(hash, { address: `${site}:${network.toString(16)}::1` });
      totals.push(standingAnswer.parse(await answer.json()).reports);
    }
    expect(totals).toEqual([1, ...Array<number>(29).fill(2)]);
    // The networks of a /48 share the limit of reports, too.
    expect((await report(await aHash(), { address: `${site}:ffff::1` })).status).toBe(429);
    expect(await (await report(hash)).json()).toMatchObject({ reports: 3 });
    expect(await (await read(hash)).json()).toMatchObject({ state: 'flagged' });
  });

  it('about a blocked pseudonym is answered with that', async () => {
    const hash = await aHash();
    for (let reports = 1; reports <= 6; reports++) await report(hash);
    const page = await (await report(hash, { headers: { Accept: 'text/html' } })).text();
    expect(page).toContain('Further reports change nothing');
  });

  it.each(['text/html', JSON_TYPE])(
    'is answered the same the second time (%s), so that it tells nobody who shares the address',
    async (accept) => {
      const hash = await aHash();
      for (let reports = 1; reports <= 6; reports++) {
        const options = { address: newAddress(), headers: { Accept: accept } };
        const [first, second] = [await report(hash, options), await report(hash, options)];
        const body = await first.text();
        if (accept === 'text/html') expect(body).toContain('Report received');
        expect(body).toContain(hash);
        expect([second.status, await second.text()]).toEqual([first.status, body]);
        expect(await (await read(hash)).json()).toMatchObject({ reports });
      }
    },
  );

  it.each([
    [200, 16 * 1024],
    [413, 16 * 1024 + 1],
  ])('is answered with %i if it has %i bytes', async (status, bytes) => {
    const headers = { Accept: JSON_TYPE, 'Content-Type': 'application/x-www-form-urlencoded' };
    const body = `hash=${await aHash()}&x=`.padEnd(bytes, 'x');
    const answer = await request({ method: 'POST', body, headers });
    expect(answer.status).toBe(status);
  });

  it.each<[string, boolean, Record<string, string>]>([
    ['from our own page', true, { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://veil.test' }],
    ['from our own page in an old browser', true, { Origin: 'https://veil.test' }],
    ['from our own page behind a proxy that ends TLS', true, { Origin: 'http://veil.test' }],
    ['from a program', true, {}],
    ['from another site', false, { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' }],
    ['from a neighbouring site', false, { 'Sec-Fetch-Site': 'same-site', Origin: 'https://other.veil.test' }],
    ['from another site in an old browser', false, { Origin: 'https://evil.test' }],
    ['from nowhere that has a name', false, { Origin: 'null' }],
  ])('%s is taken: %s', async (_, isTaken, headers) => {
    const hash = await aHash();
    const answer = await report(hash, { headers });
    expect(answer.status).toBe(isTaken ? 200 : 403);
    expect(await (await read(hash)).json()).toMatchObject({ reports: isTaken ? 1 : 0 });
  });

  it(
    'is the last one of its address after thirty within an hour, over all pseudonyms',
    exhaustive,
    async () => {
      vi.setSystemTime('2026-11-21T12:00:00Z');
      const address = newAddress();
      for (let sent = 0; sent < 30; sent++)
        expect((await report(await aHash(), { address })).status).toBe(200);
      const hash = await aHash();
      const refused = await report(hash, { address });
      expect(refused.status).toBe(429);
      expect(refused.headers.get('Retry-After')).toBe('3600');
      const page = await request({ search: `?hash=${hash}`, address, headers: { Accept: 'text/html' } });
      const html = await page.text();
      expect(html).toContain('Your network has sent too many. Try again later.');
      expect(html).not.toContain('<button');
      expect(await (await read(hash)).json()).toMatchObject({ reports: 0 });
      expect((await report(hash)).status).toBe(200);
      vi.setSystemTime(Date.now() + HOUR_MS);
      expect(await (await report(hash, { address })).json()).toMatchObject({ reports: 2 });
    },
  );

  it('that cannot be written down is a page too, and leaves no trace of the person in the log', async () => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    const broken = { ...bindings, CLIENT_WINDOWS: undefined };
    const headers = { Accept: 'text/html', 'CF-Connecting-IP': '203.0.113.77' };
    const init = { method: 'POST', body: new URLSearchParams({ hash: await aHash() }), headers };
    const answer = await worker.fetch(new Request(URL_OF_REPORTS, init), broken);
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain('The service has a fault');
    expect(lines).toEqual([expect.stringContaining('a report page failed')]);
    expect(lines.join()).not.toContain('203.0.113');
  });
});
