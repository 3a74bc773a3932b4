/**
 * Objects whose work has ended leave nothing behind: no timer and no open connection, as either
 * keeps it awake, and billed. The server at the other end answers whatever it is asked.
 */
import { applyD1Migrations, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import { withDeadline } from '../../src/isolate/within.ts';
import { writeClaim } from '../../src/limits/claim.ts';
import { Connection } from '../../src/outgoing/connection.ts';
import { ConnectionPool } from '../../src/outgoing/connection-pool.ts';
import { FakeServer } from '../outgoing/support/fake-server.ts';
import { HOUR_MS, holdClock } from '../support/clock.ts';
import { headText } from '../outgoing/support/response-text.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const VARIABLES = { HOSTING_TOKEN: 'secret', NOTIFY_ADMIN_TOPIC: 'operator', PANIC_PASSWORD: 'password' };
const TARGET = { owner: 'octo', name: 'hello' };
const DATES = { committedAt: 1_800_000_000, commitHashes: new Uint8Array() };
const ANSWER = `${headText('HTTP/1.1 404 Not Found', 'Content-Type: application/json', 'Content-Length: 2')}{}`;

let server: FakeServer;
let timers: Set<unknown>;
let count = 0;

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  count += 1;
  holdClock();
  server = new FakeServer(async (connection) => {
    for (;;) await connection.answer(ANSWER);
  });
  vi.spyOn(ConnectionPool.prototype, 'take').mockImplementation(async ({ url }) => {
    const socket = server.open({ hostname: url.hostname, port: 443 }, true);
    return { connection: new Connection(url.origin, socket), isNew: true };
  });
  timers = pendingTimers();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Those that were set from here on, and have neither fired nor been cleared. */
function pendingTimers(): Set<unknown> {
  const pending = new Set<unknown>();
  const [set, clear] = [globalThis.setTimeout, globalThis.clearTimeout];
  const counted = ((run: () => void, ms: number) => {
    const timer = set(() => {
      pending.delete(timer);
      run();
    }, ms);
    pending.add(timer);
    return timer;
  }) as typeof setTimeout;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(counted);
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    pending.delete(timer);
    clear(timer as number);
  });
  return pending;
}

const KINDS = ['PULL_REQUESTS', 'GUARD', 'PENDING_PUSHES', 'NOTIFICATION_FEED', 'IDENTITIES'] as const;

/** An object of this test's own, with its variables. */
async function objectOf<K extends (typeof KINDS)[number]>(kind: K, name = `asleep-${count}`) {
  const objects = bindings[kind] as unknown as DurableObjectNamespace;
  const stub = objects.get(objects.idFromName(name));
  await runInDurableObject(stub, (instance) => {
    Object.assign(instance, { env: { ...bindings, ...VARIABLES } });
  });
  return stub as unknown as ReturnType<Env[K]['get']>;
}

const runAlarm = (stub: unknown): Promise<boolean> => runDurableObjectAlarm(stub as DurableObjectStub);

const recordOf = (prHash: string) => ({
  prHash,
  host: 'gh',
  owner: 'octo',
  repo: 'hello',
  number: count,
  url: `https://host.test/octo/hello/pull/${count}`,
  fork: null,
});

const prHash = (): string => count.toString(16).padStart(12, '0');

async function openPullRequest() {
  const stub = await objectOf('PULL_REQUESTS', prHash());
  await stub.record(recordOf(prHash()), { tip: 'a', dates: DATES, lease: null }, Date.now());
  return stub;
}

const tracked = () => ({ kind: 'issue' as const, ...recordOf('') });

const WORK: readonly (readonly [string, () => Promise<unknown>])[] = [
  [
    'an alarm that tells of a pull request',
    async () => {
      const stub = await openPullRequest();
      const url = 'https://host.test/octo/hello/pull/1#issuecomment-1';
      await stub.tell('gh', [{ key: 'comment:1', kind: 'commented', number: count, url }], Date.now());
      await runAlarm(stub);
    },
  ],
  [
    'an alarm that tells the operator',
    async () => {
      const stub = await objectOf('GUARD');
      await stub.tell({ kind: 'rate-limit', client: 'client-1', attempts: 6 });
      await runAlarm(stub);
    },
  ],
  [
    'a test alert',
    async () => {
      const stub = await objectOf('GUARD');
      expect(await stub.testAlert()).toMatchObject({ reason: 'failing', status: 404 });
    },
  ],
  [
    'a rollback',
    async () => {
      const stub = await objectOf('GUARD');
      await stub.track(tracked(), null, Date.now());
      const scope = { spareSingle: true, comments: true, issues: true };
      await stub.beginRollback({ kind: 'password' }, scope);
      await runAlarm(stub);
    },
  ],
  [
    'an alarm that cleans up after a push',
    async () => {
      const stub = await objectOf('PENDING_PUSHES');
      const past = Date.now() - 2 * HOUR_MS;
      await stub.begin('a'.repeat(64), 'gh', TARGET, { prHash: prHash(), committedAt: 1 }, past);
      await runAlarm(stub);
    },
  ],
  [
    'a look at the notifications',
    async () => {
      const stub = await objectOf('NOTIFICATION_FEED');
      await stub.run('gh', Date.now());
    },
  ],
  [
    'a comment',
    async () => {
      const stub = await objectOf('IDENTITIES', `c0${prHash()}`.slice(-8));
      const thread = { host: 'gh', owner: 'octo', repo: 'hello', number: 1 };
      const words = { body: 'Hello', origin: 'https://veil.test' };
      const request = { id: crypto.randomUUID(), ...thread, ...words, claim: writeClaim('a') };
      expect(await stub.comment(request)).toMatchObject({ kind: 'failed' });
    },
  ],
];

describe('an object', () => {
  it.each(WORK)('has no timer and no connection after %s', async (_what, work) => {
    await work();
    expect(server.connections.length).toBeGreaterThan(0);
    expect(server.openCount).toBe(0);
    expect(timers.size).toBe(0);
  });

  it('has no timer and no connection after a push', async () => {
    const pending = await objectOf('PENDING_PUSHES');
    const intent = { prHash: prHash(), committedAt: 1 };
    const begun = await pending.begin('b'.repeat(64), 'gh', TARGET, intent, Date.now());
    await openPullRequest();
    const guard = await objectOf('GUARD');
    await guard.track({ ...recordOf(prHash()), kind: 'pull-request' }, null, Date.now());
    if (begun.kind === 'begun') await pending.end('b'.repeat(64), begun.lease, 'nothing', Date.now());
    expect(server.connections).toEqual([]);
    expect(timers.size).toBe(0);
  });
});

describe('a deadline', () => {
  it('fires while the work goes on, and is gone with it', async () => {
    const late = withDeadline(1, (signal) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      return promise;
    });
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await withDeadline(HOUR_MS, async () => 'done')).toBe('done');
    await expect(withDeadline(HOUR_MS, () => Promise.reject(new RangeError('no')))).rejects.toThrow(
      RangeError,
    );
    expect(timers.size).toBe(0);
  });
});
