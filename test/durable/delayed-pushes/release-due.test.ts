/**
 * The scheduled handler publishes each push at its own second, and leaves the rest to the next run.
 */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { configOf } from '../../../src/config/configured.ts';
import type { Config } from '../../../src/config/config.ts';
import type { DelayedLease, NewDelayedPush } from '../../../src/durable/delayed-pushes/delayed-push.ts';
import { releaseDue } from '../../../src/durable/delayed-pushes/release-due.ts';
import type { Env } from '../../../src/env.ts';
import { systemClock } from '../../../src/isolate/clock.ts';

const NOON = Date.UTC(2031, 0, 1, 12);
const DAY_MS = 24 * 60 * 60 * 1000;

let count = 0;
let published: { name: string; second: number }[] = [];
let answer: () => Response;
/** As in production; else the trigger's time is that of the host, too. */
let isInProduction = false;
/** How far the host's clock is ahead; null: it does not say. */
let hostAheadMs: number | null = 0;
let asked = 0;

/** Publishes nothing, and notes when it was asked. */
async function publisher(all: Env, body: string): Promise<Response> {
  const { name, lease } = JSON.parse(body) as DelayedLease;
  published.push({ name, second: (Date.now() - NOON) / 1000 });
  const object = all.DELAYED_PUSHES.get(all.DELAYED_PUSHES.idFromName(''));
  await object.begin({ name, lease }, { prHash: 'a', committedAt: 0 });
  await object.ended({ name, lease }, 'published', [], {
    prHash: 'a',
    url: 'https://host.test/1',
    isKeyShown: true,
  });
  return answer();
}

/** Each test has an object of its own. */
function bindings(): Env {
  const all = env as unknown as Env;
  const { DELAYED_PUSHES } = all;
  const id = DELAYED_PUSHES.idFromName(`release ${count}`);
  const namespace = { idFromName: () => id, get: () => DELAYED_PUSHES.get(id) };
  const SELF = { fetch: (_: string, { body }: { body: string }) => publisher(result, body) };
  const result = {
    ...all,
    IDENTITY_SECRET: 'a secret of at least 32 characters, for tests',
    DELAYED_PUSHES: namespace,
    SELF,
    HOSTING_TOKEN: 'token',
    HOSTING_URL: 'https://host.test',
    HOSTING_API_URL: 'https://host.test/api',
    OUTGOING_FETCH_HOSTS: 'host.test',
    ...(!isInProduction && { TRIGGER_IS_CLOCK: 'true' }),
  } as unknown as Env;
  return result;
}

beforeEach(() => {
  count += 1;
  published = [];
  isInProduction = false;
  hostAheadMs = 0;
  asked = 0;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
    asked += 1;
    const date = hostAheadMs === null ? '' : new Date(Date.now() + hostAheadMs).toUTCString();
    return Response.json({ login: 'bot' }, { headers: { Date: date } });
  });
  answer = () => Response.json({ stop: false });
  vi.setSystemTime(NOON);
  vi.spyOn(systemClock, 'sleep').mockImplementation(async (ms) => void vi.setSystemTime(Date.now() + ms));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function kept(name: string, dueIn: number, more: Partial<NewDelayedPush> = {}): Promise<void> {
  const push = {
    name,
    host: 'gh',
    reason: 'busy',
    push: name,
    client: name,
    spool: { attempt: name, rowEnds: [1] },
    entryBytes: 1,
    commits: 1,
    keptAt: NOON,
    from: NOON,
    to: NOON,
    dueAt: NOON + dueIn * 1000,
    until: NOON + DAY_MS,
    ...more,
  } satisfies NewDelayedPush;
  const all = bindings();
  await all.DELAYED_PUSHES.get(all.DELAYED_PUSHES.idFromName('')).keep(push, [], 1_000_000);
}

async function run(triggeredAt = Date.now()): Promise<void> {
  const all = bindings();
  const result = configOf(all);
  expect(result.kind).toBe('valid');
  await releaseDue(all, (result as { config: Config }).config, triggeredAt);
}

it('publishes each at its own second', async () => {
  await kept('a', 41);
  await kept('b', 7);
  await kept('c', 60);
  await run();
  expect(published).toEqual([
    { name: 'b', second: 7 },
    { name: 'a', second: 41 },
  ]);
  vi.setSystemTime(NOON + 60_000);
  await run();
  expect(published.at(-1)).toEqual({ name: 'c', second: 60 });
});

it('leaves those that wait for a time and come close together to another minute', async () => {
  for (const name of ['a', 'b']) await kept(name, 5, { reason: 'delay' });
  await run();
  expect(published).toHaveLength(1);
  expect(published[0]?.second).toBe(5);
});

it('waits for nobody when nothing is due soon', async () => {
  await kept('a', 3_600);
  await run();
  expect(Date.now()).toBe(NOON);
});

it('stops if others would fail as well', async () => {
  answer = () => Response.json({ stop: true });
  await kept('a', 7);
  await kept('b', 8);
  await run();
  expect(published.map(({ name }) => name)).toEqual(['a']);
});

const HOUR_MS = 60 * 60 * 1000;

describe('in production', () => {
  beforeEach(() => {
    isInProduction = true;
  });

  it('the time of the trigger moves nothing, as it may be that of a clock that was ahead', async () => {
    await kept('a', 6 * 3_600, { reason: 'delay' });
    await run(NOON + 20 * HOUR_MS);
    expect([published, asked]).toEqual([[], 0]);
  });

  it.each<[string, number | null]>([
    ['is behind', -20 * HOUR_MS],
    ['is not told', null],
    ['is that of 1970', -NOON],
  ])('nothing is published while the host’s clock %s', async (_, aheadMs) => {
    await kept('a', 5, { reason: 'delay' });
    hostAheadMs = aheadMs;
    await run();
    expect(published).toEqual([]);
    hostAheadMs = 0;
    await run();
    expect(published).toMatchObject([{ name: 'a' }]);
  });

  it('the host is asked again in the second in which its clock says so, too', async () => {
    await kept('a', 5, { reason: 'delay' });
    hostAheadMs = -10_000;
    await run();
    expect(published).toEqual([{ name: 'a', second: 15 }]);
    expect(asked).toBe(2);
  });

  it('a clock that jumps ahead while a run sleeps publishes only what is due by the host’s', async () => {
    await kept('a', 41, { reason: 'delay' });
    await kept('b', 3_600, { reason: 'delay', push: 'another' });
    vi.spyOn(systemClock, 'sleep').mockImplementation(async (ms) => {
      vi.setSystemTime(Date.now() + ms + 20 * HOUR_MS);
      hostAheadMs = -20 * HOUR_MS;
    });
    await run();
    expect(published).toEqual([]);
    await run();
    expect(published.map(({ name }) => name)).toEqual(['a']);
  });

  it('nobody is asked for what waits for room', async () => {
    await kept('a', 5);
    hostAheadMs = null;
    await run();
    expect(published).toMatchObject([{ name: 'a' }]);
    expect(asked).toBe(0);
  });
});
