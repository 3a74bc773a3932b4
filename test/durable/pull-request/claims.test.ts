/** Who may work on a pull request, and what its object remembers for the next push. */
import { applyD1Migrations, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { LEASE_MS } from '../../../src/durable/lease.ts';
import type { ClaimedPullRequest, RecordedPush } from '../../../src/durable/pull-request/pull-request.ts';
import {
  COMMIT_HASH_BYTES,
  type DatedCommits,
  MAX_DATED_COMMITS,
  MAX_DATED_PUSHES,
  newest,
} from '../../../src/durable/pull-request/record.ts';
import type { Env } from '../../../src/env.ts';
import { type Http, HttpClient } from '../../../src/outgoing/http-client.ts';
import { restartObjects } from '../../support/all-objects.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const DAY_MS = 24 * 60 * 60 * 1000;
/** Ahead of the clock: by itself no alarm goes off within a test. */
const NOW = Date.now() + DAY_MS;

let count = 0;
function newPullRequest() {
  const prHash = `c1a1${(++count).toString(16).padStart(8, '0')}`;
  const record = {
    prHash,
    host: 'gh',
    owner: 'octo',
    repo: 'hello',
    number: count,
    url: `https://host.test/pull/${count}`,
    fork: { owner: 'bot', name: 'hello' },
  };
  // A stub does not outlive the object's death.
  const object = () => bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(prHash));
  return {
    object,
    claim: (at = NOW, host = 'gh') => object().claim(host, at),
    record: (push: Partial<RecordedPush> = {}, at = NOW) =>
      object().record(record, { tip: 'a', dates: dated(1, 0), lease: null, ...push }, at),
  };
}

/** Hashes that are all of one byte. */
function dated(committedAt: number, commits: number, byte = committedAt): DatedCommits {
  return { committedAt, commitHashes: new Uint8Array(commits * COMMIT_HASH_BYTES).fill(byte) };
}

let requests: MockInstance<Http['fetch']>;

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  requests = vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async () => new Response(null));
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Fails if it was not granted. */
function leaseOf(claim: ClaimedPullRequest): number {
  expect(claim.kind).toBe('claimed');
  return (claim as Extract<ClaimedPullRequest, { kind: 'claimed' }>).lease;
}

it('is looked at by a preview while a push holds it, and is free afterwards', async () => {
  const { object, claim, record } = newPullRequest();
  await record({ lease: leaseOf(await claim()) });
  expect(await object().look('gh', NOW)).toMatchObject({ kind: 'claimed', recorded: { tip: 'a' } });
  const lease = leaseOf(await claim());
  expect(await object().look('gh', NOW)).toMatchObject({ kind: 'claimed', recorded: { tip: 'a' } });
  await object().release(lease);
  expect(await claim()).toMatchObject({ kind: 'claimed' });
  expect(await object().look('cb', NOW)).toEqual({ kind: 'elsewhere' });
});

