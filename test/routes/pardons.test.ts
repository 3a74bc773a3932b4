/**
 * POST /admin/pardon and POST /v1/moderation/appeal: who may, what is refused, and what is said
 * then.
 */
import { applyD1Migrations, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import { tokenHash } from '../../src/durable/guard/tokens.ts';
import { pardonOf } from '../../src/notify/alert.ts';
import { identityHash } from '../../src/secret/keyed-hash.ts';
import { pardonAnswer } from '../../src/routes/moderation/admin.ts';
import { appealAnswer } from '../../src/routes/moderation/appeals.ts';
import { restartObjects } from '../support/all-objects.ts';
import { type Call, SECRET, post } from './support/json-caller.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const PASSWORD = 'correct horse battery staple';
const variables = { PANIC_PASSWORD: PASSWORD, NOTIFY_ADMIN_TOPIC: 'operator' };

let count = 0;
/** Each test has a pseudonym, and calls from an address, of its own. */
let token: string;
let hash: string;

const call = (path: string, payload: unknown, more: Partial<Call> = {}) =>
  post(path, { payload, variables, headers: { 'CF-Connecting-IP': `192.0.2.${count}` }, ...more });
const pardon = (payload: unknown, more: Partial<Call> = {}) => call('/admin/pardon', payload, more);
const appeal = (more: object = {}, options: Partial<Call> = {}) =>
  call(
    '/v1/moderation/appeal',
    { thread: 'octo/hello#7', user_token: token, text: 'Please', ...more },
    options,
  );

const guard = () => bindings.GUARD.get(bindings.GUARD.idFromName('guard'));

async function reportedBy(people: number): Promise<void> {
  const identity = bindings.IDENTITIES.get(bindings.IDENTITIES.idFromName(hash));
  for (let index = 0; index < people; index++) await identity.report(`r${index}`, `s${index}`);
}

/** The token of a button. */
async function buttonFor(pseudonym: string, text: string): Promise<string> {
  await runInDurableObject(guard(), (_, { storage }) =>
    storage.sql.exec(
      'INSERT INTO tokens (hash, action, expires_at) VALUES (?, ?, ?)',
      tokenHash(text),
      pardonOf(pseudonym),
      Date.now() + 60_000,
    ),
  );
  return text;
}

beforeAll(() => applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS));

