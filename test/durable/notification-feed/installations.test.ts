/**
 * Where the App is installed, as the feed follows it: removed, missing by mistake, renamed, and
 * another repository under the name.
 */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { SqlInstalled } from '../../../src/durable/notification-feed/installed.ts';
import { SqlStances } from '../../../src/durable/notification-feed/stances.ts';
import { SETTLED_MS } from '../../../src/events/feed-cursor.ts';
import { WHOLE } from '../../../src/events/hear.ts';
import { forgetEverything } from '../../../src/isolate/recent.ts';
import type { RepositoryName } from '../../../src/words/repository-name.ts';
import { fullName } from '../../../src/words/repository-name.ts';
import { API, FakeActivity } from '../support/fake-activity.ts';

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;
const KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const VARIABLES = {
  HOSTING_API_URL: API,
  LOG_FORMAT: 'text',
  HOSTING_TOKEN: 'secret',
  GITHUB_APP_ID: '17',
  GITHUB_APP_KEY: KEY.export({ type: 'pkcs1', format: 'pem' }).toString(),
};
const HELLO = { owner: 'octo', name: 'hello' };
const MOVED = { owner: 'octo', name: 'moved' };
const INSTALLATION = '/repos/octo/hello/installation';
/** The number of the repository in which the App was installed, and that of the installation. */
const ID = 7;
const NUMBER = 5;

let host: FakeActivity;
let count = 0;
/** The repositories of the host by name: their numbers, and whether the App is installed. */
let repositories: Record<string, { id: number; isInstalled: boolean }>;

beforeEach(async () => {
  forgetEverything();
  host = new FakeActivity();
  count += 1;
  vi.setSystemTime(Math.ceil(Date.now() / 3_600_000) * 3_600_000);
  repositories = { 'octo/hello': { id: ID, isInstalled: true } };
  host.disturb = answer;
  await configure();
});

afterEach(() => {
  vi.useRealTimers();
});

const feed = () =>
  bindings.NOTIFICATION_FEED.get(bindings.NOTIFICATION_FEED.idFromName(`installations-${count}`));

/** Gives the feed its configuration. */
async function configure(more: Readonly<Record<string, string>> = {}): Promise<void> {
  await runInDurableObject(feed(), (instance) => {
    const self = { NOTIFICATION_FEED: { idFromName: () => null, get: feed } };
    Object.assign(instance, { env: { ...bindings, ...VARIABLES, ...more, ...self } });
  });
}

function answer(path: string): Response | undefined {
  if (path === '/app') return Response.json({ slug: 'gitveil' });
  if (path.includes('bot%5D')) return Response.json({ id: 99, login: 'gitveil[bot]' });
  const [, name = '', installation] = /^\/repos\/([^/]+\/[^/]+)(\/installation)?$/.exec(path) ?? [];
  if (name === '') return undefined;
  const found = repositories[name];
  const isMissing = found === undefined || (installation !== undefined && !found.isInstalled);
  if (isMissing) return Response.json({ message: 'Not Found' }, { status: 404 });
  if (installation === undefined) return Response.json(repository(name, found.id));
  const permissions = { issues: 'write', pull_requests: 'write' };
  return Response.json({ id: NUMBER, suspended_at: null, permissions });
}

function repository(full_name: string, id: number) {
  const [login = '', name = ''] = full_name.split('/');
  return { id, name, full_name, owner: { login }, private: false, archived: false, size: 1, fork: false };
}

const named = (name: RepositoryName) => ({ ...name, id: repositories[fullName(name)]?.id ?? null });

/** Lets a webhook of the App come that names repositories, and the feed ask the host. */
async function hook(...names: RepositoryName[]): Promise<string[]> {
  await feed().wakeInstallations(names.map(named));
  vi.setSystemTime(Date.now() + SETTLED_MS);
  host.requests.length = 0;
  await runDurableObjectAlarm(feed());
  return host.requests.map(({ path }) => path).filter((path) => path.endsWith('/installation'));
}

const refusal = () => Response.json({ message: 'Repository access blocked' }, { status: 403 });

/** Lets the service see that the App is installed, or is not. */
const seen = (name: RepositoryName = HELLO) =>
  feed().noteInstalled(
    { key: 'gh', app: 17 },
    name,
    repositories[fullName(name)]?.isInstalled ? NUMBER : null,
  );

/** Lets the minute's run come, minutes later. */
async function runAfter(minutes: number) {
  vi.setSystemTime(Date.now() + minutes * MINUTE_MS);
  host.requests.length = 0;
  return feed().run('gh', Date.now());
}

