/** /admin/held: who may see it, for how long, and what opens it. What it shows: test/e2e/held-review.test.ts. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import worker from '../../../src/worker.ts';

const PASSWORD = 'correct horse battery staple';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const bindings = {
  ...(env as unknown as Env),
  PANIC_PASSWORD: PASSWORD,
  HOSTING_API_URL: 'https://host.test/api',
  HOSTING_TOKEN: 'bot-token',
  SERVICE_URL: 'https://gitveil.test',
} satisfies Env;

/** Each test calls from an address of its own. */
let address = 0;

beforeEach(() => {
  address += 1;
  vi.setSystemTime(Date.now());
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async () =>
    Response.json({ id: 1, login: 'veil-bot' }),
  );
});

afterEach(() => {
  vi.useRealTimers();
});

interface Sent {
  readonly fields?: Readonly<Record<string, string>>;
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly variables?: Partial<Env>;
}

/** A POST if it has fields. */
async function send(path: string, { fields, cookie, headers, variables }: Sent = {}): Promise<Response> {
  const context = createExecutionContext();
  const request = new Request(`https://gitveil.test${path}`, {
    method: fields === undefined ? 'GET' : 'POST',
    headers: {
      'CF-Connecting-IP': `198.51.100.${address}`,
      ...(cookie !== undefined && { Cookie: cookie }),
      ...headers,
    },
    ...(fields !== undefined && { body: new URLSearchParams(fields) }),
    redirect: 'manual',
  });
  const response = await worker.fetch(request, { ...bindings, ...variables }, context);
  await waitOnExecutionContext(context);
  return response;
}

/** As the list has it. */
const LIST = 'for you';
const isOpen = async (cookie: string): Promise<boolean> =>
  (await (await send('/admin/held', { cookie })).text()).includes(LIST);

async function open(fields: Readonly<Record<string, string>> = { password: PASSWORD }, more: Sent = {}) {
  const response = await send('/admin/held', { fields, ...more });
  const header = response.headers.get('Set-Cookie') ?? '';
  return { status: response.status, header, cookie: header.split(';')[0] ?? '' };
}

async function wait(prHash: string): Promise<void> {
  const now = Date.now();
  const held = bindings.HELD_PUSHES.get(bindings.HELD_PUSHES.idFromName('held'));
  const isHeld = await held.hold(
    {
      prHash,
      push: prHash,
      host: 'gh',
      reason: 'review',
      same: prHash,
      client: prHash,
      isUpdate: false,
      isBegun: false,
      spool: { attempt: `attempt-${prHash}`, rowEnds: [1_000] },
      entryBytes: 500,
      commits: 1,
      heldAt: now,
      from: now,
      to: now,
      dueAt: null,
      until: now + 14 * 24 * HOUR_MS,
    },
    1_000_000,
    null,
  );
  expect(isHeld).toBe(true);
}

const stateOf = async (prHash: string) =>
  (await bindings.HELD_PUSHES.get(bindings.HELD_PUSHES.idFromName('held')).find(prHash))?.state;

beforeEach(() => wait('aaaaaaaaaaaa'));

