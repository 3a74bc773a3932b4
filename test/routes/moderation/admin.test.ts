/** POST /admin/panic and /admin/rollback, and GET /api/status. */
import {
  createExecutionContext,
  runDurableObjectAlarm,
  runInDurableObject,
  waitOnExecutionContext,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClientWindows } from '../../../src/durable/clients/client-windows.ts';
import { Guard } from '../../../src/durable/guard/guard.ts';
import type { Env } from '../../../src/env.ts';
import { forgetEverything } from '../../../src/isolate/recent.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import worker from '../../../src/worker.ts';
import { spoilWrites } from '../../durable/support/failed-write.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { nextNoon } from '../../support/next-noon.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const PASSWORD = 'correct horse battery staple';
const API = 'https://host.test/api';
const CLOSED_AT = '2026-11-21T15:00:00Z';
const bindings = {
  ...(env as unknown as Env),
  PANIC_PASSWORD: PASSWORD,
  HOSTING_API_URL: API,
  HOSTING_TOKEN: 'bot-token',
  NOTIFY_BASE_URL: 'https://ntfy.test',
  NOTIFY_ADMIN_TOPIC: 'operator',
} satisfies Env;

/** Each test calls from an address of its own. */
let address = 0;
/** Requests to the host to change a pull request. */
let patched: { url: string; body: unknown }[] = [];
let published: { topic: string; actions?: { body: string }[] }[] = [];
let answerTo: (url: string) => Response | Promise<Response>;

/** A pull request that the host has closed. */
function closed(url: string, merged = false): Response {
  const number = Number(url.split('/').at(-1));
  return Response.json({ number, state: 'closed', closed_at: CLOSED_AT, merged });
}

beforeEach(() => {
  address += 1;
  patched = [];
  published = [];
  answerTo = (url) => closed(url);
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (input, init) => {
    const url = input as string;
    const body: unknown = JSON.parse(init?.body as string);
    if (!url.startsWith(API)) {
      published.push(body as (typeof published)[number]);
      return new Response(null);
    }
    patched.push({ url: url.slice(API.length), body });
    return answerTo(url);
  });
});

afterEach(async () => {
  vi.useRealTimers();
  await guard().setPanic(false, { kind: 'password' });
  await runInDurableObject(guard(), (_, { storage }) => storage.sql.exec('DELETE FROM created').toArray());
});

function guard() {
  return bindings.GUARD.get(bindings.GUARD.idFromName('guard'));
}

async function send(
  path: string,
  body: unknown,
  variables: Partial<Env> = {},
  from = `198.51.100.${address}`,
): Promise<Response> {
  const context = createExecutionContext();
  const request = new Request(`https://gitveil.test${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': from },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const response = await worker.fetch(request, { ...bindings, ...variables }, context);
  await waitOnExecutionContext(context);
  return response;
}

async function post(path: string, body: unknown, variables: Partial<Env> = {}) {
  const response = await send(path, body, variables);
  return { status: response.status, body: await response.json() };
}

async function panicMode(variables: object = {}): Promise<unknown> {
  const request = new Request('https://gitveil.test/api/status');
  return (await worker.fetch(request, { ...bindings, ...variables })).json();
}

/** The tokens of a new alert: activate, rollback, deactivate. */
async function alertTokens(): Promise<string[]> {
  await runInDurableObject(guard(), async (instance) => {
    Object.assign(instance, { env: bindings });
    await instance.tell({ kind: 'rate-limit', client: `client-${address}`, attempts: 6, most: 5 });
  });
  // The platform may have begun with it already.
  await runDurableObjectAlarm(guard());
  await expect.poll(() => published).not.toEqual([]);
  const [alert] = published;
  return (alert?.actions ?? []).map(({ body }) => (JSON.parse(body) as { token: string }).token);
}

/** Pull requests that were opened lately, each with its object and a subscriber. */
async function opened(...numbers: number[]): Promise<string[]> {
  await runInDurableObject(guard(), (instance) => {
    Object.assign(instance, { env: bindings });
  });
  const urls = numbers.map((number) => `https://host.test/octo/hello/pull/${number}`);
  for (const [index, number] of numbers.entries()) {
    const record = {
      prHash: prHashOf(number),
      host: 'gh',
      owner: 'octo',
      repo: 'hello',
      number,
      url: urls[index] as string,
    };
    await guard().track({ kind: 'pull-request', ...record }, 'a', Date.now());
    const push = {
      tip: 'a'.repeat(40),
      dates: { committedAt: 1, commitHashes: new Uint8Array() },
      lease: null,
    };
    await pullRequestObject(number).record({ ...record, fork: null }, push, Date.now() + 3_600_000);
  }
  return urls;
}

const prHashOf = (number: number): string => number.toString(16).padStart(12, '0');

function pullRequestObject(number: number) {
  return bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(prHashOf(number)));
}

