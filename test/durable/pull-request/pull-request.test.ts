import { applyD1Migrations, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MAX_NOTIFICATIONS } from '../../../src/durable/pull-request/messages.ts';
import type { RecordedPush } from '../../../src/durable/pull-request/pull-request.ts';
import type { PullRequestRecord } from '../../../src/durable/pull-request/record.ts';
import type { Env } from '../../../src/env.ts';
import type { HostEvent } from '../../../src/events/host-event.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { DAY_MS, HOUR_MS, holdClock, pass } from '../../support/clock.ts';
import { shownPull } from '../support/shown-pull.ts';
import { guardOf } from '../../../src/objects.ts';
import { isRecorded } from '../../../src/stats/recorded-hashes.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };

/** Notifications that the service has received, and whether it takes any. */
let published: { title: string; click: string }[] = [];
let serviceIsDown = false;
/** How often it was asked, and to how many it still answers that it was too often. */
let asked = 0;
let tooMany = 0;
/** The notification service takes the message, and the sender never hears of it. */
let answerIsLost = false;
let duringPublishing = async (): Promise<void> => {};

let lastHash = 0;
function newPullRequest(): PullRequestRecord {
  const prHash = (++lastHash).toString(16).padStart(12, '0');
  return {
    prHash,
    host: 'gh',
    owner: 'octo',
    repo: 'hello',
    number: lastHash,
    url: `https://host.test/octo/hello/pull/${lastHash}`,
    fork: null,
  };
}

/** Where the service is found if its operator has not said so. */
const pageOf = ({ prHash }: PullRequestRecord): string => `http://127.0.0.1:8080/v1/pr/${prHash}`;

function objectOf({ prHash }: PullRequestRecord) {
  return bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(prHash));
}

/** A push has opened it, and could tell neither statistics nor the guard. */
async function openUntold(pullRequest: PullRequestRecord): Promise<void> {
  await objectOf(pullRequest).record(pullRequest, push('a'), Date.now());
  await objectOf(pullRequest).tellLater(['statistics', 'tracking'], Date.now());
}

/** A push after which the branch stands at `tip`. */
function push(tip: string): RecordedPush {
  const dates = { committedAt: 1_800_000_000, commitHashes: new Uint8Array() };
  return { tip, dates, lease: null };
}

function comment(id: number): HostEvent {
  const url = `https://host.test/octo/hello/pull/1#issuecomment-${id}`;
  return { key: `comment:${id}`, kind: 'commented', number: 1, url };
}

async function ledgerUrls(): Promise<string[]> {
  const { results } = await bindings.DB.prepare('SELECT pr_url FROM pull_requests').all<{ pr_url: string }>();
  return results.map((row) => row.pr_url);
}

/** The addresses of what a rollback would close. */
async function trackedUrls(): Promise<string[]> {
  return runInDurableObject(guardOf(bindings), (_, { storage }) =>
    storage.sql
      .exec<{ url: string }>('SELECT url FROM created')
      .toArray()
      .map(({ url }) => url),
  );
}

async function nextAlarm(pullRequest: PullRequestRecord): Promise<number | null> {
  return runInDurableObject(objectOf(pullRequest), (_, state) => state.storage.getAlarm());
}