async function remove(name: RepositoryName = HELLO) {
  repositories[fullName(name)]!.isInstalled = false;
  await hook(name);
  return runAfter(11);
}

const stoppedAt = async (id = ID) => (await feed().said(HELLO, id)).stoppedAt;

const TOKEN = { token: 'ghs_1', expires_at: '2027-01-01T00:00:00Z' };
/** Answers to who asks for a token. */
const made = () => Response.json(TOKEN, { status: 201 });
const failed = () => Response.json({ message: 'down' }, { status: 502 });
const lost = () => Response.json({ message: 'Not accessible' }, { status: 422 });

describe('an App that is missing', () => {
  it('stops the service once the host has said so twice, ten minutes apart', async () => {
    await seen();
    expect(await hook(HELLO)).toEqual([INSTALLATION]);
    repositories['octo/hello']!.isInstalled = false;
    expect(await hook(HELLO)).toEqual([INSTALLATION]);
    expect([await stoppedAt(), await runAfter(9)]).toEqual([null, []]);
    // What waits for the repository is discarded then.
    expect(await runAfter(1)).toMatchObject([HELLO]);
    expect(await stoppedAt()).not.toBeNull();
    expect(await runAfter(1)).toEqual([]);
  });

  it('by one false answer stops nothing, and nothing new is sent until the next', async () => {
    await seen();
    repositories['octo/hello']!.isInstalled = false;
    expect(await seen()).toBe('doubted');
    // However often somebody asks meanwhile.
    expect(await seen()).toBe('doubted');
    repositories['octo/hello']!.isInstalled = true;
    expect([await runAfter(11), await stoppedAt()]).toEqual([[], null]);
    expect(await seen()).toBeNull();
    // The next one is the first again.
    repositories['octo/hello']!.isInstalled = false;
    expect(await seen()).toBe('doubted');
    expect([await runAfter(9), await stoppedAt()]).toEqual([[], null]);
  });

  it('stops nothing if somebody welcomes the service after the removal', async () => {
    vi.spyOn(console, 'log').mockImplementation(() => {});
    await seen();
    repositories['octo/hello']!.isInstalled = false;
    await hook(HELLO);
    await runInDurableObject(feed(), (_, { storage }) => {
      const at = Date.now() + MINUTE_MS;
      const stances = new SqlStances(storage.sql);
      stances.setStance({ ...HELLO, id: ID }, WHOLE, { word: 'welcome', at, saidBy: 2, since: at });
    });
    // The host fails meanwhile, so the removal is confirmed late.
    host.disturb = () => Response.json({ message: 'down' }, { status: 502 });
    await runAfter(11);
    host.disturb = answer;
    expect([await runAfter(11), await stoppedAt()]).toEqual([[], null]);
    expect(await seen()).toBeNull();
  });

  it('costs one call while the host does not answer, however many repositories wait', async () => {
    vi.spyOn(console, 'log').mockImplementation(() => {});
    const names = Array.from({ length: 20 }, (_, at) => ({ owner: 'octo', name: `repo-${at}` }));
    for (const [at, name] of names.entries())
      repositories[fullName(name)] = { id: at + 100, isInstalled: true };
    for (const name of names) await seen(name);
    host.disturb = () => {
      throw new TypeError('no answer');
    };
    expect(await hook(...names)).toHaveLength(1);
  });

  it('stays doubted while the host fails', async () => {
    vi.spyOn(console, 'log').mockImplementation(() => {});
    await seen();
    repositories['octo/hello']!.isInstalled = false;
    await hook(HELLO);
    host.disturb = () => Response.json({ message: 'down' }, { status: 502 });
    expect([await runAfter(11), await stoppedAt()]).toEqual([[], null]);
    host.disturb = answer;
    expect(await runAfter(11)).toMatchObject([HELLO]);
  });

  it('is confirmed although the host does not say of ten others whether they are there', async () => {
    vi.spyOn(console, 'log').mockImplementation(() => {});
    const names = Array.from({ length: 10 }, (_, at) => ({ owner: 'octo', name: `blocked-${at}` }));
    for (const [at, name] of names.entries())
      repositories[fullName(name)] = { id: at + 100, isInstalled: true };
    repositories['octo/hello'] = { id: 500, isInstalled: true };
    for (const name of [...names, HELLO]) await seen(name);
    for (const name of [...names, HELLO]) repositories[fullName(name)]!.isInstalled = false;
    await hook(...names);
    await hook(HELLO);
    host.disturb = (path) => {
      if (path.endsWith('/issues')) throw new TypeError('no answer');
      return /blocked-\d+$/.test(path) ? refusal() : answer(path);
    };
    const stopped = [...(await runAfter(11)), ...(await runAfter(1)), ...(await runAfter(1))];
    expect(stopped).toMatchObject([HELLO]);
  });

  it('is not removed while the host gives a token for it, or does not say', async () => {
    vi.spyOn(console, 'log').mockImplementation(() => {});
    await seen();
    repositories['octo/hello']!.isInstalled = false;
    await hook(HELLO);
    const path = `/app/installations/${NUMBER}/access_tokens`;
    for (const asked of [made, failed]) {
      host.disturb = (one) => (one === path ? asked() : answer(one));
      expect([await runAfter(11), await stoppedAt()]).toEqual([[], null]);
      expect(await seen()).toBe('doubted');
    }
    host.disturb = (one) => (one === path ? lost() : answer(one));
    expect(await runAfter(11)).toMatchObject([HELLO]);
  });

  it('with its whole repository stops the service there, should it be public again', async () => {
    await seen();
    delete repositories['octo/hello'];
    await hook(HELLO);
    expect(await runAfter(11)).toMatchObject([HELLO]);
    expect(await stoppedAt()).not.toBeNull();
  });

  it('of which the service has never heard costs nothing', async () => {
    expect(await hook(HELLO)).toEqual([]);
    repositories['octo/hello']!.isInstalled = false;
    host.requests.length = 0;
    expect([await seen(), host.requests]).toEqual([null, []]);
  });

  it('costs one call for a flood of deliveries', async () => {
    await seen();
    await Promise.all(Array.from({ length: 100 }, () => feed().wakeInstallations([named(HELLO)])));
    expect(await hook(HELLO)).toEqual([INSTALLATION]);
  });

  it('because the operator has another one now is not removed', async () => {
    await seen();
    await configure({ GITHUB_APP_ID: '18' });
    expect([await remove(), await stoppedAt()]).toEqual([[], null]);
    // The other App counts from when it is installed there.
    repositories['octo/hello']!.isInstalled = true;
    await hook(HELLO);
    expect(await remove()).toMatchObject([HELLO]);
  });
});

