import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { tokenHash } from '../../../src/durable/guard/tokens.ts';
import type { OperatorCredential } from '../../../src/durable/guard/guard.ts';
import type { RollbackResult } from '../../../src/durable/guard/rollback.ts';
import type { TokenProblem } from '../../../src/host/account/token-problems.ts';
import { pseudonymOf } from '../../../src/notify/alert.ts';
import type { Notification } from '../../../src/notify/ntfy.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import { OutgoingError } from '../../../src/outgoing/outgoing-error.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { HOUR_MS, MINUTE_MS, holdClock, pass } from '../../support/clock.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bindings = env as unknown as Env;
const PASSWORD = { kind: 'password' } as const;
const LIMITS = [{ most: 60, withinMs: MINUTE_MS }];
const SCOPE = { spareSingle: false, comments: false, issues: false };
const CLIENT = { hash: '0123abcd'.repeat(8), network: '192.0.2.77' };

/** Notifications that the service has taken, and whether it takes any. */
let published: Notification[] = [];
let serviceIsDown = false;
/** Happens before it refuses. */
let refuse: () => Promise<void> = async () => {};
let refusal: () => Response | Promise<Response> = () => new Response(null, { status: 503 });
let askedServers: string[] = [];
let count = 0;
/** Whether the host closes a pull request. */
let closes: (number: number) => boolean = () => false;
/** Whether it has merged it before. */
let merged = true;
const API = 'https://api.host.test';