/** For the endpoint; the guard reaches the real ones. */
function delayedPushes(discardSince: () => Promise<unknown>): Env['DELAYED_PUSHES'] {
  return { idFromName: () => 'delayed', get: () => ({ discardSince }) } as unknown as Env['DELAYED_PUSHES'];
}

const INVALID_CREDENTIALS = { status: 401, body: { error: 'invalid credentials' } };

describe('POST /admin/panic', () => {
  it('does not use up a token when the password is right', async () => {
    const [activate] = await alertTokens();
    await post('/admin/panic', { password: PASSWORD, token: activate, active: true });
    expect((await post('/admin/panic', { password: 'wrong', token: activate, active: true })).status).toBe(
      200,
    );
  });
});

const answered = (active: boolean, stored: 'yes' | 'no') => ({
  status: 200,
  stored,
  body: { panic_mode: active, state: active ? 'activated' : 'deactivated' },
});

let failing: { mockRestore(): void } | null = null;

/** From now on, the guard cannot store the switch, and each attempt resets it. */
function fails(): void {
  const { value: store } = Object.getOwnPropertyDescriptor(Guard.prototype, 'setPanic') as {
    value: Guard['setPanic'];
  };
  failing = vi.spyOn(Guard.prototype, 'setPanic').mockImplementation(function (this: Guard, ...args) {
    spoilWrites((this as unknown as { ctx: DurableObjectState }).ctx.storage);
    return store.apply(this, args);
  });
}

function works(): void {
  failing?.mockRestore();
}

async function restart(): Promise<void> {
  await restartObjects();
  forgetEverything();
}

describe('POST /admin/panic, while the guard can store nothing', () => {
  const ONE_MACHINE = { ONE_MACHINE: 'true' };
  const isOn = async (variables: object = ONE_MACHINE) => (await panicMode(variables)) as object;

  async function press(payload: object, variables: Partial<Env> = ONE_MACHINE) {
    const response = await send('/admin/panic', payload, variables);
    const stored = response.headers.get('X-Panic-Stored');
    return { status: response.status, stored, body: await response.json() };
  }

  const set = (active: boolean, variables?: Partial<Env>) => press({ password: PASSWORD, active }, variables);
  const aMinutePasses = () =>
    worker.scheduled({ scheduledTime: Date.now() } as ScheduledController, {
      ...bindings,
      ...ONE_MACHINE,
      HOSTING_TOKEN: '',
    });

  it('works in memory on one machine, says so, and is stored within a minute of there being room', async () => {
    fails();
    expect(await set(true)).toEqual(answered(true, 'no'));
    expect(await isOn()).toEqual({ panic_mode: true });
    expect((await guard().admit('a', [], 'a')).panicMode).toBe(true);
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    await aMinutePasses();
    expect(lines).toContainEqual(
      expect.stringContaining('error the panic switch is not stored yet step=pushes'),
    );
    works();
    await aMinutePasses();
    await restart();
    expect(await isOn()).toEqual({ panic_mode: true });
    expect(await set(false)).toEqual(answered(false, 'yes'));
  });

  it('is what was stored last after a restart: neither on nor off is lost that was', async () => {
    fails();
    await set(true);
    await restart();
    expect(await isOn()).toEqual({ panic_mode: false });
    works();
    expect(await set(true)).toEqual(answered(true, 'yes'));
    fails();
    expect(await set(false)).toEqual(answered(false, 'no'));
    expect(await isOn()).toEqual({ panic_mode: false });
    expect(await set(true)).toEqual(answered(true, 'no'));
    expect(await isOn()).toEqual({ panic_mode: true });
    expect(await set(false)).toEqual(answered(false, 'no'));
    await restart();
    expect(await isOn()).toEqual({ panic_mode: true });
    works();
  });

  it('counts as it was set last, also if an earlier setting is stored later', async () => {
    fails();
    await set(true);
    works();
    expect(await set(false)).toEqual(answered(false, 'yes'));
    await aMinutePasses();
    await restart();
    expect(await isOn()).toEqual({ panic_mode: false });
  });

  it('is set by a token once', async () => {
    const [activate, , deactivate] = await alertTokens();
    fails();
    expect(await press({ token: activate, active: false })).toMatchObject({ status: 401 });
    expect(await press({ token: activate, active: true })).toEqual(answered(true, 'no'));
    expect(await press({ token: activate, active: true })).toMatchObject({ status: 401 });
    expect(await press({ token: deactivate, active: false })).toEqual(answered(false, 'no'));
    works();
    expect(await press({ token: activate, active: true })).toMatchObject({ status: 401 });
    expect(await isOn()).toEqual({ panic_mode: false });
  });

  it('is refused on Cloudflare, where no memory outlives a failed write, and uses up no token', async () => {
    const [activate] = await alertTokens();
    fails();
    for (const credential of [{ password: PASSWORD }, { token: activate }]) {
      expect(await press({ ...credential, active: true }, {})).toEqual({
        status: 503,
        stored: null,
        body: { error: 'the service cannot write at the moment; try again later' },
      });
    }
    expect(await isOn({})).toEqual({ panic_mode: false });
    works();
    expect(await press({ token: activate, active: true }, {})).toEqual(answered(true, 'yes'));
  });

  it('takes no more guesses than usual while no try can be counted on disk', async () => {
    const hit = vi.spyOn(ClientWindows.prototype, 'hit').mockImplementation(() => {
      throw new Error('database or disk is full: SQLITE_FULL');
    });
    expect((await press({ password: 'wrong', active: true }, {})).status).toBe(503);
    for (let guess = 0; guess < 9; guess++)
      expect((await press({ password: 'wrong', active: true })).status).toBe(401);
    expect((await set(true)).status).toBe(200);
    expect((await set(false)).status).toBe(429);
    hit.mockRestore();
  });
});