describe('the page', () => {
  it('opens with the password, for ten minutes', async () => {
    const { status, header, cookie } = await open();
    expect(status).toBe(303);
    expect(header).toMatch(/; Max-Age=600; Path=\/admin\/held; HttpOnly; Secure; SameSite=Strict$/);
    expect(await isOpen(cookie)).toBe(true);
    vi.setSystemTime(Date.now() + 10 * MINUTE_MS - 1);
    expect(await isOpen(cookie)).toBe(true);
    vi.setSystemTime(Date.now() + 1);
    expect(await isOpen(cookie)).toBe(false);
  });

  it('has a cookie without Secure only where the service has no TLS', async () => {
    const variables = { SERVICE_URL: 'http://localhost:8080' };
    const { header } = await open({ password: PASSWORD }, { variables });
    expect(header).not.toContain('Secure');
  });

  it.each([
    [
      'a time that somebody has made longer',
      (cookie: string) => cookie.replace(/=(\d+)/, (_, at) => `=${Number(at) + 1}`),
    ],
    ['another hash', (cookie: string) => cookie.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
    ['no hash', (cookie: string) => cookie.replace(/-.*/, '')],
    ['nothing', () => ''],
  ])('does not open with a cookie that has %s', async (_, change) => {
    const { cookie } = await open();
    expect(await isOpen(change(cookie))).toBe(false);
  });

  it('does not open with a wrong password, a wrong token, or anything in the address', async () => {
    for (const fields of [{ password: 'guess' }, { token: '0'.repeat(32) }, { password: '' }]) {
      expect(await open(fields)).toMatchObject({ status: 401, header: '' });
    }
    for (const query of [`password=${encodeURIComponent(PASSWORD)}`, `token=${PASSWORD}`]) {
      const response = await send(`/admin/held?${query}`);
      expect(response.headers.get('Set-Cookie')).toBeNull();
      expect(await response.text()).not.toContain(LIST);
    }
  });

  it('opens with no password where the operator has none', async () => {
    const variables = { PANIC_PASSWORD: '' };
    for (const password of ['', PASSWORD]) {
      expect(await open({ password }, { variables })).toMatchObject({ status: 401 });
    }
    const door = await (await send('/admin/held', { variables })).text();
    expect(door).toContain('Use the button of an alert');
  });

  it('refuses the 11th attempt within a minute, and counts nothing once it is open', async () => {
    const { cookie } = await open();
    for (let time = 0; time < 15; time++) expect(await isOpen(cookie)).toBe(true);
    for (let attempt = 2; attempt <= 10; attempt++) {
      expect((await open({ password: 'guess' })).status).toBe(401);
    }
    expect((await open()).status).toBe(429);
    expect(await isOpen(cookie)).toBe(true);
    const panic = await send('/admin/panic', { fields: {}, headers: { 'Content-Type': 'application/json' } });
    expect(panic.status).toBe(429);
  });

  it('takes no form of another site', async () => {
    const { cookie } = await open();
    const fields = { decision: 'publish', 'push-0': 'aaaaaaaaaaaa attempt-aaaaaaaaaaaa' };
    for (const headers of [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { Origin: 'https://elsewhere.test' },
      { Origin: 'null' },
    ]) {
      expect((await send('/admin/held', { fields, cookie, headers })).status).toBe(403);
      expect((await open({ password: PASSWORD }, { headers })).status).toBe(403);
    }
    expect(await stateOf('aaaaaaaaaaaa')).toBe('held');
    const shared = await send('/admin/held', { cookie, headers: { Origin: 'https://elsewhere.test' } });
    expect(shared.headers.get('Access-Control-Allow-Origin')).toBeNull();
    expect(shared.headers.get('Cache-Control')).toBe('no-store');
  });

  it('decides nothing without a good cookie', async () => {
    const { cookie } = await open();
    const fields = { decision: 'discard', reason: 'spam', 'push-0': 'aaaaaaaaaaaa attempt-aaaaaaaaaaaa' };
    expect((await send('/admin/held', { fields })).status).toBe(401);
    vi.setSystemTime(Date.now() + 10 * MINUTE_MS);
    const late = await send('/admin/held', { fields, cookie });
    expect(late.status).toBe(401);
    expect(await late.text()).toContain('nothing was decided');
    expect((await send('/admin/held/aaaaaaaaaaaa', { cookie })).status).toBe(200);
    expect(await (await send('/admin/held/aaaaaaaaaaaa', { cookie })).text()).toContain('PANIC_PASSWORD');
    expect(await stateOf('aaaaaaaaaaaa')).toBe('held');
  });

  it('takes only decisions that there are', async () => {
    const { cookie } = await open();
    const push = { 'push-0': 'aaaaaaaaaaaa attempt-aaaaaaaaaaaa' };
    for (const fields of [
      push,
      { ...push, decision: 'discard' },
      { ...push, decision: 'discard', reason: 'toString' },
    ]) {
      expect((await send('/admin/held', { fields, cookie })).status).toBe(400);
    }
    const none = await send('/admin/held', { fields: { decision: 'publish' }, cookie });
    expect(await none.text()).toContain('Choose at least one push.');
    const odd = await send('/admin/held', { fields: { decision: 'publish', 'push-0': 'x' }, cookie });
    expect(odd.status).toBe(400);
    expect(await stateOf('aaaaaaaaaaaa')).toBe('held');
  });

  it('shows what cannot be read, so that it can be discarded, twenty at a time', async () => {
    for (let number = 10; number < 32; number++) await wait(`bbbbbbbbbb${number}`);
    const { cookie } = await open();
    const first = await (await send('/admin/held', { cookie })).text();
    expect(first.match(/type="checkbox"/g)).toHaveLength(20);
    expect(first).toContain('23 pushes wait for you');
    expect(first).toContain('Its key is not here yet.');
    const second = await (await send('/admin/held?page=2', { cookie })).text();
    expect(second.match(/type="checkbox"/g)).toHaveLength(3);
    const fields = { decision: 'discard', reason: 'other', 'push-3': 'bbbbbbbbbb10 attempt-bbbbbbbbbb10' };
    expect(await (await send('/admin/held', { fields, cookie })).text()).toContain('1 push: discarded.');
    expect(await stateOf('bbbbbbbbbb10')).toBe('discarded');
  });
});