beforeEach(() => {
  count += 1;
  published = [];
  serviceIsDown = false;
  holdClock();
  closes = () => false;
  merged = true;
  refuse = async () => {};
  refusal = () => new Response(null, { status: 503 });
  askedServers = [];
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (input, init) => {
    const url = input as string;
    if (url.startsWith(API)) {
      return closes(numberOf(url))
        ? Response.json({
            number: numberOf(url),
            state: 'closed',
            closed_at: '2026-11-21T15:00:00Z',
            merged,
          })
        : Response.json({ message: 'Not now' }, { status: 422 });
    }
    askedServers.push(url);
    if (serviceIsDown) {
      await refuse();
      return refusal();
    }
    published.push(JSON.parse(init?.body as string) as Notification);
    return new Response(null);
  });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Each test has one of its own. */
function guard() {
  return bindings.GUARD.get(bindings.GUARD.idFromName(`guard-${count}`));
}

/** Gives the object, which begins anew after a crash, its variables. */
async function configured(variables: Partial<Env> = { NOTIFY_ADMIN_TOPIC: 'operator' }) {
  await runInDurableObject(guard(), (instance) => {
    Object.assign(instance, {
      env: { ...bindings, SERVICE_URL: 'https://gitveil.test', HOSTING_API_URL: API, ...variables },
    });
  });
  return guard();
}

async function deliver(): Promise<void> {
  await runDurableObjectAlarm(guard());
}

function nextAlarm(): Promise<number | null> {
  return runInDurableObject(guard(), (_, state) => state.storage.getAlarm());
}

/** Until no alarm is set any more, however long that takes. */
async function deliverUntilQuiet(): Promise<void> {
  for (;;) {
    const at = await nextAlarm();
    if (at === null) return;
    vi.setSystemTime(Math.max(at, Date.now()));
    await deliver();
  }
}

async function alarm(times: number): Promise<void> {
  for (let time = 0; time < times; time++) await exceed(6);
}

function exceed(attempts: number): Promise<boolean> {
  const alert = { kind: 'rate-limit', client: pseudonymOf(CLIENT.hash), attempts, most: 5 } as const;
  return guard().tell(alert, Date.now(), CLIENT.network);
}

async function push(times: number, address = 'a'): Promise<void> {
  for (let time = 0; time < times; time++) await guard().admit(address, LIMITS, address);
}

function pullRequest(number: number) {
  const url = urlOf(number);
  const prHash = `${number}`.padStart(12, '0');
  return { kind: 'pull-request', prHash, host: 'gh', owner: 'octo', repo: 'hello', number, url } as const;
}

const urlOf = (number: number) => `https://host.test/octo/hello/pull/${number}`;
const numberOf = (url: string) => Number(url.split('/').at(-1));

const numbersOf = (urls: readonly string[]) => urls.map(numberOf).toSorted((a, b) => a - b);

/** Begins a rollback, and answers its result; null if the credential is not valid. */
async function begin(credential: OperatorCredential, scope = SCOPE): Promise<RollbackResult | null> {
  const id = await guard().beginRollback(credential, scope);
  return id === null ? null : guard().rollbackResult(id);
}

/** Its alarm carries it out. */
async function rollBackBy(credential: OperatorCredential, scope = SCOPE) {
  const result = begin(credential, scope);
  await expect.poll(nextAlarm).not.toBeNull();
  await deliver();
  return result;
}

/** Rolls back, and answers what that closes and fails to close. */
async function rollBack(more: Partial<typeof SCOPE> = {}) {
  const { closedUrls = [], failedUrls = [] } = (await rollBackBy(PASSWORD, { ...SCOPE, ...more })) ?? {};
  return { closed: numbersOf(closedUrls), failed: numbersOf(failedUrls) };
}

/** The host closes nothing, so everything stays. */
async function trackedNumbers(more: Partial<typeof SCOPE> = {}): Promise<number[]> {
  return (await rollBack(more)).failed;
}

/** The tokens of the buttons of an alert: activate, rollback, deactivate. */
function tokensOf({ actions = [] }: Notification): string[] {
  return actions.flatMap((action) =>
    action.action === 'http' ? (JSON.parse(action.body) as { token: string }).token : [],
  );
}

const byToken = (token: string | undefined) => ({ kind: 'token', hash: tokenHash(token ?? '') }) as const;

async function storedText(): Promise<string> {
  return runInDurableObject(guard(), (_, state) => {
    const tables = ['tokens', 'created', 'rollbacks'];
    const rows = tables.map((table) => state.storage.sql.exec(`SELECT * FROM ${table}`).toArray());
    return JSON.stringify([rows, [...state.storage.kv.list()]]);
  });
}

describe('the panic switch', () => {
  it('counts for the next push, and survives a restart', async () => {
    expect(await guard().status()).toMatchObject({ panicMode: false, writesSuspended: false });
    expect(await guard().setPanic(true, PASSWORD)).toBe(true);
    expect((await guard().admit('a', LIMITS, 'a')).panicMode).toBe(true);
    await restartObjects();
    expect((await guard().admit('a', LIMITS, 'a')).panicMode).toBe(true);
    expect(await guard().status()).toMatchObject({ panicMode: true, writesSuspended: false });
    await guard().setPanic(false, PASSWORD);
    await restartObjects();
    expect(await guard().status()).toMatchObject({ panicMode: false });
  });
});

describe('a burst', () => {
  it('of one client alone is told once in ten minutes, also across a restart', async () => {
    await configured();
    await push(30);
    await deliver();
    expect(published.map(({ message }) => message)).toEqual([
      expect.stringContaining(
        '20 pushes from 1 distinct IPs in the last 60 s. The most active client sent 20 of them.',
      ),
    ]);
    await restartObjects();
    await configured();
    pass(5 * MINUTE_MS);
    await push(20);
    await deliver();
    expect(published).toHaveLength(1);
    pass(5 * MINUTE_MS);
    await push(20);
    await deliver();
    expect(published).toHaveLength(2);
  });

  it('is told also while pushes are refused', async () => {
    await configured();
    await guard().setPanic(true, PASSWORD);
    await push(20);
    await deliver();
    expect(published).toHaveLength(1);
  });

  it('writes nothing for a push', async () => {
    await configured();
    const written = await runInDurableObject(guard(), async (instance, { storage }) => {
      const changes = () => storage.sql.exec<{ n: number }>('SELECT total_changes() AS n').one().n;
      const before = changes();
      for (let time = 0; time < 19; time++) await instance.admit('a', LIMITS, 'a');
      return changes() - before;
    });
    expect(written).toBe(0);
  });
});

describe('a flood of comments and issues', () => {
  it('is told at the fortieth within a minute, and again when it has doubled, apart from pushes', async () => {
    await configured();
    const post = async (times: number) => {
      for (let time = 0; time < times; time++) await guard().countPost(`${time % 5}`, `${time % 5}`);
      await deliver();
      return published.map(({ message }) => message.split('.')[0]);
    };
    await push(19);
    expect(await post(39)).toEqual([]);
    expect(await post(1)).toEqual([
      '40 comments and issues were posted from 5 distinct IPs in the last 60 s',
    ]);
    expect(await post(39)).toHaveLength(1);
    expect((await post(1))[1]).toBe(
      '80 comments and issues were posted from 5 distinct IPs in the last 60 s',
    );
    await push(1);
    await deliver();
    expect(published.at(-1)?.message).toContain('Suspicious burst: 20 pushes from 1 distinct IPs');
  });

  it('is told at the twentieth network', async () => {
    await configured();
    for (let network = 0; network < 20; network++) {
      await deliver();
      expect(published).toEqual([]);
      await guard().countPost(`${network}`, `${network}`);
    }
    await deliver();
    expect(published).toHaveLength(1);
  });
});

it('a burst of private reports is told at the fifth, apart from comments', async () => {
  await configured();
  await guard().countPost('a', 'a');
  for (let time = 0; time < 4; time++) await guard().countReport('a', 'a');
  await deliver();
  expect(published).toEqual([]);
  await guard().countReport('a', 'a');
  await deliver();
  expect(published.map(({ title }) => title)).toEqual(['Burst of private reports']);
});

describe('a rollback', () => {
  it('is told to the subscriber again if that failed', async () => {
    await configured();
    await guard().track(pullRequest(9), 'a', Date.now());
    const pullRequests = { getByName: () => ({}), idFromName: () => ({}), get: () => ({ tell }) };
    let isDown = true;
    let told = 0;
    const tell = async () => {
      if (isDown) throw new Error('out of reach');
      told += 1;
    };
    await configured({ PULL_REQUESTS: pullRequests as unknown as Env['PULL_REQUESTS'] });
    closes = () => true;
    merged = false;
    expect(await rollBack()).toEqual({ closed: [9], failed: [] });
    isDown = false;
    expect(await rollBack()).toEqual({ closed: [9], failed: [] });
    expect(told).toBe(1);
    expect(await rollBack()).toEqual({ closed: [], failed: [] });
  });

  it('counts those that it closes, and says nothing of one that was merged', async () => {
    const place = { host: 'gh', owner: 'octo', repo: 'hello' };
    const told: object[] = [];
    const tell = async (_host: string, events: object[]) => void told.push(...events);
    const pullRequests = { idFromName: () => ({}), get: () => ({ tell }) };
    await configured({ PULL_REQUESTS: pullRequests as unknown as Env['PULL_REQUESTS'] });
    closes = () => true;
    await guard().track(pullRequest(31), 'a', Date.now());
    expect(await rollBack()).toEqual({ closed: [31], failed: [] });
    expect([told.length, await guard().rolledBackIn(place)]).toEqual([0, 0]);
    merged = false;
    await guard().track(pullRequest(32), 'a', Date.now());
    expect(await rollBack()).toEqual({ closed: [32], failed: [] });
    expect([told.length, await guard().rolledBackIn({ ...place, owner: 'Octo' })]).toEqual([1, 1]);
    expect(await guard().rolledBackIn({ ...place, repo: 'other' })).toBe(0);
  });

  it('stops the delayed pushes of these two hours, unless it spares single clients', async () => {
    const since: number[] = [];
    const stopSince = async (at: number) => void since.push(at);
    const delayedPushes = { idFromName: () => ({}), get: () => ({ stopSince }) };
    await configured({ DELAYED_PUSHES: delayedPushes as unknown as Env['DELAYED_PUSHES'] });
    await rollBack({ spareSingle: true });
    expect(since).toEqual([]);
    await rollBack();
    expect(since).toEqual([Date.now() - 2 * HOUR_MS]);
  });

  it('begins with the pull requests', async () => {
    await configured();
    for (let number = 1; number <= 5; number++) {
      const { prHash: _, ...place } = pullRequest(number);
      await guard().track({ ...place, kind: 'comment' }, null, Date.now());
      pass(1);
    }
    await guard().track(pullRequest(6), 'a', Date.now());
    const asked: number[] = [];
    closes = (number) => asked.push(number) < 0;
    await rollBack({ comments: true });
    expect(asked[0]).toBe(6);
  });

  it('reaches back two hours, also across a restart', async () => {
    await configured();
    await guard().track(pullRequest(6), 'a', Date.now());
    await restartObjects();
    pass(2 * HOUR_MS - 1);
    expect(await trackedNumbers()).toEqual([6]);
    pass(1);
    expect(await trackedNumbers()).toEqual([]);
    await deliverUntilQuiet();
    expect(JSON.parse(await storedText())).toEqual([[[], [], []], []]);
  });

  it('reaches back no further for what a clock that is ahead has opened', async () => {
    await configured();
    await guard().track(pullRequest(20), 'a', Date.now() + HOUR_MS);
    pass(2 * HOUR_MS);
    expect(await trackedNumbers()).toEqual([]);
  });

  it('is carried out although its caller hung up and the guard restarted', async () => {
    await configured();
    await guard().track(pullRequest(10), 'a', Date.now());
    const id = await guard().beginRollback(PASSWORD, SCOPE);
    await restartObjects();
    await configured();
    closes = () => true;
    const result = guard().rollbackResult(id ?? '');
    await deliver();
    expect(await result).toEqual({ closedUrls: [urlOf(10)], failedUrls: [] });
    await restartObjects();
    await configured();
    expect(await guard().rollbackResult(id ?? '')).toBeNull();
    expect(await trackedNumbers()).toEqual([]);
  });

  it('is repeated if its end cannot be stored, and its caller does not wait for that', async () => {
    await configured();
    await guard().track(pullRequest(19), 'a', Date.now());
    const id = (await guard().beginRollback(PASSWORD, SCOPE)) ?? '';
    const result = guard().rollbackResult(id);
    const unstored = runInDurableObject(guard(), async (instance, { storage }) => {
      storage.sql.exec(
        "CREATE TRIGGER full BEFORE DELETE ON rollbacks BEGIN SELECT RAISE(ABORT, 'disk is full'); END",
      );
      const failed = await instance.alarm().then(
        () => null,
        (error: Error) => error.message,
      );
      storage.sql.exec('DROP TRIGGER full');
      return failed;
    });
    expect(await unstored).toContain('disk is full');
    expect(await result).toBeNull();
    closes = () => true;
    expect(await rollBack()).toEqual({ closed: [19], failed: [] });
  });

  it('does not wait for a notification service that takes nothing', async () => {
    await configured();
    await guard().track(pullRequest(11), 'a', Date.now());
    for (let attempt = 6; attempt < 26; attempt++) await exceed(attempt);
    closes = () => true;
    let begun: Promise<RollbackResult | null> | undefined;
    let tried = 0;
    refuse = async () => {
      tried += 1;
      begun ??= begin(PASSWORD);
      // It comes after the other call.
      await guard().status();
    };
    serviceIsDown = true;
    await deliver();
    expect(tried).toBe(1);
    await deliver();
    expect(await begun).toEqual({ closedUrls: [urlOf(11)], failedUrls: [] });
  });

  it('can leave alone the pull requests of clients that opened only one, and keeps no name of a client', async () => {
    await configured();
    for (const [number, client] of [
      [12, 'client-1'],
      [13, 'client-2'],
      [14, 'client-1'],
      [15, 'client-3'],
    ] as const) {
      await guard().track(pullRequest(number), client, Date.now());
    }
    expect(await trackedNumbers({ spareSingle: true })).toEqual([12, 14]);
    expect(await trackedNumbers()).toEqual([12, 13, 14, 15]);
    closes = (number) => number === 12;
    expect(await rollBack({ spareSingle: true })).toEqual({ closed: [12], failed: [14] });
    // Its client has opened two, even if one is closed.
    expect(await trackedNumbers({ spareSingle: true })).toEqual([14]);
    expect(await storedText()).not.toContain('client-1');
  });

  it('reaches comments and issues only if it is told to, and spares them with no client', async () => {
    await configured();
    await guard().track(pullRequest(21), 'client-1', Date.now());
    for (const [number, kind] of [
      [22, 'comment'],
      [23, 'issue'],
    ] as const) {
      const { prHash: _, ...place } = pullRequest(number);
      await guard().track({ ...place, kind }, null, Date.now());
    }
    expect(await trackedNumbers()).toEqual([21]);
    expect(await trackedNumbers({ comments: true })).toEqual([21, 22]);
    expect(await trackedNumbers({ issues: true })).toEqual([21, 23]);
    expect(await trackedNumbers({ comments: true, issues: true, spareSingle: true })).toEqual([22, 23]);
  });

  it('never takes two clients for one, also after a pull request that was counted before', async () => {
    await configured();
    for (const [number, client] of [
      [16, 'client-1'],
      [16, 'client-2'],
      [17, 'client-3'],
      [18, 'client-2'],
    ] as const) {
      await guard().track(pullRequest(number), client, Date.now());
    }
    expect(await trackedNumbers({ spareSingle: true })).toEqual([]);
  });

  it('still meets what it could not close, and each only once', async () => {
    await configured();
    await Promise.all([7, 8, 7].map((number) => guard().track(pullRequest(number), 'a', Date.now())));
    closes = (number) => number === 7;
    expect(await rollBack()).toEqual({ closed: [7], failed: [8] });
    expect(await rollBack()).toEqual({ closed: [], failed: [8] });
    closes = () => true;
    expect(await rollBack()).toEqual({ closed: [8], failed: [] });
    expect(await rollBack()).toEqual({ closed: [], failed: [] });
  });
});

describe('alerts of one kind', () => {
  it('come at most twenty times an hour, then one that sums up the rest, in the same life of the object or the next', async () => {
    await configured();
    await alarm(27);
    await deliver();
    expect(published).toHaveLength(20);
    await restartObjects();
    await configured();
    pass(HOUR_MS);
    await deliver();
    expect(published).toHaveLength(21);
    expect(published.at(-1)).toMatchObject({
      title: 'More alerts',
      message: expect.stringContaining('there were 7 more alerts about clients over the limit') as string,
    });
    await alarm(1);
    await deliver();
    expect(published).toHaveLength(22);
  });

  it(
    'are only counted while two hundred others wait, and what can be told later is told later',
    exhaustive,
    async () => {
      await configured();
      serviceIsDown = true;
      const news = {
        hash: '1a2b3c4d',
        state: 'flagged',
        reports: 3,
        comments: 1,
        repository: 'o/r',
      } as const;
      let taken = 0;
      for (let hour = 0; hour < 12; hour++) {
        for (let time = 0; time < 20; time++)
          if (await guard().tell({ kind: 'moderation', ...news })) taken += 1;
        pass(HOUR_MS + 1);
      }
      expect(taken).toBe(200);
      expect(await guard().tell({ kind: 'appeal', ...news, text: 'No.' })).toBe(false);
      await alarm(3);
      await push(20);
      serviceIsDown = false;
      pass(HOUR_MS);
      while (published.length < 202) {
        await deliver();
        pass(1);
      }
      expect(published[0]?.title).toBe('Suspicious burst of pushes');
      expect(published.at(-1)?.message).toContain('3 more alerts about clients');
      expect(await guard().tell({ kind: 'appeal', ...news, text: 'No.' })).toBe(true);
    },
  );

  it('leave at once, though the guard was to wake in hours', async () => {
    await configured();
    await guard().track(pullRequest(24), 'a', Date.now());
    expect(await nextAlarm()).toBe(Date.now() + 2 * HOUR_MS);
    await exceed(6);
    expect(await nextAlarm()).toBe(Date.now());
    await guard().track(pullRequest(25), 'a', Date.now());
    expect(await nextAlarm()).toBe(Date.now());
  });

  it('wait behind a burst', async () => {
    await configured();
    await alarm(20);
    await push(20);
    await deliver();
    expect(published[0]?.title).toBe('Suspicious burst of pushes');
  });
});

describe('the token of a button', () => {
  it('is good for its action only, once, for ten minutes', async () => {
    await configured();
    await exceed(6);
    await deliver();
    const [activate, rollback, deactivate] = tokensOf(published[0] as Notification);
    expect(await guard().setPanic(false, byToken(activate))).toBe(false);
    expect(await begin(byToken(activate))).toBeNull();
    expect(await guard().setPanic(true, byToken(rollback))).toBe(false);
    expect(await guard().setPanic(true, byToken(activate))).toBe(true);
    expect(await guard().setPanic(true, byToken(activate))).toBe(false);
    expect(await rollBackBy(byToken(rollback))).not.toBeNull();
    expect(await begin(byToken(rollback))).toBeNull();
    pass(10 * MINUTE_MS);
    expect(await guard().setPanic(false, byToken(deactivate))).toBe(false);
  });

  it('is not valid for longer when a clock was set back', async () => {
    await configured();
    await exceed(6);
    await deliver();
    const [activate] = tokensOf(published[0] as Notification);
    pass(-HOUR_MS);
    expect(await guard().setPanic(true, byToken(activate))).toBe(false);
  });

  it('is kept as a hash only', async () => {
    await configured();
    await exceed(6);
    await deliver();
    const tokens = tokensOf(published[0] as Notification);
    expect(new Set(tokens).size).toBe(3);
    const stored = await storedText();
    for (const token of tokens) {
      expect(token).toMatch(/^[0-9a-f]{32}$/);
      expect(stored).not.toContain(token);
      expect(stored).toContain(tokenHash(token));
    }
  });
});

describe('an alert', () => {
  it('is not raised without a topic', async () => {
    await configured({});
    await push(20);
    await exceed(6);
    await deliver();
    expect(published).toEqual([]);
    expect(await storedText()).not.toContain('rate-limit');
  });

  it('without a topic leaves nothing of a burst behind', async () => {
    await configured({});
    await push(20);
    expect(await storedText()).toContain('told burst');
    await deliverUntilQuiet();
    expect(await storedText()).not.toContain('told burst');
  });

  it('is dropped when its topic is taken away', async () => {
    await configured();
    await exceed(6);
    await configured({});
    await deliver();
    expect(published).toEqual([]);
    expect(await storedText()).not.toContain('rate-limit');
  });

  it('waits while the configuration is invalid, also one that is raised meanwhile', async () => {
    await configured();
    await exceed(6);
    await configured({ NOTIFY_ADMIN_TOPIC: 'operator', READ_TIMEOUT: '30sec' });
    await push(20);
    await deliver();
    expect(published).toEqual([]);
    expect(await nextAlarm()).not.toBeNull();
    await configured();
    pass(5 * MINUTE_MS);
    await deliver();
    expect(published).toHaveLength(2);
  });

  it('names the address, which is never stored', async () => {
    await configured();
    await exceed(6);
    expect(await storedText()).toContain('client-0123abcd');
    expect(await storedText()).not.toContain(CLIENT.network);
    await deliver();
    expect(published[0]?.message).toContain(`IP ${CLIENT.network} is over the limit`);
  });

  it('names it in the first attempt only', async () => {
    await configured();
    serviceIsDown = true;
    await exceed(6);
    await deliver();
    serviceIsDown = false;
    pass(MINUTE_MS);
    await deliver();
    expect(published.map(({ message }) => message)).toEqual([
      expect.stringContaining('IP client-0123abcd is over the limit'),
    ]);
  });

  it('names a pseudonym when the address is to be hidden', async () => {
    await configured({ NOTIFY_ADMIN_TOPIC: 'operator', ALERT_ADDRESS: 'hidden' });
    await exceed(6);
    await deliver();
    expect(published[0]?.message).toContain('IP client-0123abcd is over the limit');
  });

  it('waits for a notification service that is dead, with a pseudonym and new tokens', async () => {
    await configured();
    serviceIsDown = true;
    await exceed(6);
    await push(20);
    await deliver();
    expect(await guard().status()).toMatchObject({ panicMode: false });
    await restartObjects();
    await configured();
    pass(HOUR_MS);
    await deliver();
    serviceIsDown = false;
    pass(MINUTE_MS);
    await deliver();
    expect(published.map(({ message }) => message)).toEqual([
      expect.stringContaining('20 pushes'),
      expect.stringContaining('IP client-0123abcd is over the limit'),
    ]);
    const [activate] = tokensOf(published[1] as Notification);
    expect(await guard().setPanic(true, byToken(activate))).toBe(true);
    pass(MINUTE_MS);
    await deliver();
    expect(published).toHaveLength(2);
  });

  it('goes to the operator’s own server, waits for all as long as that asks, and a refusal is logged once', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    await configured({ NOTIFY_ADMIN_TOPIC: 'operator', NOTIFY_ADMIN_URL: 'https://alerts.test' });
    for (const [status, waitMs] of [
      [429, 120_000],
      // Each has waited longer, whichever of them was tried.
      [403, 10_000],
      [403, 20_000],
    ] as const) {
      refusal = () => new Response(null, { status, headers: status === 429 ? { 'Retry-After': '120' } : {} });
      serviceIsDown = true;
      if (status === 429) {
        await exceed(6);
        await exceed(7);
      }
      await deliver();
      expect(await nextAlarm()).toBe(Date.now() + waitMs);
      pass(waitMs);
    }
    serviceIsDown = false;
    await deliver();
    expect(published).toHaveLength(2);
    expect(new Set(askedServers)).toEqual(new Set(['https://alerts.test/']));
    // One attempt of one alert each time, and both at last.
    expect(askedServers).toHaveLength(5);
    expect(log.mock.calls.filter(([line]) => String(line).includes('takes no messages'))).toHaveLength(1);
  });

  it('that does not arrive is known since the first failure, with the reason, until one arrives', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    await configured({ NOTIFY_ADMIN_TOPIC: 'operator', NOTIFY_ADMIN_URL: 'https://silent.test' });
    expect(await guard().alertState()).toEqual({ waiting: 0, trouble: null });
    const since = Date.now();
    await exceed(6);
    serviceIsDown = true;
    for (const [fails, trouble] of [
      [() => Promise.reject(new DOMException('late', 'TimeoutError')), { reason: 'no-answer', status: null }],
      [async () => new Response(null, { status: 429 }), { reason: 'too-many', status: 429 }],
      [async () => new Response(null, { status: 429 }), { reason: 'too-many', status: 429 }],
      [async () => new Response(null, { status: 401 }), { reason: 'refused', status: 401 }],
      [() => Promise.reject(new OutgoingError('unreachable', '')), { reason: 'unreachable', status: null }],
    ] as const) {
      refusal = fails;
      await deliver();
      expect(await guard().alertState()).toEqual({ waiting: 1, trouble: { ...trouble, since } });
      pass(HOUR_MS / 4);
    }
    const lines = log.mock.calls
      .map(([line]) => String(line))
      .filter((line) => line.includes('takes no messages'));
    expect(lines.map((line) => /"reason":"([a-z-]+)"|reason=(\S+)/.exec(line)?.slice(1).join(''))).toEqual([
      'too-many',
      'refused',
      'unreachable',
    ]);
    await restartObjects();
    await configured();
    expect(await guard().alertState()).toMatchObject({ trouble: { reason: 'unreachable', since } });
    serviceIsDown = false;
    pass(HOUR_MS);
    await deliver();
    expect(await guard().alertState()).toEqual({ waiting: 0, trouble: null });
  });

  it('can be tried at any time, without buttons, and says why it was not taken', async () => {
    await configured({ NOTIFY_ADMIN_TOPIC: '' });
    expect(await guard().testAlert()).toBe('nobody');
    await configured();
    expect(await guard().testAlert()).toBeNull();
    expect(published).toMatchObject([{ title: 'A test alert', click: 'https://gitveil.test/admin' }]);
    expect(published[0]).not.toHaveProperty('actions');
    serviceIsDown = true;
    refusal = () => new Response(null, { status: 403 });
    expect(await guard().testAlert()).toEqual({ reason: 'refused', status: 403 });
    expect(await guard().alertState()).toMatchObject({ waiting: 0, trouble: { reason: 'refused' } });
  });

  it('does not wait for longer when a clock was set back', async () => {
    await configured();
    serviceIsDown = true;
    await exceed(6);
    await deliver();
    serviceIsDown = false;
    pass(-24 * HOUR_MS);
    await deliver();
    expect(published).toHaveLength(1);
  });

  it('is tried again at growing distances, and given up after a week', async () => {
    await configured();
    serviceIsDown = true;
    await exceed(6);
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      await deliver();
      const at = await nextAlarm();
      waits.push(((at ?? 0) - Date.now()) / 1000);
      vi.setSystemTime(at ?? 0);
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
    pass(7 * 24 * HOUR_MS);
    await deliver();
    expect(await storedText()).not.toContain('rate-limit');
  });
});

