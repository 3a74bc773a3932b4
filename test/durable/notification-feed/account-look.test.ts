/**
 * Tells the operator of the bot's account, when GitHub has flagged it, and when it has another
 * login.
 */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { AccountLook } from '../../../src/durable/notification-feed/account-look.ts';
import { guardOf } from '../../../src/objects.ts';
import { API, BOT, FakeActivity } from '../support/fake-activity.ts';

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;

let host: FakeActivity;
let isShown: boolean;
let login: string;
let cronTime = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
let count = 0;

beforeEach(() => {
  host = new FakeActivity();
  isShown = true;
  login = BOT;
  count += 1;
  vi.spyOn(console, 'log').mockImplementation(() => {});
  host.disturb = (path) => {
    if (path === '/user') return Response.json({ login, id: 7 });
    if (!path.startsWith('/users/')) return undefined;
    return isShown
      ? Response.json({ login, id: 7 })
      : Response.json({ message: 'Not Found' }, { status: 404 });
  };
});

const feed = () => bindings.NOTIFICATION_FEED.get(bindings.NOTIFICATION_FEED.idFromName(`look-${count}`));
const guard = () => guardOf(bindings);

async function run(minutes = 1): Promise<void> {
  // The account is named by its token: another one for each test.
  const variables = { HOSTING_API_URL: API, HOSTING_TOKEN: `secret-${count}`, LOG_FORMAT: 'text' };
  await runInDurableObject(feed(), (instance) => {
    Object.assign(instance, { env: { ...bindings, ...variables } });
  });
  cronTime += minutes * MINUTE_MS;
  await feed().run('gh', cronTime);
}

const asked = () =>
  host.requests
    .splice(0)
    .filter(({ path }) => path.startsWith('/user'))
    .map(({ path, headers }) => [path, headers.has('authorization')]);

const problems = async () => Object.values((await guard().status()).accountProblems).flat();

describe('an account', () => {
  it('is looked at once an hour, and its profile without the token', async () => {
    await run();
    expect(asked()).toEqual([
      ['/user', true],
      [`/users/${BOT}`, false],
    ]);
    await run(59);
    expect(asked()).toEqual([]);
    await run(2);
    expect(asked()).toHaveLength(2);
    expect(await problems()).toEqual([]);
  });

  it('that the host does not show, and a minute later neither, is hidden until it shows it', async () => {
    isShown = false;
    await run();
    expect(await problems()).toEqual([]);
    await run();
    expect(await problems()).toEqual(['hidden']);
    await run(61);
    expect(await problems()).toEqual(['hidden']);
    isShown = true;
    await run(61);
    expect(await problems()).toEqual([]);
  });

  it.each([403, 429, 500])('is not hidden because the host answers %i to everybody', async (status) => {
    const { disturb } = host;
    host.disturb = (path) =>
      path.startsWith('/users/') ? Response.json({ message: 'No' }, { status }) : disturb(path);
    await run();
    await run(61);
    expect(await problems()).toEqual([]);
    // What anybody may ask for counts elsewhere: the account goes on.
    expect(asked()).toHaveLength(4);
  });

  it('that has another login is asked for again before the next thread is read', async () => {
    const pull = host.pull(1, 'anon-0123456789ab');
    await run();
    login = 'veil-bot-2';
    pull.updatedAt += 1_000;
    await run(61);
    asked();
    pull.updatedAt += 1_000;
    await run();
    expect(asked()).toEqual([['/user', true]]);
  });

  it('that has another login is told with both, once, also after a restart', async () => {
    const stored = new Map<string, unknown>();
    const kv = {
      get: (key: string) => stored.get(key),
      put: (key: string, value: unknown) => void stored.set(key, value),
    } as unknown as SyncKvStorage;
    const renamed: string[][] = [];
    const news = { hidden: async () => {}, renamed: async (...names: string[]) => void renamed.push(names) };
    const shown = { account: async () => ({ id: 7, login }), isHidden: async () => false };
    await new AccountLook(kv).look(shown, news, 0);
    login = 'veil-bot-2';
    const later = new AccountLook(kv);
    for (const hour of [1, 2, 3]) await later.look(shown, news, hour * 61 * MINUTE_MS);
    expect(renamed).toEqual([[BOT, 'veil-bot-2']]);
  });
});
