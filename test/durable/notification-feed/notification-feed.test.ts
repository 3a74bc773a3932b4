import { applyD1Migrations, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import {
  CALLS_PER_HOUR,
  ISSUES_PER_HOUR,
  READS_PER_HOUR,
  type SpentCalls,
} from '../../../src/events/feed-cursor.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { API, BOT, FakeActivity } from '../support/fake-activity.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const PUSH = {
  tip: 'a',
  dates: { committedAt: 1_800_000_000, commitHashes: new Uint8Array() },
  lease: null,
};
const CLOSED_AT = '2026-01-01T00:00:00Z';

let host: FakeActivity;
let logged: string[];
/** The minute of the last run. */
let cronTime: number;
let count = 0;

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  host = new FakeActivity();
  count += 1;
  // In the middle of an hour, so that no test spends the calls of two; and ahead of the clock, so
  // that by itself no alarm goes off within a test.
  cronTime = (Math.floor(Date.now() / HOUR_MS) + 1.5) * HOUR_MS;
  vi.setSystemTime(cronTime);
  logged = [];
  vi.spyOn(console, 'log').mockImplementation((line) => void logged.push(String(line)));
});

// The fake stays in place of `fetch`: an outbox may deliver after its test, and must not reach for
// the internet.
afterEach(() => {
  vi.useRealTimers();
});

/** Each test has one of its own: they share the storage. */
function feedObject() {
  return bindings.NOTIFICATION_FEED.get(bindings.NOTIFICATION_FEED.idFromName(`feed-${count}`));
}

/** Gives the object, which begins anew after a crash, its variables. */
async function prepare(variables: Partial<Env> = { HOSTING_TOKEN: 'secret' }): Promise<void> {
  await runInDurableObject(feedObject(), (instance) => {
    Object.assign(instance, { env: { ...bindings, HOSTING_API_URL: API, LOG_FORMAT: 'text', ...variables } });
  });
}

/** The next minute's run. */
async function run(variables?: Partial<Env>): Promise<void> {
  await prepare(variables);
  cronTime += MINUTE_MS;
  await feedObject().run('gh', cronTime);
}

function objectOf(prHash: string) {
  return bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(prHash));
}

/** A pull request that the service opened, and told about. */
async function openPull() {
  const number = host.pulls.length + 1;
  const prHash = `${count.toString(16).padStart(4, '0')}${number.toString(16).padStart(8, '0')}`;
  const pull = host.pull(number, `anon-${prHash}`);
  const record = {
    prHash,
    host: 'gh',
    owner: 'octo',
    repo: 'hello',
    number,
    url: host.urlOf(pull),
    fork: null,
  };
  await objectOf(prHash).record(record, PUSH, Date.now());
  await deliver(prHash);
  host.published.length = 0;
  return { ...record, pull };
}

/** Lets the outbox of a pull request deliver. */
async function deliver(prHash: string): Promise<void> {
  await runDurableObjectAlarm(objectOf(prHash));
}

function messagesOf(prHash: string): string[] {
  return host.published.filter(({ topic }) => topic === `anon-pr-${prHash}`).map(({ message }) => message);
}

/** The sentence that the topic has for an event. */
const message = (prHash: string, event: string): string =>
  `Your anonymous pull request was ${event}: http://127.0.0.1:8080/v1/pr/${prHash}`;

/** Paths without query that were asked for since the last call. */
function asked(): string[] {
  return host.requests.splice(0).map(({ path }) => path.split('?')[0] ?? '');
}

const hide = (path: string) => (path.endsWith('/pulls/1') ? Response.json({}, { status: 404 }) : undefined);

function failure(): Response {
  return Response.json({ message: 'secret path /home/ada' }, { status: 500 });
}

