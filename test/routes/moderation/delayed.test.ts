/**
 * /admin/delayed: who may see it, for how long, and what opens it. What it shows:
 * test/e2e/delayed/delayed-review.test.ts.
 */
import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DelayedLease, NewDelayedPush } from '../../../src/durable/delayed-pushes/delayed-push.ts';
import { ActionTokens } from '../../../src/durable/guard/tokens.ts';
import type { Env } from '../../../src/env.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import worker from '../../../src/worker.ts';
import { withoutPauses } from '../../support/timeouts.ts';

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
  withoutPauses();
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
const LIST = 'first those that wait for you';
const isOpen = async (cookie: string): Promise<boolean> =>
  (await (await send('/admin/delayed', { cookie })).text()).includes(LIST);

async function open(fields: Readonly<Record<string, string>> = { password: PASSWORD }, more: Sent = {}) {
  const response = await send('/admin/delayed', { fields, ...more });
  const header = response.headers.get('Set-Cookie') ?? '';
  return { status: response.status, header, cookie: header.split(';')[0] ?? '' };
}

const object = () => bindings.DELAYED_PUSHES.get(bindings.DELAYED_PUSHES.idFromName('delayed'));

async function wait(name: string, more: Partial<NewDelayedPush> = {}): Promise<void> {
  const now = Date.now();
  const push = {
    name,
    push: name,
    host: 'gh',
    reason: 'review',
    client: name,
    spool: { attempt: `attempt-${name}`, rowEnds: [1_000] },
    entryBytes: 500,
    commits: 1,
    keptAt: now,
    from: now,
    to: now,
    dueAt: null,
    until: now + 14 * 24 * HOUR_MS,
    ...more,
  } satisfies NewDelayedPush;
  expect(await object().keep(push, [], 1_000_000)).toMatchObject({ kind: 'kept' });
}

const stateOf = async (name: string) => (await object().view(name))?.state;

beforeEach(() => wait('aaaaaaaaaaaa'));
afterEach(() =>
  runInDurableObject(object(), (_, { storage }) => void storage.sql.exec('DELETE FROM delayed_pushes')),
);