describe('a token with a problem', () => {
  const PLACE = { hostName: 'berg.test', variable: 'HOSTING_TOKEN_CB' };

  it('is told once until it is well again, whoever finds it out, and without buttons', async () => {
    await configured();
    const problems: TokenProblem[] = ['no-workflow', 'expires-soon'];
    await guard().tokenProblems('bot', PLACE, problems);
    await guard().tokenProblems('bot', PLACE, problems);
    await deliver();
    for (let day = 1; day <= 3; day++) {
      pass(24 * HOUR_MS);
      await guard().tokenProblems('bot', PLACE, problems);
    }
    expect((await guard().status()).accountProblems).toEqual({ bot: problems });
    await deliver();
    expect(published).toHaveLength(1);
    expect(published[0]?.message).toMatch(
      /^The token of the bot account at berg\.test lacks the scope workflow, .*; it expires within a week\. Set another HOSTING_TOKEN_CB\. /,
    );
    expect(published[0]?.actions).toBeUndefined();
    await guard().tokenProblems('bot', PLACE, []);
    expect((await guard().status()).accountProblems).toEqual({});
    await guard().tokenProblems('bot', PLACE, problems);
    expect((await guard().status()).accountProblems).toEqual({ bot: problems });
    await deliver();
    expect(published).toHaveLength(2);
    // It comes and goes.
    await guard().tokenProblems('bot', PLACE, []);
    await guard().tokenProblems('bot', PLACE, problems);
    await deliver();
    expect(published).toHaveLength(2);
  });

  it('is known for as long as anybody finds it, whoever found it first', async () => {
    await configured();
    await guard().tokenProblems('bot', PLACE, ['no-workflow']);
    pass(23 * HOUR_MS);
    await guard().tokenProblems('bot', PLACE, ['no-workflow']);
    pass(23 * HOUR_MS);
    expect((await guard().status()).accountProblems).toEqual({ bot: ['no-workflow'] });
    pass(2 * HOUR_MS);
    expect((await guard().status()).accountProblems).toEqual({});
  });

  it('is told again when a clock was set back, and not only when that day comes again', async () => {
    await configured();
    await guard().tokenProblems('bot', PLACE, ['rejected']);
    pass(-30 * 24 * HOUR_MS);
    await guard().tokenProblems('bot', PLACE, ['rejected']);
    await deliver();
    expect(published).toHaveLength(2);
  });

  it('is known together with what was found out by looking at the profile, which is reported by itself', async () => {
    await configured();
    await guard().tokenProblems('bot', PLACE, ['no-workflow']);
    await guard().tokenProblems('bot:profile', PLACE, ['hidden']);
    expect((await guard().status()).accountProblems).toEqual({ bot: ['no-workflow', 'hidden'] });
    await guard().tokenProblems('bot', PLACE, []);
    expect((await guard().status()).accountProblems).toEqual({ bot: ['hidden'] });
    await guard().tokenProblems('bot:profile', PLACE, []);
    expect((await guard().status()).accountProblems).toEqual({});
    await deliver();
    expect(published.map(({ title, priority }) => [title, priority])).toEqual([
      ['Something is wrong with the token', 4],
      ['The bot account is hidden', 5],
    ]);
    expect(published[1]?.message).toMatch(
      / nobody else sees .* Sign in to the host as the bot, and ask its support/,
    );
  });

  it('is not what a new name is, which is told with both names and without buttons', async () => {
    await configured();
    await guard().tell({ kind: 'renamed', hostName: 'berg.test', before: 'veil-bot', login: 'veil-bot-2' });
    await deliver();
    expect(published[0]?.message).toMatch(
      /^The bot account at berg\.test is called veil-bot-2 now, and was veil-bot\. /,
    );
    expect(published[0]?.actions).toBeUndefined();
  });

  it('is not what a wrong clock is, which is told once a day', async () => {
    await configured();
    for (const byMs of [-7 * 60_000, null]) await guard().clockApart(byMs);
    await deliver();
    expect(published.map(({ title }) => title)).toEqual(['The clocks differ']);
    expect(published[0]?.message).toContain(
      "The clock of this service is 7 minutes ahead of the code host's.",
    );
    expect(published[0]?.actions).toBeUndefined();
  });

  it('is told of each account by itself, and a suspended one as what it is', async () => {
    await configured();
    await guard().tokenProblems('one', PLACE, ['suspended']);
    await guard().tokenProblems('other', PLACE, ['rejected']);
    await guard().tokenProblems('one', PLACE, ['suspended']);
    await deliver();
    expect(published.map(({ title, priority }) => [title, priority])).toEqual([
      ['The bot account is suspended', 5],
      ['Something is wrong with the token', 4],
    ]);
    await restartObjects();
    expect((await guard().status()).accountProblems).toEqual({ one: ['suspended'], other: ['rejected'] });
    pass(25 * HOUR_MS);
    expect((await guard().status()).accountProblems).toEqual({});
  });
});

