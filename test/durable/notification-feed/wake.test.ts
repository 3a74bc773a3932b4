/**
 * Threads that a webhook names: they are read from the host within seconds. Where the App is
 * installed, they are listed in case that none comes.
 */
import { applyD1Migrations, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { SETTLED_MS, WOKEN_PER_HOUR } from '../../../src/events/feed-cursor.ts';
import type { TouchedThread } from '../../../src/events/hook-delivery.ts';
import { forgetEverything } from '../../../src/isolate/recent.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { API, BOT, FakeActivity } from '../support/fake-activity.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const PUSH = {
  tip: 'a',
  dates: { committedAt: 1_800_000_000, commitHashes: new Uint8Array() },
  lease: null,
};
const repository = { owner: 'octo', name: 'hello' };

let host: FakeActivity;
let count = 0;
let cronTime: number;
let isInstalled = true;

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  forgetEverything();
  host = new FakeActivity();
  count += 1;
  // On a full hour, so that no test spends the calls of two.
  cronTime = Math.ceil(Date.now() / 3_600_000) * 3_600_000;
  vi.setSystemTime(cronTime);
  await configure();
  isInstalled = true;
  host.disturb = answerApp;
});

const KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const APP = { GITHUB_APP_ID: '17', GITHUB_APP_KEY: KEY.export({ type: 'pkcs1', format: 'pem' }).toString() };
const VARIABLES = { HOSTING_API_URL: API, LOG_FORMAT: 'text', HOSTING_TOKEN: 'secret', ...APP };
const GRANTED = { issues: 'write', pull_requests: 'write' };

/** Gives the feed its configuration. */
async function configure(more: Readonly<Record<string, string>> = {}): Promise<void> {
  await runInDurableObject(feed(), (instance) => {
    const self = { NOTIFICATION_FEED: { idFromName: () => null, get: feed } };
    Object.assign(instance, { env: { ...bindings, ...VARIABLES, ...more, ...self } });
  });
}

/** Answers what is asked about the App. */
function answerApp(path: string): Response | undefined {
  if (path === '/app') return Response.json({ slug: 'gitveil' });
  if (path.endsWith('/access_tokens')) {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    return Response.json({ token: 'ghs_1', expires_at }, { status: 201 });
  }
  if (path.includes('bot%5D')) return Response.json({ id: 99, login: 'gitveil[bot]' });
  if (!path.endsWith('/installation')) return undefined;
  if (!isInstalled) return Response.json({ message: 'Not Found' }, { status: 404 });
  return Response.json({ id: 5, suspended_at: null, permissions: GRANTED });
}

afterEach(() => {
  vi.useRealTimers();
});

const feed = () => bindings.NOTIFICATION_FEED.get(bindings.NOTIFICATION_FEED.idFromName(`woken-${count}`));
const objectOf = (prHash: string) => bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(prHash));

function wake(number: number, more: Partial<TouchedThread> = {}): Promise<void> {
  return feed().wake({ repository, number, isIssue: false, mentions: [], ...more });
}

/** Lets time pass until what was woken is examined. Answers which calls that made. */
async function examined(): Promise<string[]> {
  vi.setSystemTime(Date.now() + SETTLED_MS);
  host.requests.length = 0;
  await runDurableObjectAlarm(feed());
  const paths = host.requests.map(({ path }) => path.split('?')[0] ?? '');
  return paths.filter((path) => !/^\/(?:user|app)/.test(path));
}

/** The minute's run. */
async function run() {
  cronTime += 60_000;
  vi.setSystemTime(cronTime);
  host.requests.length = 0;
  return feed().run('gh', cronTime);
}

/** A pull request of the service, of which its topic was told. */
async function openPull() {
  const number = host.pulls.length + 1;
  const prHash = `${count.toString(16).padStart(4, 'e')}${number.toString(16).padStart(8, '0')}`;
  const pull = host.pull(number, `anon-${prHash}`);
  const place = { host: 'gh', owner: 'octo', repo: 'hello', number, url: host.urlOf(pull), fork: null };
  await objectOf(prHash).record({ prHash, ...place }, PUSH, Date.now());
  await runDurableObjectAlarm(objectOf(prHash));
  host.published.length = 0;
  return { prHash, number, pull };
}

const told = async (prHash: string): Promise<number> => {
  await runDurableObjectAlarm(objectOf(prHash));
  return host.published.filter(({ topic }) => topic === `anon-pr-${prHash}`).length;
};
const PULL = '/repos/octo/hello/pulls/1';
const READ = [PULL, '/repos/octo/hello/issues/1/comments', `${PULL}/reviews`];