describe('POST /admin/rollback', () => {
  it('closes the pull requests of the last two hours, and tells their subscribers', async () => {
    const urls = await opened(101, 102);
    const { status, body } = await post('/admin/rollback', { password: PASSWORD });
    expect(status).toBe(200);
    expect(body).toMatchObject({ closed: 2, failed: 0, failed_urls: [] });
    // They are closed at the same time.
    expect((body as { closed_urls: string[] }).closed_urls.toSorted()).toEqual(urls);
    expect(patched.toSorted((a, b) => a.url.localeCompare(b.url))).toEqual([
      { url: '/repos/octo/hello/pulls/101', body: { state: 'closed' } },
      { url: '/repos/octo/hello/pulls/102', body: { state: 'closed' } },
    ]);
    const told = await runInDurableObject(pullRequestObject(101), (_, state) =>
      state.storage.sql.exec('SELECT key FROM told').toArray(),
    );
    expect(told).toEqual([{ key: `closed:101:${CLOSED_AT}` }]);
    expect(await post('/admin/rollback', { password: PASSWORD })).toEqual({
      status: 200,
      body: { closed: 0, failed: 0, closed_urls: [], failed_urls: [] },
    });
  });

  it('can be repeated: by the same button, until nothing has failed', async () => {
    const [first, second] = await opened(103, 104);
    const [, rollback] = await alertTokens();
    answerTo = (url) =>
      url.endsWith('/104') ? Response.json({ message: 'Not now' }, { status: 422 }) : closed(url);
    expect((await post('/admin/rollback', { token: rollback })).body).toEqual({
      closed: 1,
      failed: 1,
      closed_urls: [first],
      failed_urls: [second],
    });
    answerTo = (url) => closed(url);
    expect((await post('/admin/rollback', { token: rollback })).body).toMatchObject({
      closed: 1,
      closed_urls: [second],
    });
    expect(await post('/admin/rollback', { token: rollback })).toMatchObject(INVALID_CREDENTIALS);
  });

  it('counts delayed pushes that it cannot reach as one failure, and takes the button again', async () => {
    const [url] = await opened(106);
    const [, rollback] = await alertTokens();
    const DELAYED_PUSHES = delayedPushes(() => Promise.reject(new Error('it has restarted')));
    expect(await post('/admin/rollback', { token: rollback }, { DELAYED_PUSHES })).toEqual({
      status: 200,
      body: { closed: 1, failed: 1, closed_urls: [url], failed_urls: [] },
    });
    expect(await post('/admin/rollback', { token: rollback })).toMatchObject({
      status: 200,
      body: { closed: 0, failed: 0 },
    });
  });

  it('discards delayed pushes while the host still closes, because its caller may leave', async () => {
    await opened(107);
    const discarded = Promise.withResolvers<void>();
    const host = Promise.withResolvers<void>();
    answerTo = async (url) => {
      await host.promise;
      return closed(url);
    };
    const DELAYED_PUSHES = delayedPushes(async () => (discarded.resolve(), []));
    const rolledBack = post('/admin/rollback', { password: PASSWORD }, { DELAYED_PUSHES });
    await discarded.promise;
    host.resolve();
    expect((await rolledBack).body).toMatchObject({ closed: 1, failed: 0 });
  });

  it(
    'is answered also if the guard restarts meanwhile, even without what was undone',
    exhaustive,
    async () => {
      const [url] = await opened(108);
      const [, rollback] = await alertTokens();
      const [real, answers] = [guard(), [() => Promise.reject(new Error('it has restarted'))]];
      const GUARD = {
        idFromName: () => 'guard',
        get: () => ({
          beginRollback: (...begun: Parameters<typeof real.beginRollback>) => real.beginRollback(...begun),
          giveBack: (...given: Parameters<typeof real.giveBack>) => real.giveBack(...given),
          rollbackResult: (id: string) => answers.shift()?.() ?? real.rollbackResult(id),
        }),
      } as unknown as Env['GUARD'];
      expect(await post('/admin/rollback', { password: PASSWORD }, { GUARD })).toEqual({
        status: 200,
        body: { closed: 1, failed: 0, closed_urls: [url], failed_urls: [] },
      });
      answers.push(() => Promise.resolve(null) as never);
      expect(await post('/admin/rollback', { token: rollback }, { GUARD })).toEqual({
        status: 200,
        body: { closed: 0, failed: 1, closed_urls: [], failed_urls: [] },
      });
      expect((await post('/admin/rollback', { token: rollback })).status).toBe(200);
    },
  );

  it('tells nobody of one that was merged before', async () => {
    await opened(105);
    answerTo = (url) => closed(url, true);
    await post('/admin/rollback', { password: PASSWORD });
    const told = await runInDurableObject(pullRequestObject(105), (_, state) =>
      state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'told'").toArray(),
    );
    expect(told).toEqual([]);
  });
});