describe('the page', () => {
  it('opens with the password, for ten minutes', async () => {
    const { status, header, cookie } = await open();
    expect(status).toBe(303);
    expect(header).toMatch(/; Max-Age=600; Path=\/admin; HttpOnly; Secure; SameSite=Strict$/);
    expect(await isOpen(cookie)).toBe(true);
    vi.setSystemTime(Date.now() + 10 * MINUTE_MS - 1);
    expect(await isOpen(cookie)).toBe(true);
    vi.setSystemTime(Date.now() + 1);
    expect(await isOpen(cookie)).toBe(false);
  });

  it('stands in the log when somebody has opened it', async () => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    const told = () => lines.filter((line) => line.endsWith(' warn the pages of the operator were opened'));
    await open({ password: 'guess' });
    expect(told()).toEqual([]);
    await open();
    expect(told()).toHaveLength(1);
  });

  it('asks a host that does not answer for the name of the bot once, however many pushes it shows', async () => {
    const { cookie } = await open();
    const asked = vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('unreachable'));
    const list = async (): Promise<number> => {
      asked.mockClear();
      const variables = { HOSTING_TOKEN: 'unused-token' };
      expect(await (await send('/admin/delayed', { cookie, variables })).text()).toContain(LIST);
      return asked.mock.calls.length;
    };
    const forOne = await list();
    expect(forOne).toBeGreaterThan(0);
    for (const name of ['bbbbbbbbbbbb', 'cccccccccccc']) await wait(name);
    expect(await list()).toBe(forOne);
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
    ['another hash', (cookie: string) => cookie.replace(/\.(.)/, (_, at) => (at === 'A' ? '.B' : '.A'))],
    ['no hash', (cookie: string) => cookie.replace(/\..*/, '')],
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
      const response = await send(`/admin/delayed?${query}`);
      expect(response.headers.get('Set-Cookie')).toBeNull();
      expect(await response.text()).not.toContain(LIST);
    }
  });

  it('opens with no password where the operator has none', async () => {
    const variables = { PANIC_PASSWORD: '' };
    for (const password of ['', PASSWORD]) {
      expect(await open({ password }, { variables })).toMatchObject({ status: 401 });
    }
    const door = await (await send('/admin/delayed', { variables })).text();
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
      expect((await send('/admin/delayed', { fields, cookie, headers })).status).toBe(403);
      expect((await open({ password: PASSWORD }, { headers })).status).toBe(403);
    }
    expect(await stateOf('aaaaaaaaaaaa')).toBe('waiting');
    const shared = await send('/admin/delayed', { cookie, headers: { Origin: 'https://elsewhere.test' } });
    expect(shared.headers.get('Access-Control-Allow-Origin')).toBeNull();
    expect(shared.headers.get('Cache-Control')).toBe('no-store');
  });

  it('decides nothing without a good cookie', async () => {
    const { cookie } = await open();
    const fields = { decision: 'discard', reason: 'spam', 'push-0': 'aaaaaaaaaaaa attempt-aaaaaaaaaaaa' };
    expect((await send('/admin/delayed', { fields })).status).toBe(401);
    vi.setSystemTime(Date.now() + 10 * MINUTE_MS);
    const late = await send('/admin/delayed', { fields, cookie });
    expect(late.status).toBe(401);
    expect(await late.text()).toContain('nothing was done');
    expect((await send('/admin/delayed/aaaaaaaaaaaa', { cookie })).status).toBe(200);
    expect(await (await send('/admin/delayed/aaaaaaaaaaaa', { cookie })).text()).toContain('PANIC_PASSWORD');
    expect(await stateOf('aaaaaaaaaaaa')).toBe('waiting');
  });

  it('takes only decisions that there are', async () => {
    const { cookie } = await open();
    const push = { 'push-0': 'aaaaaaaaaaaa attempt-aaaaaaaaaaaa' };
    for (const fields of [
      push,
      { ...push, decision: 'discard' },
      { ...push, decision: 'discard', reason: 'toString' },
    ]) {
      expect((await send('/admin/delayed', { fields, cookie })).status).toBe(400);
    }
    const none = await send('/admin/delayed', { fields: { decision: 'publish' }, cookie });
    expect(await none.text()).toContain('Choose at least one push.');
    const odd = await send('/admin/delayed', { fields: { decision: 'publish', 'push-0': 'x' }, cookie });
    expect(odd.status).toBe(400);
    expect(await stateOf('aaaaaaaaaaaa')).toBe('waiting');
  });

  it('shows what cannot be read, so that it can be discarded, twenty at a time', async () => {
    for (let number = 10; number < 32; number++) await wait(`bbbbbbbbbb${number}`);
    const { cookie } = await open();
    const first = await (await send('/admin/delayed', { cookie })).text();
    expect(first.match(/type="checkbox"/g)).toHaveLength(20);
    expect(first).toContain('23 pushes wait: first those that wait for you');
    expect(first).toContain('Its key is not here yet.');
    const second = await (await send('/admin/delayed?page=2', { cookie })).text();
    expect(second.match(/type="checkbox"/g)).toHaveLength(3);
    const fields = { decision: 'discard', reason: 'other', 'push-3': 'bbbbbbbbbb10 attempt-bbbbbbbbbb10' };
    expect(await (await send('/admin/delayed', { fields, cookie })).text()).toContain('1 push: discarded.');
    expect(await stateOf('bbbbbbbbbb10')).toBe('discarded');
  });

  it('shows what waits for another reason, too, which can be discarded but not published', async () => {
    const later = Date.now() + HOUR_MS;
    await wait('cccccccccccc', { reason: 'delay', dueAt: later, from: later, to: later });
    const { cookie } = await open();
    const list = await (await send('/admin/delayed', { cookie })).text();
    expect(list).toContain('cccccccccccc');
    expect(list.indexOf('aaaaaaaaaaaa')).toBeLessThan(list.indexOf('cccccccccccc'));
    const one = await (await send('/admin/delayed/cccccccccccc', { cookie })).text();
    expect(one).toContain('its time, between');
    expect(one).not.toContain('value="publish"');
    const seen = { 'push-0': 'cccccccccccc attempt-cccccccccccc' };
    const published = await send('/admin/delayed', { fields: { ...seen, decision: 'publish' }, cookie });
    expect(await published.text()).toContain('1 push: nothing was done.');
    const fields = { ...seen, decision: 'discard', reason: 'illegal' };
    expect(await (await send('/admin/delayed', { fields, cookie })).text()).toContain('1 push: discarded.');
    expect(await object().view('cccccccccccc')).toMatchObject({ state: 'discarded' });
  });

  it('stops one that is half published, even if it cannot be removed', async () => {
    await wait('dddddddddddd', { reason: 'busy', dueAt: Date.now() });
    const lease = (await object().publishNow('dddddddddddd')) as DelayedLease;
    await object().begin(lease, { prHash: 'aaaabbbbcccc', committedAt: 1 });
    vi.setSystemTime(Date.now() + 60 * MINUTE_MS);
    const { cookie } = await open();
    const seen = { 'push-0': 'dddddddddddd attempt-dddddddddddd' };
    const fields = { ...seen, decision: 'discard', reason: 'illegal' };
    const page = await (await send('/admin/delayed', { fields, cookie })).text();
    expect(page).toContain('1 push: nothing was done.');
    expect(await object().view('dddddddddddd')).toMatchObject({ state: 'waiting', waitsForReview: true });
  });
});

it('a rollback counts what is half published and could not be removed, and its button works again', async () => {
  const guard = bindings.GUARD.get(bindings.GUARD.idFromName('guard'));
  const token = await runInDurableObject(guard, (_, { storage }) =>
    new ActionTokens(storage.sql).make(['rollback'], Date.now()).get('rollback'),
  );
  await wait('eeeeeeeeeeee', { reason: 'busy', dueAt: Date.now() });
  const lease = (await object().publishNow('eeeeeeeeeeee')) as DelayedLease;
  await object().begin(lease, { prHash: 'aaaabbbbcccc', committedAt: 1 });
  for (let time = 0; time < 2; time++) {
    const response = await worker.fetch(
      new Request('https://gitveil.test/admin/rollback', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': `198.51.100.${address}` },
        body: JSON.stringify({ token }),
      }),
      bindings,
      createExecutionContext(),
    );
    expect(await response.json()).toMatchObject({ closed: 0, failed: 1 });
  }
  expect(await object().view('eeeeeeeeeeee')).toMatchObject({ state: 'waiting', waitsForReview: true });
});