describe('a run', () => {
  it('shows a reopening, of which no topic is told', async () => {
    const { prHash, pull } = await openPull();
    const state = async () => (await objectOf(prHash).view())?.state;
    pull.closedAt = CLOSED_AT;
    await run();
    expect(await state()).toBe('closed');
    vi.setSystemTime(Date.now() + 5_000);
    pull.closedAt = null;
    pull.updatedAt += 1000;
    await run();
    expect(await state()).toBe('open');
    await deliver(prHash);
    expect(messagesOf(prHash)).toHaveLength(1);
  });

  it('publishes comments, reviews and the closing, each once, however often it runs', async () => {
    const { prHash, pull } = await openPull();
    pull.comments.push({ id: 5, author: 'mona' }, { id: 6, author: BOT });
    pull.reviews.push({ id: 7, author: 'mona' });
    await run();
    await deliver(prHash);
    pull.closedAt = CLOSED_AT;
    pull.updatedAt += 1000;
    await run();
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toEqual([
      message(prHash, 'commented on'),
      message(prHash, 'commented on'),
      message(prHash, 'closed'),
    ]);
    expect(logged).toEqual([]);
  });

  it('reads the newest of a flood, and the next one goes on from there', async () => {
    host.pageSize = 1;
    const { prHash, pull } = await openPull();
    for (let number = 2; number <= 120; number++) {
      Object.assign(host.pull(number, 'main'), { author: 'mallory', updatedAt: pull.updatedAt - 1000 });
    }
    Object.assign(pull, { closedAt: CLOSED_AT, reason: 'author' });
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toEqual([message(prHash, 'closed')]);
    asked();
    await run();
    expect(asked().filter((path) => path === '/notifications')).toHaveLength(1);
    expect(logged).toEqual([]);
  });

  it('reads all pages of the feed', async () => {
    host.pageSize = 2;
    const opened = [await openPull(), await openPull(), await openPull(), await openPull(), await openPull()];
    for (const { pull } of opened) pull.mergedAt = CLOSED_AT;
    await run();
    for (const { prHash } of opened) {
      await deliver(prHash);
      expect(messagesOf(prHash)).toEqual([message(prHash, 'merged')]);
    }
  });

  it('asks only for what was said since the last time', async () => {
    const { prHash, pull } = await openPull();
    pull.comments.push({ id: 5, author: 'mona' });
    await run();
    vi.setSystemTime(Date.now() + 24 * HOUR_MS);
    const touchedBefore = pull.updatedAt;
    pull.updatedAt = Date.now() - 60_000;
    pull.comments.push({ id: 6, author: 'mona' });
    asked();
    await run();
    const read = host.requests.find(({ path }) => path.includes('/comments'));
    const since = Date.parse(new URLSearchParams(read?.path.split('?')[1]).get('since') ?? '');
    expect(touchedBefore - since).toBeGreaterThan(0);
    expect(touchedBefore - since).toBeLessThan(2 * HOUR_MS);
    await deliver(prHash);
    expect(messagesOf(prHash)).toHaveLength(2);
  });

  it('asks only whether the feed has changed, and nothing more if it has not', async () => {
    await openPull();
    await run();
    asked();
    await run();
    expect(host.requests[0]?.headers.get('if-modified-since')).toBe(
      new Date(host.pulls[0]!.updatedAt).toUTCString(),
    );
    expect(asked()).toEqual(['/notifications']);
  });

  it('never marks anything on the host', async () => {
    const { pull } = await openPull();
    pull.closedAt = CLOSED_AT;
    await run();
    expect(new Set(host.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  });

  it('does not ask more often than the host allows', async () => {
    await openPull();
    host.pollInterval = '180';
    await run();
    asked();
    await run();
    await run();
    expect(asked()).toEqual([]);
    await run();
    expect(asked()).not.toEqual([]);
  });

  it('does nothing without a token', async () => {
    await openPull();
    await run({});
    expect(asked()).toEqual([]);
  });

  it('looks again at what changed a moment ago: the same second may bring more', async () => {
    const { prHash, pull } = await openPull();
    pull.updatedAt = Date.now();
    pull.comments.push({ id: 5, author: 'mona' });
    await run();
    pull.comments.push({ id: 6, author: 'mona' });
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toHaveLength(2);
  });
});

describe('a pull request without a record', () => {
  it('is told once its push has written it down', async () => {
    const { pull } = await openPull();
    const prHash = 'ffffffff0001';
    Object.assign(pull, { branch: `anon-${prHash}`, closedAt: CLOSED_AT });
    await run();
    const record = {
      prHash,
      host: 'gh',
      owner: 'octo',
      repo: 'hello',
      number: 1,
      url: host.urlOf(pull),
      fork: null,
    };
    await objectOf(prHash).record(record, PUSH, Date.now());
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toEqual([
      expect.stringContaining('was opened'),
      expect.stringContaining('was closed'),
    ]);
  });

  it('is let go after ten minutes', async () => {
    host.pull(1, 'anon-ffffffff0002').closedAt = CLOSED_AT;
    await run();
    vi.setSystemTime(Date.now() + 10 * MINUTE_MS);
    await run();
    asked();
    await run();
    expect(asked()).toEqual(['/notifications']);
  });

  it('hears nothing, even if its branch has the name of another', async () => {
    const { prHash } = await openPull();
    Object.assign(host.pull(99, `anon-${prHash}`), { author: 'mallory', closedAt: CLOSED_AT });
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toEqual([]);
  });
});

describe('when the host fails', () => {
  it.each([
    ['at the feed', '/notifications'],
    ['at the account', '/user'],
    ['at the pull request', '/repos/octo/hello/pulls/1'],
    ['at the comments', '/repos/octo/hello/issues/1/comments'],
    ['at the reviews', '/repos/octo/hello/pulls/1/reviews'],
  ])('%s, the next run makes up for it', async (_where, failing) => {
    const { prHash, pull } = await openPull();
    pull.closedAt = CLOSED_AT;
    host.disturb = (path) => (path === failing ? failure() : undefined);
    await run();
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toEqual([]);
    host.disturb = () => undefined;
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toHaveLength(1);
    const failed =
      / warn could not read what happened to the pull requests host=gh error=HostError status=500$/;
    expect(logged.filter((line) => failed.test(line))).toHaveLength(2);
  });

  it('at one pull request, the others are told all the same', async () => {
    const [first, second] = [await openPull(), await openPull()];
    first.pull.updatedAt -= 1000;
    first.pull.closedAt = second.pull.closedAt = CLOSED_AT;
    host.disturb = (path) => (path.endsWith('/pulls/1') ? failure() : undefined);
    await run();
    await run();
    await deliver(second.prHash);
    expect(messagesOf(second.prHash)).toHaveLength(1);
  });

  it(
    'at one pull request for ever, the others are told in the same run, and it is asked ever more rarely',
    exhaustive,
    async () => {
      const [first, second] = [await openPull(), await openPull()];
      first.pull.updatedAt -= 1000;
      for (const { pull } of [first, second]) Object.assign(pull, { closedAt: CLOSED_AT, reason: 'author' });
      host.disturb = (path) =>
        path.endsWith('/pulls/1')
          ? Response.json({ message: 'Resource not accessible' }, { status: 403 })
          : undefined;
      await run();
      await deliver(second.prHash);
      expect(messagesOf(second.prHash)).toHaveLength(1);
      asked();
      for (let minute = 0; minute < 60; minute++) await run();
      const looks = asked().filter((path) => path.endsWith('/pulls/1'));
      expect(looks.length).toBeGreaterThan(3);
      expect(looks.length).toBeLessThan(15);
      // It is not given up.
      host.disturb = () => undefined;
      for (let minute = 0; minute < 60; minute++) await run();
      await deliver(first.prHash);
      expect(messagesOf(first.prHash)).toHaveLength(1);
    },
  );

  it('with something else than a pull request, the others are told in the same run', async () => {
    const [first, second] = [await openPull(), await openPull()];
    first.pull.updatedAt -= 1000;
    first.pull.closedAt = second.pull.closedAt = CLOSED_AT;
    host.disturb = (path) => (path.endsWith('/pulls/1') ? Response.json([]) : undefined);
    await run();
    await deliver(second.prHash);
    expect(messagesOf(second.prHash)).toHaveLength(1);
  });

  it('to answer at all, it is not asked for the others', async () => {
    for (const { pull } of [await openPull(), await openPull()]) pull.closedAt = CLOSED_AT;
    host.disturb = (path) =>
      path.includes('/pulls/') ? Promise.reject(new TypeError('no answer')) : undefined;
    await run();
    expect(asked().filter((path) => path.includes('/pulls/'))).toHaveLength(1);
  });

  it.each<[what: string, entry: object]>([
    ['no repository', { repository: null }],
    ['a repository without a name', { repository: { owner: { login: 'octo' } } }],
    ['no subject', { subject: null }],
    ['a subject without an address', { subject: { type: 'PullRequest', url: null } }],
    ['no date', { updated_at: null }],
    ['a date that is none', { updated_at: 'yesterday' }],
    ['no number', { id: null }],
  ])('to show what an entry of the feed is about (%s), the others are read', async (_, changed) => {
    const { prHash, pull } = await openPull();
    pull.closedAt = CLOSED_AT;
    const entry = {
      id: 'thread-1',
      reason: 'author',
      updated_at: '2026-01-01T00:00:00Z',
      subject: { type: 'PullRequest', url: `${API}/repos/octo/hello/pulls/1` },
      repository: { name: 'hello', owner: { login: 'octo' } },
    };
    const now = `${new Date(Date.now() - MINUTE_MS).toISOString().slice(0, 19)}Z`;
    host.disturb = (path) =>
      path === '/notifications'
        ? Response.json([
            { ...entry, id: 'odd', ...changed },
            { ...entry, updated_at: now },
          ])
        : undefined;
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toHaveLength(1);
    expect(logged).toEqual([]);
  });

  it('to show one of its own, as in a repository that is private for an hour, its end is told later', async () => {
    const { prHash, pull } = await openPull();
    pull.reason = 'author';
    pull.closedAt = CLOSED_AT;
    host.disturb = hide;
    await run();
    await run();
    host.disturb = () => undefined;
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toEqual([message(prHash, 'closed')]);
  });

  it('to show what may be anybody’s for some minutes, its end is told later', async () => {
    const { prHash, pull } = await openPull();
    pull.closedAt = CLOSED_AT;
    host.disturb = hide;
    await run();
    host.disturb = () => undefined;
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toEqual([message(prHash, 'closed')]);
  });

  it('for good to show what may be anybody’s, it is looked at eight times', async () => {
    await openPull();
    host.disturb = hide;
    for (let minute = 0; minute < 60; minute++) {
      await run();
      vi.setSystemTime(Date.now() + MINUTE_MS);
    }
    expect(asked().filter((path) => path.endsWith('/pulls/1'))).toHaveLength(8);
    expect(logged).toEqual([]);
  });

  it('with a request to slow down, it is left alone for that long', async () => {
    const { prHash, pull } = await openPull();
    pull.closedAt = CLOSED_AT;
    host.disturb = () => Response.json({}, { status: 429, headers: { 'retry-after': '120' } });
    // An account of its own: it is the account that is left alone.
    const account = { HOSTING_TOKEN: 'another-bot' };
    await run(account);
    host.disturb = () => undefined;
    asked();
    await run(account);
    expect(asked()).toEqual([]);
    vi.setSystemTime(Date.now() + 120_000);
    await run(account);
    await deliver(prHash);
    expect(messagesOf(prHash)).toHaveLength(1);
  });
});

function touchAll(): void {
  host.pulls.forEach((pull) => {
    pull.updatedAt = Date.now() - MINUTE_MS;
  });
}

/** Calls to the host in one run. */
async function cost(): Promise<number> {
  asked();
  await run();
  return asked().length;
}

describe('mentions in pull requests of strangers', () => {
  it('cost one look each, later one read for each change, and none when those of the hour are used up', async () => {
    for (let number = 1; number <= 50; number++) host.pull(number, 'main').author = 'mallory';
    const first = await cost();
    expect(first).toBeGreaterThanOrEqual(50);
    expect(first).toBeLessThanOrEqual(60);
    vi.setSystemTime(Date.now() + 2 * MINUTE_MS);
    touchAll();
    const later = await cost();
    expect(later).toBeGreaterThanOrEqual(50);
    expect(later).toBeLessThanOrEqual(55);
    await restartObjects();
    await runInDurableObject(feedObject(), (_, { storage: { kv } }) => {
      kv.put('spent', { ...kv.get<SpentCalls>('spent'), reads: READS_PER_HOUR });
    });
    vi.setSystemTime(Date.now() + 2 * MINUTE_MS);
    touchAll();
    expect(await cost()).toBeLessThanOrEqual(5);
  });
});

describe('an issue that the bot has opened', () => {
  it('is read even if mentions have used up their reads, from before its first change', async () => {
    const hour = Math.floor(Date.now() / HOUR_MS);
    const spend = (spent: Partial<SpentCalls>) =>
      runInDurableObject(feedObject(), (_, { storage: { kv } }) => {
        kv.put('spent', { hour, calls: 0, looks: 0, ...spent });
      });
    const issue = Object.assign(host.pull(1, ''), { type: 'Issue', updatedAt: Date.now() - 40 * MINUTE_MS });
    const [first, isRead] = [issue.updatedAt, () => host.requests.find(({ path }) => path.includes('/comm'))];
    await spend({ issues: ISSUES_PER_HOUR, reads: READS_PER_HOUR });
    await run();
    // Only now the host says that it is the bot's.
    Object.assign(issue, { reason: 'author', updatedAt: Date.now() - 5 * MINUTE_MS });
    await run();
    expect(isRead()).toBeUndefined();
    await spend({ reads: READS_PER_HOUR });
    await run();
    const since = new URLSearchParams(isRead()?.path.split('?')[1]).get('since') ?? '';
    expect(Date.parse(since)).toBeLessThan(first);
  });
});

describe('the calls of an hour', () => {
  it('go to the pull requests that the bot opened first', async () => {
    const { prHash, pull } = await openPull();
    Object.assign(pull, { closedAt: CLOSED_AT, reason: 'author' });
    for (let number = 2; number <= 80; number++) {
      Object.assign(host.pull(number, 'main'), { author: 'mallory', updatedAt: pull.updatedAt - 1000 });
    }
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toHaveLength(1);
  });

  it('are no more than allowed: what is left over is told in the next one, and the log says so once', async () => {
    const hour = Math.floor(Date.now() / HOUR_MS);
    const { prHash, pull } = await openPull();
    pull.closedAt = CLOSED_AT;
    await runInDurableObject(feedObject(), (_, state) => {
      state.storage.kv.put('spent', { hour, calls: CALLS_PER_HOUR - 1, looks: 0 });
    });
    await run();
    await run();
    expect(asked()).toEqual(['/notifications']);
    expect(logged).toEqual([expect.stringMatching(/ warn following pull requests has used up its calls/)]);
    vi.setSystemTime((hour + 1) * HOUR_MS);
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toHaveLength(1);
  });
});

describe('a crash', () => {
  it('after an event was handed on and before that was noted does not tell it twice', async () => {
    const { prHash, pull } = await openPull();
    pull.closedAt = CLOSED_AT;
    await run();
    await runInDurableObject(feedObject(), (_, state) => {
      state.storage.sql.exec('UPDATE threads SET examined_at = 0');
    });
    await restartObjects();
    asked();
    await run();
    await deliver(prHash);
    expect(asked()).toContain('/repos/octo/hello/pulls/1');
    expect(messagesOf(prHash)).toEqual([message(prHash, 'closed')]);
  });

  it('before a pull request was examined loses no event, even if the feed shows it no more', async () => {
    const { prHash, pull } = await openPull();
    pull.closedAt = CLOSED_AT;
    host.disturb = (path) => (path.includes('/pulls/') ? Response.json({}, { status: 502 }) : undefined);
    await run();
    await restartObjects();
    pull.updatedAt = 0;
    host.disturb = () => undefined;
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toHaveLength(1);
  });

  it('before the first answer does not move the beginning', async () => {
    const { prHash, pull } = await openPull();
    pull.closedAt = CLOSED_AT;
    host.disturb = () => Response.json({}, { status: 502 });
    await run();
    await restartObjects();
    host.disturb = () => undefined;
    vi.setSystemTime(Date.now() + 3 * HOUR_MS);
    await run();
    await deliver(prHash);
    expect(messagesOf(prHash)).toHaveLength(1);
  });
});

describe('two runs at once', () => {
  it('are one', async () => {
    const { prHash, pull } = await openPull();
    pull.closedAt = CLOSED_AT;
    await Promise.all([run(), run()]);
    await deliver(prHash);
    expect(messagesOf(prHash)).toHaveLength(1);
    expect(asked().filter((path) => path === '/notifications')).toHaveLength(1);
  });
});