/** Activates panic from a network of one /48, and answers the status. */
async function panicFrom(password: string, network: number): Promise<number> {
  const from = `2001:db8:7:${network}::1`;
  return (await send('/admin/panic', { password, active: true }, {}, from)).status;
}

describe('the limits of an address', () => {
  it('say when the next request is allowed', async () => {
    vi.setSystemTime(nextNoon());
    for (let call = 0; call < 5; call++) await post('/admin/rollback', { password: 'wrong' });
    vi.setSystemTime(Date.now() + 19_500);
    const refused = await send('/admin/rollback', { password: PASSWORD });
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '60']);
  });

  it(
    'hold for all networks of a /48 together, too: forty wrong passwords and tokens a minute',
    exhaustive,
    async () => {
      vi.setSystemTime(Date.now() + 60_000);
      let networks = 0;
      const panic = async (credential: object, site = 5): Promise<number> => {
        const from = `2001:db8:${site}:${++networks}::1`;
        return (await send('/admin/panic', { ...credential, active: true }, {}, from)).status;
      };
      const times = async (count: number, credential: object): Promise<Set<number>> => {
        const statuses = new Set<number>();
        for (let call = 0; call < count; call++) statuses.add(await panic(credential));
        return statuses;
      };
      expect(await times(45, { password: PASSWORD })).toEqual(new Set([200]));
      expect(await times(20, { password: 'wrong' })).toEqual(new Set([401]));
      expect(await times(20, { token: '0'.repeat(32) })).toEqual(new Set([401]));
      expect(await times(5, { password: 'wrong' })).toEqual(new Set([429]));
      expect(await times(5, { password: PASSWORD })).toEqual(new Set([429]));
      const GUARD = { idFromName: () => expect.unreachable() } as unknown as Env['GUARD'];
      const guess = { token: '1'.repeat(32), active: true };
      expect((await send('/admin/panic', guess, { GUARD }, '2001:db8:5:ffff::1')).status).toBe(429);
      expect(await panic({ password: PASSWORD }, 6)).toBe(200);
      vi.setSystemTime(Date.now() + 60_000);
      expect(await panic({ password: PASSWORD })).toBe(200);
    },
  );

  it('hold for guesses that a /48 sends at once', exhaustive, async () => {
    vi.setSystemTime(Date.now());
    for (let network = 1; network < 40; network++) expect(await panicFrom('wrong', network)).toBe(401);
    const guesses = [...Array<string>(20).fill('wrong'), PASSWORD];
    const statuses = await Promise.all(guesses.map((password, index) => panicFrom(password, 40 + index)));
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.filter((status) => status !== 429)).toEqual([401]);
  });
});