const told = () => published.map(({ message }) => /^(\d+) push/.exec(message)?.[1]);

function tokenIn({ actions = [] }: Notification): string {
  return new URL(actions[0]?.url ?? '').searchParams.get('token') ?? '';
}

describe('pushes that wait for the operator', () => {
  it('are told at once, and then once an hour at most, with as many as there are', async () => {
    await configured();
    await guard().toReview(1);
    await deliver();
    expect(told()).toEqual(['1']);
    for (const waiting of [2, 3, 4]) {
      pass(10 * 60_000);
      await guard().toReview(waiting);
      await deliver();
    }
    expect(told()).toEqual(['1']);
    pass(30 * 60_000);
    await deliver();
    expect(told()).toEqual(['1', '4']);
    pass(HOUR_MS - 1);
    await guard().toReview(5);
    await deliver();
    expect(told()).toEqual(['1', '4']);
    pass(1);
    await deliver();
    expect(told()).toEqual(['1', '4', '5']);
    pass(2 * HOUR_MS);
    await guard().toReview(6);
    await deliver();
    expect(told()).toEqual(['1', '4', '5', '6']);
  });

  it('leave no trace of when they came', async () => {
    await configured();
    await guard().toReview(1);
    await deliver();
    expect(published[0]?.message).not.toMatch(/\d\d:\d\d/);
    pass(HOUR_MS);
    await deliver();
    const kept = await runInDurableObject(guard(), (_, { storage }) => [...storage.kv.list()]);
    expect(kept).toEqual([]);
  });

  it('are not told of any more once the operator looks at them', async () => {
    await configured();
    await guard().toReview(1);
    await deliver();
    await guard().toReview(2);
    expect(await guard().accepts(PASSWORD, 'review')).toBe(true);
    pass(HOUR_MS);
    await deliver();
    expect(told()).toEqual(['1']);
  });

  it('are opened by the token of the alert: once, within ten minutes, and by no other', async () => {
    await configured();
    await guard().toReview(1);
    await alarm(1);
    await deliver();
    const [review, other] = published as [Notification, Notification];
    const token = tokenIn(review);
    expect(await guard().accepts(byToken(tokensOf(other)[0]), 'review')).toBe(false);
    expect(await guard().setPanic(true, byToken(token))).toBe(false);
    expect(await guard().accepts(byToken(token), 'review')).toBe(true);
    expect(await guard().accepts(byToken(token), 'review')).toBe(false);
    pass(2 * HOUR_MS);
    await guard().toReview(1);
    await deliver();
    pass(10 * 60_000);
    expect(await guard().accepts(byToken(tokenIn(published.at(-1) as Notification)), 'review')).toBe(false);
  });

  it('are told to nobody without a topic', async () => {
    await configured({ NOTIFY_ADMIN_TOPIC: '' });
    await guard().toReview(1);
    expect(await nextAlarm()).toBeNull();
  });
});
