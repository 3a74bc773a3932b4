/**
 * Limits for all clients together in one place: counted last, given back where it costs nothing,
 * and never skipped.
 */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClientWindows } from '../../../src/durable/clients/client-windows.ts';
import { HostAccount } from '../../../src/durable/host-account/host-account.ts';
import type { Env } from '../../../src/env.ts';
import { FakeThreads } from '../../durable/support/fake-threads.ts';
import { admitted } from '../../support/admission.ts';
import { nextNoon } from '../../support/next-noon.ts';
import { post, SECRET } from '../support/json-caller.ts';

const real = env as unknown as Env;

let address = 0;
let now = Date.now();
let account: string[];

beforeEach(() => {
  account = [];
  vi.setSystemTime((now = nextNoon()));
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

afterEach(() => vi.restoreAllMocks());

/** Notes what the account is asked for. */
const HOST_ACCOUNTS = {
  idFromName: (name: string) => real.HOST_ACCOUNTS.idFromName(name),
  get: (id: DurableObjectId) => {
    const stub = real.HOST_ACCOUNTS.get(id) as unknown as Record<string, (...values: unknown[]) => unknown>;
    return new Proxy(stub, {
      get:
        (_, method: string) =>
        (...values: unknown[]) => {
          if (method === 'reserve' || method === 'release') account.push(method);
          // Called on the stub itself: its methods have no `apply`.
          return stub[method]?.(...values);
        },
    });
  },
} as unknown as Env['HOST_ACCOUNTS'];
const variables = { IDENTITY_SECRET: SECRET, HOSTING_TOKEN: 'token', HOST_ACCOUNTS };

const repository = { owner: 'octo', name: 'hello' };
const write = (path: string, payload: object, more: Partial<Env> = {}) =>
  post(`/v1/gh/octo/hello${path}`, {
    payload,
    headers: { 'CF-Connecting-IP': `198.51.100.${(address += 1)}` },
    variables: { ...variables, ...more },
  });
const issue = (more: Partial<Env> = {}) => write('/issues/anonymous', { title: 'A', body: 'B' }, more);

/** Takes the slot of a push from an address of its own. */
const opening = (more: Partial<Env> = {}) =>
  admitted(`198.51.100.${(address += 1)}`, { ...variables, ...more }, async (admission) => {
    const slot = await admission.slot(`push ${address}`);
    await slot.take(repository, []).catch(async (error: unknown) => {
      await slot.release();
      throw error;
    });
  });

describe('a place that is full', () => {
  it('is told with the time to wait, and takes no share of the account', async () => {
    const host = new FakeThreads();
    const limits = { LIMIT_TARGET: '2/1h' };
    expect((await issue(limits)).status).toBe(200);
    expect(await opening(limits)).toBeNull();
    vi.setSystemTime((now += 17 * 60_000));
    account = [];
    const refused = await issue(limits);
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '2700']);
    expect(refused.body['error']).toMatch(/; try again in about 45 minutes$/);
    expect(account).toEqual(['reserve']);
    account = [];
    const push = await opening(limits);
    expect(push).toMatchObject({
      reason: 'too many pull requests for this repository',
      outcome: 'rate-limited',
      waitMs: 45 * 60_000,
    });
    expect(push?.lines[0]).toMatch(
      /^Too many pull requests and issues for octo\/hello: .* again in about 45 minutes\.$/,
    );
    expect(account).toEqual(['reserve']);
    expect(host.issues).toHaveLength(1);
    vi.setSystemTime((now += 43 * 60_000));
    expect((await issue(limits)).status).toBe(200);
  });

  it('is one by a keyed hash, whatever the spelling; the client’s own limit comes first', async () => {
    const host = new FakeThreads();
    const tried = vi.spyOn(ClientWindows.prototype, 'hit');
    const reserved = vi.spyOn(HostAccount.prototype, 'reserve');
    for (const thread of ['octo/hello/issues/7', 'OCTO/Hello/pulls/7', 'octo/hello/issues/8']) {
      await post(`/v1/gh/${thread}/comments/anonymous`, { payload: { body: 'Hi' }, variables });
    }
    expect(host.comments).toHaveLength(3);
    expect(tried.mock.calls.map(([, name]) => name)).toEqual(['comments', 'comments', 'comments']);
    const wants = reserved.mock.calls.map(([each]) => each);
    const [first, second, third] = wants.map(({ windows }) => windows[0]?.key);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(new Set(wants.map(({ repository: where }) => where)).size).toBe(1);
    expect(wants.map(({ windows }) => windows.map(({ kind }) => kind))).toEqual(
      Array.from({ length: 3 }, () => ['thread', 'comments', 'account']),
    );
  });
});

it('what was refused by the host is released in all windows', async () => {
  const host = new FakeThreads();
  host.disturb = ({ method }) =>
    method === 'POST' ? Response.json({ message: 'Not Found' }, { status: 404 }) : undefined;
  expect((await issue()).status).toBe(400);
  await expect.poll(() => account).toEqual(['reserve', 'release']);
});