beforeEach(async () => {
  count += 1;
  token = `TOKEN${count}`;
  hash = identityHash(SECRET, 'octo/hello#7', token);
  vi.spyOn(console, 'log').mockImplementation(() => {});
  await restartObjects();
  await runInDurableObject(guard(), (instance) => {
    Object.assign(instance, { env: { ...bindings, ...variables } });
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a pardon', () => {
  it('is given by the password', async () => {
    await reportedBy(6);
    const { status, body } = await pardon({ hash, password: PASSWORD });
    expect(status).toBe(200);
    expect(pardonAnswer.parse(body)).toMatchObject({ hash, state: 'registered', reports: 0, restoring: 0 });
    const log = body['log'] as { event: string; at: string }[];
    expect(log.map(({ event }) => event)).toEqual(['flagged', 'blocked', 'pardoned']);
  });

  it('is given by the token of the button for this pseudonym, once', async () => {
    await reportedBy(3);
    const other = await buttonFor('00000000', `${hash}-a`);
    const button = await buttonFor(hash, `${hash}-b`);
    expect(await pardon({ hash, token: other })).toMatchObject({ status: 401 });
    expect(await pardon({ hash, token: button })).toMatchObject({ status: 200 });
    expect(await pardon({ hash, token: button })).toMatchObject({
      status: 401,
      body: { error: 'invalid credentials' },
    });
  });

  it('leaves the button good when it fails', async () => {
    await reportedBy(3);
    const button = await buttonFor(hash, `${hash}-c`);
    const IDENTITIES = {
      idFromName: () => null,
      get: () => ({ pardon: () => Promise.reject(new Error('gone')) }),
    };
    const broken = { variables: { ...variables, IDENTITIES: IDENTITIES as unknown as Env['IDENTITIES'] } };
    expect(await pardon({ hash, token: button }, broken)).toMatchObject({ status: 500 });
    expect(await pardon({ hash, token: button })).toMatchObject({ status: 200 });
  });

  it('is none for a pseudonym that nobody has reported', async () => {
    expect(await pardon({ hash, password: PASSWORD })).toMatchObject({
      status: 404,
      body: { error: 'nobody has reported this pseudonym' },
    });
  });

  it.each<[what: string, payload: object, status: number]>([
    ['without a credential', { hash: '1a2b3c4d' }, 401],
    ['with a wrong password', { hash: '1a2b3c4d', password: 'wrong' }, 401],
    ['with the token of another action', { hash: '1a2b3c4d', token: 'activate' }, 401],
    ['of no hash', { password: PASSWORD }, 400],
    ['of what is no hash', { password: PASSWORD, hash: '1A2B3C4D' }, 400],
  ])('%s is refused', async (_, payload, status) => {
    expect((await pardon(payload)).status).toBe(status);
  });

  it('counts among the ten requests to the operator of a minute', async () => {
    vi.setSystemTime(Date.now());
    for (let index = 0; index < 10; index++) await pardon({ hash, password: 'wrong' });
    const refused = await pardon({ hash, password: PASSWORD });
    expect(refused).toMatchObject({ status: 429, body: { error: 'rate limit exceeded' } });
    expect(refused.headers.get('Retry-After')).toBe('60');
  });
});

describe('an appeal', () => {
  it('is taken once a day, from whoever has the token', async () => {
    vi.setSystemTime(Date.now());
    await reportedBy(6);
    const { status, body } = await appeal();
    expect(status).toBe(200);
    expect(appealAnswer.parse(body)).toEqual({ hash, state: 'blocked', reports: 6 });
    const again = await appeal({ thread: 'Octo/Hello#7' });
    expect(again.status).toBe(429);
    expect(again.headers.get('Retry-After')).toBe('86400');
    expect(again.body).toMatchObject({
      error: 'only one appeal a day is allowed for a pseudonym, and yours was already delivered',
    });
  });

  it('is taken for a pseudonym on another code host, which the thread names', async () => {
    const withHost = { variables: { ...variables, HOSTS: 'my=gitea:https://tea.test' } };
    const thread = 'my/octo/hello#7';
    hash = identityHash(SECRET, thread, token);
    await reportedBy(3);
    const { status, body } = await appeal({ thread }, withHost);
    expect([status, body['hash']]).toEqual([200, hash]);
    hash = identityHash(SECRET, 'octo/hello#7', token);
    await reportedBy(3);
    expect((await appeal({ thread: 'gh/octo/hello#7' }, withHost)).body['hash']).toBe(hash);
    const unknown = 'thread must be on a code host of this service: such as gh/owner/repo#number';
    expect(await appeal({ thread }, {})).toMatchObject({ status: 400, body: { error: unknown } });
  });

  it.each<[what: string, more: object, message: unknown]>([
    ['without a text', { text: undefined }, 'text is required'],
    ['with a blank text', { text: ' \n' }, 'text is required'],
    ['with a long text', { text: 'x'.repeat(701) }, 'text must have at most 700 characters'],
    ['with a bell', { text: 'ding\u0007' }, 'text must not contain control characters'],
    ['with letters that run backwards', { text: 'a\u202eb' }, 'text must not contain control characters'],
    ['without a token', { user_token: undefined }, 'user_token is required'],
    ['with a number as token', { user_token: 5 }, 'invalid payload'],
    ['without a thread', { thread: undefined }, 'thread is required'],
    [
      'about no thread',
      { thread: 'octo/hello' },
      'thread must be owner/repo#number or host/owner/repo#number',
    ],
    ['about a strange thread', { thread: 'oc..to/hello#1' }, expect.stringContaining('invalid owner')],
  ])('%s is refused', async (_, more, message) => {
    expect(await appeal(more)).toMatchObject({ status: 400, body: { error: message } });
  });

  it('about nothing is refused, and wakes no pseudonym that has no reports', async () => {
    const nothing = { status: 409, body: { error: 'this pseudonym is neither flagged nor blocked' } };
    const asked = vi.fn();
    const IDENTITIES = { idFromName: asked } as unknown as Env['IDENTITIES'];
    expect(await appeal({}, { variables: { ...variables, IDENTITIES } })).toMatchObject(nothing);
    expect(asked).not.toHaveBeenCalled();
    await reportedBy(2);
    expect(await appeal()).toMatchObject(nothing);
  });

  it('has nobody to go to without an operator', async () => {
    const { status, body } = await appeal({}, { variables: {} });
    expect(status).toBe(503);
    expect(body['error']).toContain('the operator has not set NOTIFY_ADMIN_TOPIC');
  });

  it('is the last one of its address after thirty within an hour', exhaustive, async () => {
    vi.setSystemTime(Date.now());
    for (let index = 0; index < 30; index++) await appeal();
    const refused = await appeal();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toBe('3600');
    expect(refused.body['error']).toContain('too many reports and appeals');
  });
});