it('an App that the operator has replaced while it was doubted is asked for no more', async () => {
  await seen();
  repositories['octo/hello']!.isInstalled = false;
  expect(await seen()).toBe('doubted');
  await configure({ GITHUB_APP_ID: '18' });
  await runAfter(11);
  await runAfter(1);
  expect(host.requests.map(({ path }) => path)).not.toContain(INSTALLATION);
});

it('an App that was installed again is found without a webhook, once somebody asks', async () => {
  await seen();
  await remove();
  // Those who are refused have the host asked, every ten minutes at most.
  for (let asked = 0; asked < 3; asked++) expect(await stoppedAt()).not.toBeNull();
  expect(await hook()).toEqual([INSTALLATION]);
  repositories['octo/hello']!.isInstalled = true;
  expect([await stoppedAt(), await hook()]).toEqual([expect.any(Number), []]);
  vi.setSystemTime(Date.now() + 10 * MINUTE_MS);
  expect(await stoppedAt()).not.toBeNull();
  expect(await hook()).toEqual([INSTALLATION]);
  expect(await stoppedAt()).toBeNull();
});

function rename(): void {
  repositories['octo/moved'] = repositories['octo/hello']!;
  delete repositories['octo/hello'];
}

describe('a repository that was renamed', () => {
  it('is stopped when the App is removed, though nobody has pushed to the new name', async () => {
    await seen();
    rename();
    // Whoever pushes to a name that is not known has its number looked up, once an App is anywhere.
    expect(await feed().said(MOVED, null)).toMatchObject({ isAny: true });
    await feed().said(MOVED, ID);
    expect(await feed().said(MOVED, null)).toMatchObject({ isAny: false });
    expect(await remove(MOVED)).toMatchObject([MOVED]);
    expect(await stoppedAt()).not.toBeNull();
  });

  it('is stopped when a webhook tells of the removal under the new name', async () => {
    await seen();
    rename();
    expect(await remove(MOVED)).toMatchObject([MOVED]);
    expect(await stoppedAt()).not.toBeNull();
  });

  it('is known again by its number when the App is seen under the new name', async () => {
    await seen();
    rename();
    await seen(MOVED);
    const names = await runInDurableObject(feed(), (_, { storage }) =>
      storage.sql.exec('SELECT id, name FROM installations').toArray(),
    );
    expect(names).toEqual([{ id: ID, name: 'octo/moved' }]);
  });

  it('is not stopped because somebody else has its old name, and neither is that one', async () => {
    await seen();
    rename();
    repositories['octo/hello'] = { id: 8, isInstalled: false };
    expect(await seen()).toBeNull();
    await hook(HELLO);
    expect(await runAfter(11)).toEqual([]);
    expect([await stoppedAt(8), await stoppedAt(ID)]).toEqual([null, null]);
  });
});