describe('a pull request of the service', () => {
  it('is read within seconds, without the notifications, and told once however often it is named', async () => {
    const { prHash, number, pull } = await openPull();
    pull.comments.push({ id: 5, author: 'mona' });
    await wake(number);
    expect(await examined()).toEqual(READ);
    expect(await told(prHash)).toBe(1);
    // Replayed, late, or twice.
    await wake(number);
    await wake(number);
    await examined();
    expect(await told(prHash)).toBe(1);
    expect((await objectOf(prHash).view())?.events.map(({ kind }) => kind)).toEqual(['commented', 'opened']);
  });

  it('is read once for a flood of deliveries, and again ten seconds later', async () => {
    const { number } = await openPull();
    await Promise.all(Array.from({ length: 100 }, () => wake(number)));
    expect(await examined()).toEqual(READ);
    await Promise.all(Array.from({ length: 100 }, () => wake(number)));
    const next = await runInDurableObject(feed(), (_, { storage }) => storage.getAlarm());
    expect(next! - Date.now()).toBe(10_000);
  });

  it('is read by the next run if the host fails', async () => {
    vi.spyOn(console, 'log').mockImplementation(() => {});
    const { prHash, number, pull } = await openPull();
    pull.closedAt = '2026-01-01T00:00:00Z';
    await wake(number);
    host.disturb = () => Response.json({ message: 'secret' }, { status: 500 });
    await examined();
    host.disturb = answerApp;
    await run();
    expect(await told(prHash)).toBe(1);
  });
});

describe('what is not of the service', () => {
  it('costs one look if it is a pull request, and then nothing', async () => {
    Object.assign(host.pull(1, 'topic'), { author: 'mona' });
    await wake(1);
    expect((await examined())[0]).toBe(PULL);
    await wake(1);
    expect(await examined()).toEqual([]);
  });

  it('costs nothing if it is an issue that does not name the bot', async () => {
    Object.assign(host.pull(1, ''), { author: 'mona', type: 'Issue' });
    await run();
    await wake(1, { isIssue: true, mentions: ['mona'] });
    expect(await examined()).toEqual([]);
  });

  it('costs nothing if maintainers have not installed the App there, whatever it names', async () => {
    isInstalled = false;
    host.pull(1, 'topic').author = 'mona';
    await wake(1, { mentions: [BOT] });
    expect(await examined()).toEqual([]);
    expect(await run()).toEqual([]);
  });

  it.each([true, false])(
    'is read at once for what a maintainer says there: an issue is %s',
    async (isIssue) => {
      await run();
      const pull = host.pull(1, 'topic');
      const word = { author: 'octo', association: 'OWNER', text: `@${BOT} stop`, at: Date.now() };
      pull.comments.push({ id: 5, ...word });
      pull.author = 'mona';
      await wake(1, { isIssue, mentions: [BOT] });
      await examined();
      expect((await feed().said(repository, 7)).stoppedAt).not.toBeNull();
      // The run that follows hands it on, to discard what waits for the repository.
      expect(await run()).toMatchObject([repository]);
      expect(await run()).toEqual([]);
    },
  );
});

/** Lets the service see that the App is installed. */
async function seen(): Promise<void> {
  await wake(1);
  await examined();
}

describe('an installation', () => {
  it('is asked every ten minutes for what the App has opened there, in case that no webhook comes', async () => {
    await seen();
    const { prHash, number, pull } = await openPull();
    pull.closedAt = '2026-01-01T00:00:00Z';
    const listed = { id: 1, number, user: { login: 'gitveil[bot]' }, pull_request: {} };
    host.disturb = (path) =>
      path === '/repos/octo/hello/issues'
        ? Response.json([
            { ...listed, updated_at: new Date().toISOString() },
            { ...listed, user: { login: 'mona' } },
          ])
        : answerApp(path);
    const lists = () => host.requests.filter(({ path }) => path.includes('/hello/issues?')).length;
    await run();
    expect(lists()).toBe(0);
    cronTime = Date.now() + 9 * 60_000;
    await run();
    expect([lists(), await told(prHash)]).toEqual([1, 1]);
    await run();
    expect(lists()).toBe(0);
  });
});

it('what the App has opened is listed from the last answer on, however long the host fails', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  await seen();
  const seenAt = Date.now();
  for (let tries = 0; tries < 3; tries++) {
    host.disturb = (path) =>
      path.includes('/hello/issues') ? Response.json({ message: 'down' }, { status: 502 }) : answerApp(path);
    cronTime = Math.max(cronTime, Date.now()) + 50 * 60_000;
    await run();
    const list = host.requests.find(({ path }) => path.includes('/hello/issues?'))?.path.split('?')[1];
    expect(Date.parse(new URLSearchParams(list).get('since')!)).toBeLessThan(seenAt);
  }
});

it('spends no more calls than webhooks may cause, and the runs go on', exhaustive, async () => {
  const { prHash, number, pull } = await openPull();
  let calls = 0;
  for (let deliveries = 0; deliveries < WOKEN_PER_HOUR; deliveries++) {
    await wake(number);
    const made = await examined();
    calls += made.length;
    if (made.length === 0) break;
  }
  expect(calls).toBeLessThanOrEqual(WOKEN_PER_HOUR);
  expect(calls).toBeGreaterThan(WOKEN_PER_HOUR - 4);
  pull.comments.push({ id: 5, author: 'mona', at: Date.now() });
  cronTime = Date.now();
  await wake(number);
  await run();
  expect(await told(prHash)).toBe(1);
});