describe('a claim', () => {
  it('is one’s own until it is given back, recorded, or has run out', async () => {
    const { object, claim, record } = newPullRequest();
    const first = await claim();
    expect(first).toEqual({ kind: 'claimed', lease: expect.any(Number), recorded: null, dates: [] });
    expect(await claim()).toEqual({ kind: 'busy' });
    await object().release(leaseOf(first));
    await record({ lease: leaseOf(await claim()) });
    const third = await claim();
    expect(third).toMatchObject({ kind: 'claimed', recorded: { number: count, tip: 'a' } });
    expect(await claim(NOW + LEASE_MS)).toMatchObject({ kind: 'claimed' });
    await object().release(leaseOf(third));
    expect(await claim(NOW + LEASE_MS)).toEqual({ kind: 'busy' });
  });

  it('is free again when the machine of the object has died', async () => {
    const { claim } = newPullRequest();
    await claim();
    await restartObjects();
    expect(await claim()).toMatchObject({ kind: 'claimed' });
  });

  it('from another code host finds nothing there: pr_hashes are public', async () => {
    const { object, claim, record } = newPullRequest();
    await record({ dates: dated(1, 2) });
    expect(await claim(NOW, 'cb')).toEqual({ kind: 'elsewhere' });
    expect(await claim()).toMatchObject({ kind: 'claimed' });
    const merged = { key: 'merged:1', kind: 'merged', number: count, url: 'https://evil.test/1' } as const;
    const look = { number: count, askedAt: NOW };
    expect(await object().tell('cb', [merged], NOW, look)).toBe(false);
    expect(await object().view()).toMatchObject({ host: 'gh', state: 'open', events: [{ kind: 'opened' }] });
  });

  it('writes nothing: anyone may ask for any pr_hash', async () => {
    const { object, claim } = newPullRequest();
    await claim();
    await object().tell('gh', [{ key: 'merged:1', kind: 'merged', number: 1, url: '' }], NOW);
    const tables = await runInDurableObject(object(), (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\'").toArray(),
    );
    expect(tables).toEqual([]);
  });
});

describe('dates of commits', () => {
  it('are known to the next push, oldest first, and a repetition adds nothing', async () => {
    const { claim, record } = newPullRequest();
    await record({ tip: 'a', dates: dated(1, 2) });
    await record({ tip: 'a', dates: dated(1, 2) });
    await record({ tip: 'b', dates: dated(2, 1) });
    expect(await claim()).toMatchObject({ dates: [dated(1, 2), dated(2, 1)] });
  });

  it('are forgotten 90 days after the last push', async () => {
    const { object, claim, record } = newPullRequest();
    await record({ tip: 'a', dates: dated(1, 2) });
    await record({ tip: 'b', dates: dated(2, 1) }, NOW + 60 * DAY_MS);
    expect(await claim(NOW + 149 * DAY_MS)).toMatchObject({ dates: [dated(1, 2), dated(2, 1)] });
    expect(await claim(NOW + 150 * DAY_MS)).toMatchObject({ dates: [] });
    await runDurableObjectAlarm(object());
    const nextAlarm = () => runInDurableObject(object(), (_, { storage }) => storage.getAlarm());
    expect(await nextAlarm()).toBe(NOW + 150 * DAY_MS);
    vi.setSystemTime(NOW + 150 * DAY_MS);
    await runDurableObjectAlarm(object());
    const kept = await runInDurableObject(object(), (_, { storage }) => storage.kv.get('dates'));
    expect([kept, await nextAlarm()]).toEqual([undefined, null]);
  });

  it('are a bounded number: those of the oldest pushes go first', async () => {
    const { claim, record } = newPullRequest();
    await record({ tip: 'a', dates: dated(1, 10) });
    await record({ tip: 'b', dates: dated(2, 10) });
    await record({ tip: 'c', dates: dated(3, MAX_DATED_COMMITS - 10) });
    const claimed = await claim();
    expect(claimed.kind === 'claimed' && claimed.dates.map(({ committedAt }) => committedAt)).toEqual([2, 3]);
  });

  it('are of a bounded number of pushes', () => {
    const pushes = [...Array(MAX_DATED_PUSHES + 2).keys()].map((push) => dated(push, 1));
    expect(newest(pushes)).toEqual(pushes.slice(2));
  });
});

describe('what is recorded twice', () => {
  it('is told once, and an update that moves nothing is not told', async () => {
    const told: string[] = [];
    requests.mockImplementation(async (_, init) => {
      told.push((JSON.parse(init?.body as string) as { title: string }).title.replace(/.* /, ''));
      return new Response(null);
    });
    const { object, record } = newPullRequest();
    await record({ tip: 'a' });
    await record({ tip: 'a' });
    await record({ tip: 'b' });
    await restartObjects();
    await record({ tip: 'b' });
    await record({ tip: 'a' });
    await runDurableObjectAlarm(object());
    expect(told).toEqual(['opened', 'updated', 'updated']);
  });
});
