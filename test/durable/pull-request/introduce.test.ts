/** The bot's introduction in the outbox of a pull request: what is tried again, and what is not. */
import { applyD1Migrations, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SqlStances } from '../../../src/durable/notification-feed/stances.ts';
import type { PullRequestRecord } from '../../../src/durable/pull-request/record.ts';
import { introduce } from '../../../src/durable/pull-request/introduce.ts';
import type { Env } from '../../../src/env.ts';
import { WHOLE } from '../../../src/events/hear.ts';
import { reachHost } from '../../../src/host-access.ts';
import { feedOf } from '../../../src/objects.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { shownPull } from '../support/shown-pull.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const API = 'https://api.introduce.test';
const HOUR_MS = 60 * 60 * 1000;
const DATES = { committedAt: 1_800_000_000, commitHashes: new Uint8Array() };

/** The host's answers to comments, made in the object that asks, and the texts that were posted. */
let answers: (() => Response | Promise<Response>)[];
let posted: string[];
/** Whether the host shows pull requests. */
let shows: boolean;
let last = 0;

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  vi.spyOn(console, 'log').mockImplementation(() => {});
  [answers, posted, shows] = [[], [], true];
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (asked, init) => {
    const url = asked as string;
    const { pathname } = new URL(url);
    if (!url.startsWith(API)) return new Response(null);
    if (pathname.endsWith('/user')) return Response.json({ id: 1, login: 'bot' });
    if (!pathname.endsWith('/comments')) return (shows ? shownPull(url) : null) ?? new Response(null);
    posted.push((JSON.parse(init?.body as string) as { body: string }).body);
    return answers.shift()?.() ?? Response.json({ id: 5, html_url: 'https://host.test/c' }, { status: 201 });
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const nothing = async () => {};
const diskFull = async () => Promise.reject(new Error('the disk is full'));

function reached() {
  const own = { HOSTING_API_URL: API, HOSTING_TOKEN: 'secret', SERVICE_URL: 'https://veil.test' };
  return reachHost({ ...bindings, ...own }, 'gh', null)!;
}

const objectOf = ({ prHash }: PullRequestRecord) =>
  bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(prHash));

/** Gives the object its configuration. */
async function configure(record: PullRequestRecord, variables: object = {}): Promise<void> {
  const own = { HOSTING_API_URL: API, HOSTING_TOKEN: 'secret', SERVICE_URL: 'https://veil.test' };
  await runInDurableObject(objectOf(record), (instance) => {
    Object.assign(instance, { env: { ...bindings, ...own, ...variables } });
  });
}

/** Opens a pull request in the repository of that number. */
async function opened(repositoryId: number, variables: object = {}): Promise<PullRequestRecord> {
  const number = (last += 1);
  const prHash = `beef${number.toString(16).padStart(8, '0')}`;
  const url = `https://host.test/octo/hello/pull/${number}`;
  const record = { prHash, host: 'gh', owner: 'octo', repo: 'hello', number, url, fork: null };
  await configure(record, variables);
  const push = { tip: 'a', dates: DATES, lease: null, repositoryId };
  // Alarms are run by the tests; by itself none goes off within a test.
  await objectOf(record).record(record, push, Date.now() + HOUR_MS);
  return record;
}

async function runAlarm(record: PullRequestRecord): Promise<void> {
  const at = await runInDurableObject(objectOf(record), (_, { storage }) => storage.getAlarm());
  vi.setSystemTime(at ?? Date.now());
  await runDurableObjectAlarm(objectOf(record));
}

it.each([
  ['without SERVICE_URL, whose page it would name', { SERVICE_URL: '' }],
  ['with INTRODUCE=never', { INTRODUCE: 'never' }],
])('is not posted %s', async (_, variables) => {
  await runAlarm(await opened(102, variables));
  expect(posted).toEqual([]);
});

it('names the address on this machine, where an embedded host is tried there', async () => {
  await runAlarm(await opened(109, { SERVICE_URL: '', EMBEDDED_HOST: 'true' }));
  expect(posted).toEqual([expect.stringContaining('merge: http://127.0.0.1:8080/maintainers')]);
});

it('is not posted where the maintainers have said stop, however close', async () => {
  const stopped = { id: 103, owner: 'octo', name: 'renamed', networkId: 103, isPrivate: false } as const;
  const repository = { ...stopped, isArchived: false, pullRequests: 'all', sizeKb: 1 } as const;
  await runInDurableObject(feedOf(bindings, 'gh'), (_, { storage }) =>
    new SqlStances(storage.sql).setStance(repository, WHOLE, { word: 'stop', at: 1, saidBy: 2, since: 1 }),
  );
  await runAlarm(await opened(103));
  expect(posted).toEqual([]);
});

it('is not posted once the maintainers have said stop, or it has ended', async () => {
  const ended = await opened(107);
  const closed = { kind: 'closed', key: 'end', at: '', url: ended.url, number: ended.number } as const;
  await objectOf(ended).tell('gh', [closed], Date.now(), { number: ended.number, askedAt: Date.now() });
  await runAlarm(ended);
  const repository = { id: 108, owner: 'octo', name: 'stopped', networkId: 108, isPrivate: false } as const;
  const stopped = { ...repository, isArchived: false, pullRequests: 'all', sizeKb: 1 } as const;
  await runInDurableObject(feedOf(bindings, 'gh'), (_, { storage }) =>
    new SqlStances(storage.sql).setStance(stopped, WHOLE, { word: 'stop', at: 1, saidBy: 2, since: 1 }),
  );
  const asked = await introduce(reached(), { ...ended, repo: 'stopped' }, nothing);
  expect([asked, posted]).toEqual([{ kind: 'done' }, []]);
});

it('is not posted while the host does not show the pull request', async () => {
  shows = false;
  const record = await opened(110);
  await runAlarm(record);
  expect(posted).toEqual([]);
  shows = true;
  await runAlarm(record);
  expect(posted).toHaveLength(1);
});

it('is posted once for a repository, by its number, whatever its name is', async () => {
  for (const record of [await opened(104), await opened(104), await opened(105)]) await runAlarm(record);
  expect(posted).toHaveLength(2);
});

it('is posted later if it could not be stored that the host is to be asked', async () => {
  const record = await opened(112);
  expect(await introduce(reached(), record, diskFull)).toEqual({ kind: 'failed', askedMs: 0, all: false });
  expect(posted).toEqual([]);
  expect(await introduce(reached(), record, nothing)).toEqual({ kind: 'done' });
  expect(posted).toHaveLength(1);
});

it('is not posted again by an object that was reset while it was posted', async () => {
  const record = await opened(111);
  answers = [() => new Promise(() => {})];
  void runAlarm(record).catch(() => {});
  await expect.poll(() => posted).toHaveLength(1);
  await restartObjects();
  await configure(record);
  await runInDurableObject(objectOf(record), (_, { storage }) => storage.setAlarm(Date.now() + HOUR_MS));
  await runAlarm(record);
  expect(posted).toHaveLength(1);
});

// The last one: the pause counts for the whole account.
it('is tried again after a pause that the host asks for, and then posted once', async () => {
  const record = await opened(101);
  const message = 'You have exceeded a secondary rate limit.';
  answers = [() => Response.json({ message }, { status: 403, headers: { 'retry-after': '60' } })];
  await runAlarm(record);
  expect(posted).toHaveLength(1);
  for (let turn = 0; turn < 5 && posted.length < 2; turn++) await runAlarm(record);
  expect(posted).toHaveLength(2);
  expect(posted[1]).toContain('https://veil.test/maintainers');
  await runAlarm(record);
  expect(posted).toHaveLength(2);
});