/** When the alarm goes off. */
async function runAlarm(pullRequest: PullRequestRecord): Promise<void> {
  vi.setSystemTime((await nextAlarm(pullRequest)) ?? Date.now());
  await runDurableObjectAlarm(objectOf(pullRequest));
}

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  holdClock();
  published = [];
  serviceIsDown = false;
  asked = 0;
  tooMany = 0;
  answerIsLost = false;
  duringPublishing = async () => {};
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (requested, init) => {
    const shown = shownPull(requested);
    if (shown !== null) return shown;
    await duringPublishing();
    asked += 1;
    if (serviceIsDown) return new Response(null, { status: 503 });
    if (tooMany > 0) {
      tooMany -= 1;
      return new Response(null, { status: 429, headers: { 'Retry-After': '600' } });
    }
    published.push(JSON.parse(init?.body as string));
    if (answerIsLost) throw new TypeError('connection lost');
    return new Response(null);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it('is never recorded in another repository, whatever that is called', async () => {
  const mine = newPullRequest();
  await objectOf(mine).record(mine, { ...push('a'), repositoryId: 7 }, Date.now());
  const renamed = { ...mine, repo: 'renamed', url: mine.url.replace('hello', 'renamed') };
  await objectOf(mine).record(renamed, { ...push('b'), repositoryId: 7 }, Date.now());
  const theirs = { ...mine, owner: 'mallory', url: mine.url.replace('octo', 'mallory') };
  await expect(
    runInDurableObject(objectOf(mine), (object) =>
      object.record(theirs, { ...push('c'), repositoryId: 8 }, Date.now()),
    ),
  ).rejects.toThrow('another repository');
  expect(await objectOf(mine).view()).toMatchObject({ owner: 'octo', repo: 'renamed', repositoryId: 7 });
});

describe('the outbox of a pull request', () => {
  it('publishes to the topic when one is opened, and tells what its push could not tell', async () => {
    const opened = newPullRequest();
    await openUntold(opened);
    await runDurableObjectAlarm(objectOf(opened));
    expect(published).toEqual([
      {
        topic: `anon-pr-${opened.prHash}`,
        title: 'octo/hello: pull request opened',
        message: `Your anonymous pull request was opened: ${pageOf(opened)}`,
        click: pageOf(opened),
      },
    ]);
    expect(await ledgerUrls()).toContain(opened.url);
    expect(await isRecorded(bindings.DB, opened.prHash)).toBe(true);
    expect(await trackedUrls()).toContain(opened.url);
    expect(await nextAlarm(opened)).toBeNull();
  });

  it('publishes an update without a second entry in the ledger', async () => {
    const pullRequest = newPullRequest();
    await openUntold(pullRequest);
    await objectOf(pullRequest).record(pullRequest, push('b'), Date.now());
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(published).toHaveLength(2);
    expect((await ledgerUrls()).filter((url) => url === pullRequest.url)).toHaveLength(1);
  });

  it('keeps a notification that was not taken, and delivers it once when the service is back', async () => {
    const pullRequest = newPullRequest();
    serviceIsDown = true;
    await openUntold(pullRequest);
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(published).toEqual([]);
    expect(await ledgerUrls()).toContain(pullRequest.url);
    expect(await nextAlarm(pullRequest)).toBeGreaterThan(Date.now());

    serviceIsDown = false;
    await runAlarm(pullRequest);
    expect(published).toHaveLength(1);
    expect(await nextAlarm(pullRequest)).toBeNull();
    expect((await ledgerUrls()).filter((url) => url === pullRequest.url)).toHaveLength(1);
  });

  it('waits longer after each failure', async () => {
    const pullRequest = newPullRequest();
    serviceIsDown = true;
    await objectOf(pullRequest).record(pullRequest, push('b'), Date.now());
    const delays: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      await runAlarm(pullRequest);
      delays.push(Math.round((((await nextAlarm(pullRequest)) ?? 0) - Date.now()) / 1000));
    }
    expect(delays).toEqual([5, 10, 20, 40]);
  });

  it('loses nothing when its machine goes away before the delivery', async () => {
    const pullRequest = newPullRequest();
    serviceIsDown = true;
    await objectOf(pullRequest).record(pullRequest, push('a'), Date.now());
    await runDurableObjectAlarm(objectOf(pullRequest));
    await restartObjects();
    serviceIsDown = false;
    await runAlarm(pullRequest);
    expect(published).toHaveLength(1);
  });

  it('still writes into a ledger that was dead for weeks', async () => {
    const pullRequest = newPullRequest();
    await openUntold(pullRequest);
    pass(60 * DAY_MS);
    await bindings.DB.exec('ALTER TABLE pull_requests RENAME TO out_of_reach');
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(await nextAlarm(pullRequest)).not.toBeNull();
    await bindings.DB.exec('ALTER TABLE out_of_reach RENAME TO pull_requests');
    await runAlarm(pullRequest);
    expect(await ledgerUrls()).toContain(pullRequest.url);
    // No rollback would close it any more.
    expect(await trackedUrls()).not.toContain(pullRequest.url);
  });

  it('leaves the topic alone for as long as the service asks, also when there is news or a restart', async () => {
    const pullRequest = newPullRequest();
    tooMany = 1;
    await openUntold(pullRequest);
    await objectOf(pullRequest).record(pullRequest, push('b'), Date.now());
    await runDurableObjectAlarm(objectOf(pullRequest));
    // The first was refused, so the second was not tried; the ledger is another matter.
    expect(asked).toBe(1);
    expect(await ledgerUrls()).toContain(pullRequest.url);
    const retryAt = (await nextAlarm(pullRequest)) ?? 0;
    expect(Math.round((retryAt - Date.now()) / 1000)).toBe(600);

    await restartObjects();
    vi.setSystemTime(retryAt - 1000);
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(asked).toBe(1);
    await runAlarm(pullRequest);
    expect(published).toHaveLength(2);
    expect(await nextAlarm(pullRequest)).toBeNull();
  });

  it('keeps the newest notifications, and all else, while the service is down and many comment', async () => {
    const pullRequest = newPullRequest();
    serviceIsDown = true;
    await openUntold(pullRequest);
    const comments = [...Array(MAX_NOTIFICATIONS + 5).keys()].map(comment);
    const { number, url } = pullRequest;
    const merged: HostEvent = { key: 'merged:1', kind: 'merged', number, url };
    await objectOf(pullRequest).tell('gh', [...comments, merged], Date.now());
    serviceIsDown = false;
    // Each alarm sends some of them, and sets the next one.
    while (await runDurableObjectAlarm(objectOf(pullRequest)));
    expect(await ledgerUrls()).toContain(pullRequest.url);
    expect(published).toHaveLength(MAX_NOTIFICATIONS);
    const titles = ['opened', 'commented', 'merged'].map((event) => `octo/hello: pull request ${event}`);
    expect([...new Set(published.map(({ title }) => title))]).toEqual(titles);
  });

  it('leads to the page of the service, and names no address of the host', async () => {
    const pullRequest = newPullRequest();
    await objectOf(pullRequest).record(pullRequest, push('a'), Date.now());
    await objectOf(pullRequest).tell('gh', [comment(1)], Date.now());
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(published.map(({ click }) => click)).toEqual([pageOf(pullRequest), pageOf(pullRequest)]);
    expect(JSON.stringify(published)).not.toContain('host.test');
  });

  it('does not wait longer because a clock was set back', async () => {
    const pullRequest = newPullRequest();
    tooMany = 1;
    await objectOf(pullRequest).record(pullRequest, push('a'), Date.now());
    await runDurableObjectAlarm(objectOf(pullRequest));
    pass(-DAY_MS);
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(published).toHaveLength(1);
  });

  it('tells a second time of no pull request whose push did not come to its end', async () => {
    const pullRequest = newPullRequest();
    await objectOf(pullRequest).record(pullRequest, push('a'), Date.now());
    await objectOf(pullRequest).adopt(pullRequest, 1, Date.now());
    // Its branch stands where it stood.
    await objectOf(pullRequest).record(pullRequest, push('a'), Date.now());
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(published).toHaveLength(1);
    expect(await ledgerUrls()).toContain(pullRequest.url);
    expect(await trackedUrls()).toContain(pullRequest.url);
  });

  it('gives up on a notification after a week', async () => {
    const pullRequest = newPullRequest();
    serviceIsDown = true;
    await objectOf(pullRequest).record(pullRequest, push('b'), Date.now());
    pass(8 * DAY_MS);
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(await nextAlarm(pullRequest)).toBeNull();
  });
});