describe('a repository that was given to another account', () => {
  const THERE = { owner: 'nova', name: 'hello' };
  const saidThere = async () => (await feed().said(THERE, ID)).stoppedAt;

  it('is not stopped, because nobody has removed the App', async () => {
    await seen();
    repositories['octo/hello']!.isInstalled = false;
    // The host leads from the old name to the new one.
    host.disturb = (path) =>
      path === '/repos/octo/hello' ? Response.json(repository('nova/hello', ID)) : answer(path);
    expect(await seen()).toBeNull();
    expect([await runAfter(11), await saidThere()]).toEqual([[], null]);
  });

  it('is not stopped if somebody has pushed to its new name first', async () => {
    await seen();
    delete repositories['octo/hello'];
    repositories['nova/hello'] = { id: ID, isInstalled: false };
    expect(await saidThere()).toBeNull();
    expect(await seen(THERE)).toBeNull();
    await hook(THERE);
    expect([await runAfter(11), await saidThere()]).toEqual([[], null]);
    // Its new owners may install the App, and remove it.
    repositories['nova/hello'].isInstalled = true;
    expect(await seen(THERE)).toBeNull();
    expect(await remove(THERE)).toMatchObject([THERE]);
  });
});

it('repositories whose names others have by now take nobody’s turn', async () => {
  const turns = await runInDurableObject(feed(), (_, { storage }) => {
    const installed = new SqlInstalled(storage.sql);
    const here = { app: 17, installation: NUMBER };
    for (let id = 100; id < 110; id++) {
      installed.add({ owner: 'octo', name: `old-${id}`, id }, here, 0);
      installed.setMissing(id, 0);
      installed.correctNames({ owner: 'octo', name: `old-${id}` }, id + 100);
    }
    installed.add({ ...HELLO, id: ID }, here, 1);
    installed.setMissing(ID, 1);
    return [installed.toRead(60 * MINUTE_MS), installed.toConfirm(60 * MINUTE_MS)];
  });
  expect(turns).toEqual([[{ ...HELLO, id: ID, readAt: 1 }], [{ ...HELLO, id: ID }]]);
});

it('what the App has opened is listed although the host refuses another repository', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  const blocked = { owner: 'octo', name: 'blocked' };
  repositories['octo/blocked'] = { id: 1, isInstalled: true };
  await seen(blocked);
  await seen();
  host.disturb = (path) => (path === '/repos/octo/blocked/issues' ? refusal() : answer(path));
  await runAfter(11);
  const lists = host.requests
    .map(({ path }) => path.split('?')[0])
    .filter((path) => path?.endsWith('/issues'));
  expect(lists).toEqual(['/repos/octo/blocked/issues', '/repos/octo/hello/issues']);
});

function renameTable(from: string, to: string): Promise<unknown> {
  return runInDurableObject(feed(), (_, { storage }) =>
    storage.sql.exec(`ALTER TABLE ${from} RENAME TO ${to}`).toArray(),
  );
}

it('a run that fails in the middle keeps no later one out', async () => {
  await seen();
  repositories['octo/hello']!.isInstalled = false;
  await hook(HELLO);
  await renameTable('installations', 'gone');
  await expect(runAfter(11)).rejects.toThrow('no such table');
  await renameTable('gone', 'installations');
  expect(await runAfter(1)).toMatchObject([HELLO]);
});

it('without an App, nothing is asked and no table is made', async () => {
  const lacking = { GITHUB_APP_ID: '', GITHUB_APP_KEY: '' };
  await configure(lacking);
  expect(await feed().said(HELLO, null)).toMatchObject({ isAny: false });
  await feed().said(HELLO, ID);
  await runAfter(1);
  const tables = await runInDurableObject(feed(), (_, { storage }) =>
    storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'installations'").toArray(),
  );
  expect(tables).toEqual([]);
});
