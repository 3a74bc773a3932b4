/** Who asks the guard what is suspended, how often, and what a comment is told. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import worker from '../../src/worker.ts';
import { FakeThreads } from '../durable/support/fake-threads.ts';
import { nextNoon } from '../support/next-noon.ts';
import { exhaustive } from '../support/exhaustive.ts';

const PASSWORD = 'correct horse battery staple';
const bindings = {
  ...(env as unknown as Env),
  IDENTITY_SECRET: 'a secret of more than thirty-two characters',
  HOSTING_TOKEN: 'token',
  PANIC_PASSWORD: PASSWORD,
};

let now = Date.now();
/** Methods of the guard that were called. */
let calls: string[] = [];

/** The real one, and what it is asked for. */
const GUARD = {
  idFromName: (name: string) => bindings.GUARD.idFromName(name),
  get: (id: DurableObjectId) =>
    new Proxy(bindings.GUARD.get(id), {
      get(stub, method: string) {
        calls.push(method);
        const methods = stub as unknown as Record<string, (...values: unknown[]) => unknown>;
        // Called on the stub itself: its methods have no `apply`.
        return (...values: unknown[]) => methods[method]?.(...values);
      },
    }),
} as unknown as Env['GUARD'];

beforeEach(() => {
  // What the isolate remembers of the last test is too old by now.
  vi.setSystemTime((now = nextNoon()));
  calls = [];
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

afterEach(async () => {
  await setPanic({ active: false, scope: 'all' });
  vi.useRealTimers();
});

async function ask(path: string, init: RequestInit = {}, variables: object = {}) {
  const headers = { 'CF-Connecting-IP': '198.51.100.1', ...(init.headers as object) };
  const request = new Request(`https://gitveil.test${path}`, { ...init, headers });
  const response = await worker.fetch(request, { ...bindings, GUARD, ...variables });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function postJson(path: string, payload: object, variables: object = {}) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await ask(path, { method: 'POST', headers, body: JSON.stringify(payload) }, variables);
  return { ...answer, body: JSON.parse(answer.text) as Record<string, unknown> };
}

const setPanic = (payload: object) => postJson('/admin/panic', { password: PASSWORD, ...payload });
const lost = () => Promise.reject(new Error('Network connection lost.'));
const comment = (variables: object = {}) =>
  postJson('/v1/gh/octo/hello/issues/7/comments/anonymous', { body: 'Hi' }, variables);
const panicMode = async () => JSON.parse((await ask('/api/status')).text) as unknown;

describe('the guard', () => {
  it('is asked once in two seconds by all readers, the metrics among them', exhaustive, async () => {
    for (let round = 0; round < 10; round++) {
      for (const path of ['/api/status', '/badges/deployed.svg', '/']) {
        expect((await ask(path, { headers: { Accept: 'text/html' } })).status).toBe(200);
      }
      for (const Accept of ['application/json', 'text/plain']) {
        const headers = { Accept, 'X-Service-Key': 'key' };
        expect((await ask('/metrics', { headers }, { SERVICE_API_KEY: 'key' })).status).toBe(200);
      }
    }
    expect(calls).toEqual(['status']);
    vi.setSystemTime((now += 2_000));
    await ask('/api/status');
    expect(calls).toEqual(['status', 'status']);
  });

  it('is set by the operator, which this isolate notices at once', async () => {
    expect(await panicMode()).toEqual({ panic_mode: false });
    expect((await setPanic({ active: true })).body).toEqual({ panic_mode: true, state: 'activated' });
    expect(await panicMode()).toEqual({ panic_mode: true });
  });
});

describe('the scope of the switch', () => {
  it('stops pushes without one, comments and issues as writes, and both as all', async () => {
    const host = new FakeThreads();
    await setPanic({ active: true });
    expect((await comment()).status).toBe(200);

    expect((await setPanic({ active: true, scope: 'writes' })).body).toEqual({
      panic_mode: true,
      state: 'activated',
    });
    const refused = await comment();
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({
      error: 'comments and issues are suspended; try again in 15 minutes',
    });
    expect(refused.headers.get('Retry-After')).toBe('900');
    const issue = await postJson('/v1/gh/octo/hello/issues/anonymous', { title: 'T', body: 'B' });
    expect(issue.status).toBe(503);

    await setPanic({ active: false });
    expect(await panicMode()).toEqual({ panic_mode: false });
    expect((await comment()).status).toBe(503);
    expect((await setPanic({ active: false, scope: 'writes' })).body).toEqual({
      panic_mode: false,
      state: 'deactivated',
    });
    expect((await comment()).status).toBe(200);

    await setPanic({ active: true, scope: 'all' });
    expect(await panicMode()).toEqual({ panic_mode: true });
    expect((await comment()).status).toBe(503);
    expect(host.comments).toHaveLength(2);
  });

  it('must be one of the three', async () => {
    const { status, body } = await setPanic({ active: true, scope: 'everything' });
    expect([status, body]).toMatchObject([400, { error: 'scope must be one of pushes, writes, all' }]);
  });
});

it('no comment is posted while nobody knows whether comments are suspended', async () => {
  const host = new FakeThreads();
  const dead = { idFromName: () => 'id', get: () => ({ status: lost }) };
  expect((await comment({ GUARD: dead })).status).toBe(503);
  expect(host.comments).toHaveLength(0);
});
