import {
  applyD1Migrations,
  abortAllDurableObjects,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PullRequestRecord } from '../../src/durable/pull-request.ts';
import type { Env } from '../../src/env.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Alarms are run by the tests; by itself none goes off within a test. */
const later = (): number => Date.now() + HOUR_MS;

/** What the notification service received, and whether it takes anything. */
let published: unknown[] = [];
let serviceIsDown = false;

let lastHash = 0;
function newPullRequest(): PullRequestRecord {
  const prHash = (++lastHash).toString(16).padStart(12, '0');
  return {
    prHash,
    owner: 'octo',
    repo: 'hello',
    number: lastHash,
    url: `https://host.test/octo/hello/pull/${lastHash}`,
  };
}

function objectOf({ prHash }: PullRequestRecord) {
  return bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(prHash));
}

async function ledgerUrls(): Promise<string[]> {
  const { results } = await bindings.DB.prepare('SELECT pr_url FROM pull_requests').all<{ pr_url: string }>();
  return results.map((row) => row.pr_url);
}

async function nextAlarm(pullRequest: PullRequestRecord): Promise<number | null> {
  return runInDurableObject(objectOf(pullRequest), (_, state) => state.storage.getAlarm());
}

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  published = [];
  serviceIsDown = false;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
    if (serviceIsDown) return new Response(null, { status: 503 });
    published.push(JSON.parse(String(init?.body)));
    return new Response(null);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('the outbox of a pull request', () => {
  it('publishes to the topic and writes into the ledger when one is opened', async () => {
    const opened = newPullRequest();
    await objectOf(opened).record(opened, 'opened', later());
    await runDurableObjectAlarm(objectOf(opened));
    expect(published).toEqual([
      {
        topic: `anon-pr-${opened.prHash}`,
        title: 'octo/hello: pull request opened',
        message: `Your anonymous pull request was opened: ${opened.url}`,
        click: opened.url,
      },
    ]);
    expect(await ledgerUrls()).toContain(opened.url);
    expect(await nextAlarm(opened)).toBeNull();
  });

  it('publishes an update without a second entry in the ledger', async () => {
    const pullRequest = newPullRequest();
    await objectOf(pullRequest).record(pullRequest, 'opened', later());
    await objectOf(pullRequest).record(pullRequest, 'updated', later());
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(published).toHaveLength(2);
    expect((await ledgerUrls()).filter((url) => url === pullRequest.url)).toHaveLength(1);
  });

  it('keeps a notification that was not taken, and delivers it once when the service is back', async () => {
    const pullRequest = newPullRequest();
    serviceIsDown = true;
    await objectOf(pullRequest).record(pullRequest, 'opened', later());
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(published).toEqual([]);
    expect(await ledgerUrls()).toContain(pullRequest.url);
    expect(await nextAlarm(pullRequest)).toBeGreaterThan(Date.now());

    serviceIsDown = false;
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(published).toHaveLength(1);
    expect(await nextAlarm(pullRequest)).toBeNull();
    expect((await ledgerUrls()).filter((url) => url === pullRequest.url)).toHaveLength(1);
  });

  it('waits longer after each failure', async () => {
    const pullRequest = newPullRequest();
    serviceIsDown = true;
    await objectOf(pullRequest).record(pullRequest, 'updated', later());
    const delays: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      await runDurableObjectAlarm(objectOf(pullRequest));
      delays.push(Math.round((((await nextAlarm(pullRequest)) ?? 0) - Date.now()) / 1000));
    }
    expect(delays).toEqual([5, 10, 20, 40]);
  });

  it('loses nothing when its machine goes away before the delivery', async () => {
    const pullRequest = newPullRequest();
    serviceIsDown = true;
    await objectOf(pullRequest).record(pullRequest, 'opened', later());
    await runDurableObjectAlarm(objectOf(pullRequest));
    await abortAllDurableObjects();
    serviceIsDown = false;
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(published).toHaveLength(1);
  });

  it('gives up on an entry after a week', async () => {
    const pullRequest = newPullRequest();
    serviceIsDown = true;
    await objectOf(pullRequest).record(pullRequest, 'updated', later());
    vi.setSystemTime(Date.now() + 8 * DAY_MS);
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(await nextAlarm(pullRequest)).toBeNull();
  });
});
