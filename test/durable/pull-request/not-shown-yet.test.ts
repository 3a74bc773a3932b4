/**
 * A pull request that the code host has opened, and does not show yet: no notification is sent, and
 * it is looked for again. Statistics know it nevertheless.
 */
import { applyD1Migrations, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { PullRequestRecord } from '../../../src/durable/pull-request/record.ts';
import type { Env } from '../../../src/env.ts';
import { isRecorded } from '../../../src/stats/recorded-hashes.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { shownPull } from '../support/shown-pull.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const API = 'https://api.host.test';
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const PUSH = {
  tip: 'a',
  dates: { committedAt: 1_800_000_000, commitHashes: new Uint8Array() },
  key: null,
  lease: null,
};

/** The host's answer to a look at the pull request. */
let shows: (url: unknown) => Response | null;
let looks: string[];
/** The pull requests in the host's list. */
let listed: object[];
let published: number;
/** Runs while the topic is told of it. */
let onPublish: () => Promise<void>;
let last = 0;

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  [looks, listed, published] = [[], [], 0];
  onPublish = async () => {};
  shows = () => Response.json({ message: 'Not Found' }, { status: 404 });
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (asked) => {
    const url = asked as string;
    const { pathname } = new URL(url);
    if (url.startsWith(API)) {
      if (pathname.endsWith('/user')) return Response.json({ id: 1, login: 'bot' });
      if (pathname.endsWith('/pulls')) return Response.json(listed);
      looks.push(pathname);
      return shows(url) ?? new Response(null);
    }
    published += 1;
    await onPublish();
    return new Response(null);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const objectOf = ({ prHash }: PullRequestRecord) =>
  bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(prHash));

async function prepare(record: PullRequestRecord): Promise<void> {
  await runInDurableObject(objectOf(record), (instance) => {
    Object.assign(instance, { env: { ...bindings, HOSTING_API_URL: API, HOSTING_TOKEN: 'secret' } });
  });
}

async function opened(): Promise<PullRequestRecord> {
  const number = (last += 1);
  const prHash = `feed${number.toString(16).padStart(8, '0')}`;
  const url = `https://host.test/octo/hello/pull/${number}`;
  const record = { prHash, host: 'gh', owner: 'octo', repo: 'hello', number, url, fork: null };
  await prepare(record);
  // Alarms are run by the tests; by itself none goes off within a test.
  await objectOf(record).record(record, PUSH, Date.now() + HOUR_MS);
  await objectOf(record).tellLater(['statistics'], Date.now() + HOUR_MS);
  return record;
}

/** When the alarm goes off. */
async function runAlarm(record: PullRequestRecord): Promise<void> {
  const at = await runInDurableObject(objectOf(record), (_, { storage }) => storage.getAlarm());
  vi.setSystemTime(at ?? Date.now());
  await runDurableObjectAlarm(objectOf(record));
}

const isShown = async (record: PullRequestRecord) => (await objectOf(record).view())?.isShown;

async function isCounted({ url }: PullRequestRecord): Promise<boolean> {
  const row = bindings.DB.prepare('SELECT 1 FROM pull_requests WHERE pr_url = ?').bind(url).first();
  return (await row) !== null;
}

it('is looked for until the host shows it, also after a restart, and then told', async () => {
  const record = await opened();
  await runAlarm(record);
  shows = () => new Response(null, { status: 502 });
  await runAlarm(record);
  await restartObjects();
  await prepare(record);
  await runAlarm(record);
  expect(looks).toEqual(Array(3).fill(`/repos/octo/hello/pulls/${record.number}`));
  expect([await isShown(record), await isCounted(record), published]).toEqual([false, true, 0]);
  shows = shownPull;
  await runAlarm(record);
  expect([await isShown(record), await isCounted(record), published]).toEqual([true, true, 1]);
  expect(looks).toHaveLength(4);
});

const head = (label: string) => ({ label, ref: 'x', user: null, repo: null });

it('is shown where the host lists it, though it does not know it by its number', async () => {
  const record = await opened();
  const user = { id: 1, login: 'bot' };
  const pull = { number: record.number, html_url: record.url, state: 'open', user, base: { ref: 'main' } };
  const label = `bot:anon-${record.prHash}`;
  listed = [
    { ...pull, number: record.number + 1, head: head(label) },
    { ...pull, head: head('mallory:anon-1') },
    { ...pull, user: { id: 2, login: 'mallory' }, head: head(label) },
  ];
  await runAlarm(record);
  expect([await isShown(record), published]).toEqual([false, 0]);
  listed = [{ ...pull, head: head(label) }];
  await runAlarm(record);
  expect([await isShown(record), published]).toEqual([true, 1]);
});

it('is counted before that, and in the list of hashes, so that a push can name it', async () => {
  const record = await opened();
  await runAlarm(record);
  expect(await isRecorded(bindings.DB, record.prHash)).toBe(true);
  expect([await isShown(record), await isCounted(record), published]).toEqual([false, true, 0]);
});

it('is not told although it is opened while an earlier one is', async () => {
  const record = await opened();
  shows = shownPull;
  onPublish = async () => {
    onPublish = async () => {};
    shows = () => Response.json({ message: 'Not Found' }, { status: 404 });
    const next = { ...record, number: record.number + 1_000, url: `${record.url}000` };
    await objectOf(record).record(next, { ...PUSH, tip: 'b' }, Date.now() + HOUR_MS);
  };
  await runAlarm(record);
  expect([await isShown(record), published]).toEqual([false, 1]);
});

it('is looked for once, however many ask at the same time', async () => {
  const record = await opened();
  await Promise.all(Array.from({ length: 20 }, () => objectOf(record).askHost()));
  expect([await isShown(record), looks.length]).toEqual([false, 1]);
  vi.setSystemTime(Date.now() + HOUR_MS);
  shows = shownPull;
  await Promise.all(Array.from({ length: 20 }, () => objectOf(record).askHost()));
  expect([await isShown(record), looks.length]).toEqual([true, 2]);
});

it('is told once the host has told of it', async () => {
  const record = await opened();
  await runAlarm(record);
  const { number } = record;
  await objectOf(record).tell('gh', [], Date.now(), { number: number + 1, askedAt: Date.now() });
  expect(await isShown(record)).toBe(false);
  await objectOf(record).tell('gh', [], Date.now(), { number, askedAt: Date.now() });
  await runAlarm(record);
  expect([await isShown(record), await isCounted(record), published]).toEqual([true, true, 1]);
  expect(looks).toHaveLength(1);
});

it('is not looked for any more after a week', async () => {
  const record = await opened();
  await runAlarm(record);
  vi.setSystemTime(Date.now() + 8 * DAY_MS);
  await runDurableObjectAlarm(objectOf(record));
  await runDurableObjectAlarm(objectOf(record));
  expect([await isShown(record), published, looks.length]).toEqual([false, 0, 1]);
});

it('is not looked for by an update', async () => {
  shows = shownPull;
  const record = await opened();
  await runAlarm(record);
  await objectOf(record).record(record, { ...PUSH, tip: 'b' }, Date.now() + HOUR_MS);
  await runAlarm(record);
  expect([published, looks.length]).toEqual([2, 1]);
});

it('is shown where a push updates it, as that has found it at the host', async () => {
  const record = await opened();
  await runAlarm(record);
  vi.setSystemTime(Date.now() + 8 * DAY_MS);
  await runDurableObjectAlarm(objectOf(record));
  const claimed = await objectOf(record).claim('gh', Date.now());
  const lease = claimed.kind === 'claimed' ? claimed.lease : null;
  await objectOf(record).record(record, { ...PUSH, tip: 'b', lease }, Date.now());
  await runAlarm(record);
  // That it was opened is no news any more.
  expect([await isShown(record), published, looks.length]).toEqual([true, 1, 1]);
});