describe('events on the host', () => {
  it('are published each once, by their keys, also after a crash', async () => {
    const pullRequest = newPullRequest();
    await objectOf(pullRequest).record(pullRequest, push('a'), Date.now());
    expect(await objectOf(pullRequest).tell('gh', [comment(1), comment(2)], Date.now())).toBe(true);
    await restartObjects();
    const { number, url } = pullRequest;
    const merged: HostEvent = { key: 'merged:1', kind: 'merged', number, url };
    await objectOf(pullRequest).tell('gh', [comment(2), merged], Date.now());
    await runDurableObjectAlarm(objectOf(pullRequest));
    await objectOf(pullRequest).tell('gh', [comment(1), merged], Date.now());
    expect(await nextAlarm(pullRequest)).toBeNull();
    expect(published.slice(1)).toEqual([
      {
        topic: `anon-pr-${pullRequest.prHash}`,
        title: 'octo/hello: pull request commented',
        message: `Your anonymous pull request was commented on: ${pageOf(pullRequest)}`,
        click: pageOf(pullRequest),
      },
      expect.objectContaining({ title: 'octo/hello: pull request commented' }),
      {
        topic: `anon-pr-${pullRequest.prHash}`,
        title: 'octo/hello: pull request merged',
        message: `Your anonymous pull request was merged: ${pageOf(pullRequest)}`,
        click: pageOf(pullRequest),
      },
    ]);
  });

  it('are refused while no push has written the pull request down', async () => {
    const pullRequest = newPullRequest();
    expect(await objectOf(pullRequest).tell('gh', [comment(1)], Date.now())).toBe(false);
    expect(await nextAlarm(pullRequest)).toBeNull();
    await objectOf(pullRequest).record(pullRequest, push('a'), Date.now());
    expect(await objectOf(pullRequest).tell('gh', [comment(1)], Date.now())).toBe(true);
  });

  it('are published again when a crash leaves it open whether they were', async () => {
    const pullRequest = newPullRequest();
    await objectOf(pullRequest).record(pullRequest, push('b'), Date.now());
    await runDurableObjectAlarm(objectOf(pullRequest));
    await objectOf(pullRequest).tell('gh', [comment(1)], Date.now());
    answerIsLost = true;
    await runDurableObjectAlarm(objectOf(pullRequest));
    await restartObjects();
    answerIsLost = false;
    await runAlarm(pullRequest);
    const commented = expect.objectContaining({ title: 'octo/hello: pull request commented' });
    expect(published.slice(1)).toEqual([commented, commented]);
    expect(await nextAlarm(pullRequest)).toBeNull();
  });

  it('that come while others are being delivered do not wait for the next attempt of those', async () => {
    const pullRequest = newPullRequest();
    await objectOf(pullRequest).record(pullRequest, push('b'), Date.now());
    const at = Date.now() + 3 * HOUR_MS;
    serviceIsDown = true;
    duringPublishing = async () => void (await objectOf(pullRequest).tell('gh', [comment(1)], at));
    await runDurableObjectAlarm(objectOf(pullRequest));
    expect(await nextAlarm(pullRequest)).toBe(at);
  });
});
