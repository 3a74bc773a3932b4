/** The list of delayed pushes: what is due, who publishes it, and how each of them ends. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type {
  BegunPush,
  DelayedPush,
  DelayedLease,
  NewDelayedPush,
} from '../../../src/durable/delayed-pushes/delayed-push.ts';
import type { DelayedPushes } from '../../../src/durable/delayed-pushes/delayed-pushes.ts';
import type { HostTimes } from '../../../src/durable/delayed-pushes/due.ts';
import { LEASE_MS } from '../../../src/durable/lease.ts';
import type { Env } from '../../../src/env.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MOST = 1_000_000;
const INTENT = { prHash: 'aaaabbbbcccc', committedAt: 1_800_000_000 };
const LATER = { kind: 'later', said: ['Not now.'], askedMs: 600_000, counts: true } as const;
const LEFT = /part of it may be there already/;
const PUBLISHED = { prHash: 'aaaabbbbcccc', url: 'https://host.test/octo/hello/pull/1', isKeyShown: true };

let count = 0;
beforeEach(() => {
  count += 1;
  vi.setSystemTime(Date.now());
});
afterEach(() => {
  vi.useRealTimers();
});

const object = () => bindings.DELAYED_PUSHES.get(bindings.DELAYED_PUSHES.idFromName(`delayed ${count}`));
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

/** Time passes, and the scheduled handler runs. */
async function live(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 12 * HOUR_MS) {
    pass(Math.min(left, 12 * HOUR_MS));
    await claim();
  }
}

function push(name: string, more: Partial<NewDelayedPush> = {}): NewDelayedPush {
  const now = Date.now();
  return {
    name,
    host: 'gh',
    reason: 'busy',
    push: `push ${name}`,
    client: 'somebody',
    spool: { attempt: `attempt ${name}`, rowEnds: [1_000] },
    entryBytes: 500,
    commits: 1,
    keptAt: now,
    from: now + HOUR_MS,
    to: now + 2 * HOUR_MS,
    dueAt: now + HOUR_MS,
    until: now + 14 * DAY_MS,
    ...more,
  };
}

async function kept(name: string, more: Partial<NewDelayedPush> = {}): Promise<void> {
  expect(await object().keep(push(name, more), [], MOST)).toMatchObject({ kind: 'kept' });
}

/** Where the code host has the same time. */
const claim = async () => (await object().claim(Date.now(), { gh: Date.now() })).leases;
const claimAt = async (times: HostTimes) =>
  (await object().claim(Date.now(), times)).leases.map(({ name }) => name);
const stateOf = async (name: string) => (await object().view(name))?.state;

async function leased(name: string): Promise<DelayedLease> {
  const lease = await object().publishNow(name);
  expect(lease).toMatchObject({ name });
  return lease as DelayedLease;
}

/** As `leased`; part of it may be public. */
async function leasedAndBegun(name: string): Promise<DelayedLease> {
  const lease = await leased(name);
  await object().begin(lease, INTENT);
  return lease;
}

/** Everything that the object's tables hold. */
const stored = (): Promise<DelayedPush[]> =>
  runInDurableObject(object(), (_, { storage }) =>
    [...storage.sql.exec<{ value: string }>('SELECT value FROM delayed_pushes')].map(({ value }) =>
      JSON.parse(value),
    ),
  );

describe('a delayed push', () => {
  it('is claimed when it is due, and by one run only', async () => {
    await kept('a');
    expect(await claim()).toEqual([]);
    pass(HOUR_MS);
    const [lease, ...others] = await claim();
    expect(others).toEqual([]);
    expect(await object().open(lease!)).toMatchObject({
      name: 'a',
      entryBytes: 500,
      intent: null,
      failures: 0,
    });
    expect(await claim()).toEqual([]);
    expect(await object().view('a')).toMatchObject({ isBeingPublished: true });
  });

  it('is left to whoever publishes it by a run whose clock is hours ahead', async () => {
    await kept('a');
    const lease = await leased('a');
    const ahead = Date.now() + 6 * HOUR_MS;
    expect((await object().claim(ahead, { gh: ahead })).leases).toEqual([]);
    expect(await object().renew(lease)).toBe(true);
  });

  it('is told to a run that comes before it is due, so that it is published at its own second', async () => {
    await kept('a');
    await kept('b', { push: 'other', dueAt: Date.now() + HOUR_MS + 30_000 });
    pass(HOUR_MS - 10_000);
    expect(await object().claim(Date.now())).toEqual({ leases: [], nextAt: Date.now() + 10_000, hosts: [] });
    pass(10_000);
    expect((await object().claim(Date.now())).leases).toMatchObject([{ name: 'a' }]);
    expect(await object().claim(Date.now())).toEqual({ leases: [], nextAt: Date.now() + 30_000, hosts: [] });
  });

  it('is claimed again when the lease has expired, and whoever had that ends nothing any more', async () => {
    await kept('a');
    pass(HOUR_MS);
    const [first] = await claim();
    pass(LEASE_MS - 1);
    expect(await object().renew(first!)).toBe(true);
    pass(LEASE_MS - 1);
    expect(await claim()).toEqual([]);
    pass(1);
    const [second] = await claim();
    expect(second).toBeDefined();
    expect(await object().renew(first!)).toBe(false);
    expect(await object().begin(first!, INTENT)).toBeNull();
    expect(await object().ended(first!, 'published', [], PUBLISHED)).toBe(false);
    expect(await object().ended(first!, 'given-up', [])).toBe(false);
    await object().failed(first!, { kind: 'final', said: ['never'] }, Date.now());
    expect(await stateOf('a')).toBe('waiting');
    await object().begin(second!, INTENT);
    expect(await object().ended(second!, 'published', [], PUBLISHED)).toBe(true);
    expect(await object().view('a')).toMatchObject({ state: 'published', published: PUBLISHED });
  });

  it('is tried again with pauses that grow, or as long as the host asks for', exhaustive, async () => {
    await kept('a');
    pass(HOUR_MS);
    const pauses: number[] = [];
    let [lease] = await claim();
    for (const askedMs of [0, 0, 0, 600_000]) {
      await object().failed(lease!, { kind: 'later', said: ['Not now.'], askedMs, counts: true }, Date.now());
      const before = Date.now();
      for (lease = undefined; lease === undefined; [lease] = await claim()) pass(1_000);
      pauses.push(Date.now() - before);
    }
    expect(pauses).toEqual([5_000, 10_000, 20_000, 600_000]);
  });

  it('is published with what the first attempt has decided, until a later one decides anew', async () => {
    await kept('a');
    const first = await leased('a');
    expect(await object().begin(first, INTENT)).toEqual(INTENT);
    pass(LEASE_MS);
    const second = await leased('a');
    expect(await object().open(second)).toMatchObject({ intent: INTENT, failures: 1 });
    const other = { prHash: 'dddd', committedAt: 1 };
    expect(await object().begin(second, other)).toEqual(INTENT);
    expect(await object().rebind(first, other)).toBeNull();
    expect(await object().rebind(second, other)).toEqual(other);
    expect(await object().begin(second, INTENT)).toEqual(other);
  });

  it('that cannot be published tells why for two weeks, and is forgotten then', async () => {
    await kept('a');
    await object().failed(await leased('a'), { kind: 'final', said: ['It is closed.'] }, Date.now());
    expect(await object().view('a')).toMatchObject({ state: 'failed', said: ['It is closed.'] });
    pass(14 * DAY_MS);
    expect(await runDurableObjectAlarm(object())).toBe(true);
    expect(await object().view('a')).toBeNull();
  });

  it('ends when it has waited for too long, and says so', async () => {
    await kept('a', { dueAt: Date.now() + 20 * DAY_MS });
    await live(14 * DAY_MS);
    await runDurableObjectAlarm(object());
    expect(await object().view('a')).toMatchObject({ state: 'failed' });
    expect((await object().view('a'))?.said.join(' ')).toMatch(
      /within the time for which the service keeps a push/,
    );
  });

  it('tells what the person should know of how it was published', async () => {
    await kept('a');
    await object().ended(await leasedAndBegun('a'), 'published', ['Its title was cut.'], PUBLISHED);
    expect(await object().view('a')).toMatchObject({ published: PUBLISHED, said: ['Its title was cut.'] });
  });

  it('has no key and no rows any more once it has ended', async () => {
    await kept('a');
    await bindings.DELAYED_KEYS.put('attempt a', 'the key');
    const spool = bindings.SPOOL.get(bindings.SPOOL.idFromName('attempt a'));
    await spool.write('attempt a', 0, new Uint8Array(10).buffer);
    await object().giveUp('a');
    await expect.poll(() => bindings.DELAYED_KEYS.get('attempt a')).toBeNull();
    await expect.poll(() => spool.read('attempt a', 0)).toBeNull();
  });

  it('leaves its name and its end only, and nothing by which it could be found', async () => {
    await kept('a', { reason: 'delay' });
    await kept('b', { push: 'another' });
    await object().ended(await leasedAndBegun('a'), 'published', [], PUBLISHED);
    const ended = (await stored()).find(({ name }) => name === 'a');
    expect(ended).toMatchObject({
      state: 'published',
      push: null,
      client: null,
      spool: { attempt: '', rowEnds: [] },
      lease: null,
      dueAt: null,
    });
    for (const field of ['keptAt', 'from', 'to', 'entryBytes', 'commits'] as const)
      expect(ended?.[field]).toBe(0);
    expect(Number(ended?.until) % DAY_MS).toBe(0);
    await live(12 * DAY_MS);
    await runDurableObjectAlarm(object());
    expect(await object().view('a')).toMatchObject({ state: 'published' });
  });

  it('takes everything with it when its end was told for long enough', async () => {
    await kept('a', { reason: 'delay' });
    await kept('b', { reason: 'delay', push: 'another' });
    await object().giveUp('a');
    await object().ended(await leasedAndBegun('b'), 'published', [], PUBLISHED);
    pass(15 * DAY_MS);
    const erased = vi.fn<() => void>();
    await runInDurableObject(object(), async (instance: DelayedPushes, { storage }) => {
      const deleteAll = storage.deleteAll.bind(storage);
      storage.deleteAll = () => (erased(), deleteAll());
      await instance.alarm();
    });
    expect(erased).toHaveBeenCalledOnce();
    await kept('c');
  });
});

describe('the same push again', () => {
  it('finds the one that waits, and keeps nothing', async () => {
    await kept('a');
    expect(await object().findWaiting('push a')).toMatchObject({ name: 'a', state: 'waiting' });
    expect(await object().findWaiting('push b')).toBeNull();
    const again = await object().keep(push('b', { push: 'push a' }), [], MOST);
    expect(again).toMatchObject({ kind: 'found', view: { name: 'a' } });
    expect(await object().view('b')).toBeNull();
  });

  it('finds none that has ended, or is given up', async () => {
    await kept('a');
    await object().giveUp('a');
    expect(await object().findWaiting('push a')).toBeNull();
    await kept('b', { push: 'push a' });
    expect(await object().findWaiting('push a')).toMatchObject({ name: 'b' });
    await object().ended(await leasedAndBegun('b'), 'published', [], PUBLISHED);
    expect(await object().findWaiting('push a')).toBeNull();
    await kept('c', { push: 'push a' });
  });

  it('finds it until somebody begins to publish it, and not while it is tried again', async () => {
    await kept('a');
    const lease = await leased('a');
    expect(await object().findWaiting('push a')).toMatchObject({ name: 'a' });
    await object().begin(lease, INTENT);
    expect(await object().findWaiting('push a')).toBeNull();
    await object().failed(lease, LATER, Date.now());
    expect(await object().findWaiting('push a')).toBeNull();
    await kept('b', { push: 'push a' });
  });

  it('is found by its name alone where it is an update, or is being published', async () => {
    await kept('a', { push: null });
    await kept('b', { push: null });
    expect(await object().keep(push('a', { push: null }), [], MOST)).toMatchObject({ kind: 'found' });
    const lease = await leased('a');
    await object().begin(lease, INTENT);
    expect(await object().keep(push('a'), [], MOST)).toMatchObject({ kind: 'found', view: { name: 'a' } });
    expect(await object().open(lease)).toMatchObject({ intent: INTENT });
  });
});

describe('who has its name', () => {
  it('publishes it now, once', async () => {
    await kept('a');
    await leased('a');
    expect(await object().publishNow('a')).toBe('busy');
    expect(await object().publishNow('b')).toBe('unknown');
    await kept('c', { reason: 'review', dueAt: null, push: 'another' });
    expect(await object().publishNow('c')).toBe('review');
  });

  it('publishes it now in the pause after a failed attempt, too, as often as that fails', async () => {
    await kept('a');
    await object().failed(await leased('a'), LATER, Date.now());
    for (let press = 0; press < 20; press++) {
      expect(await claim()).toEqual([]);
      await object().failed(await leased('a'), LATER, Date.now());
    }
    // A count that ends a push grows by the attempts of the service alone.
    const { failures } = (await object().listed('a')) ?? {};
    expect(failures).toBe(1);
    pass(600_000);
    expect((await claim()).map(({ name }) => name)).toEqual(['a']);
  });

  it('gives it up, once, and not while it is published', async () => {
    await kept('a');
    expect(await object().giveUp('a')).toBe('done');
    expect(await object().view('a')).toMatchObject({ state: 'given-up' });
    expect(await object().giveUp('a')).toBe('unknown');
    await kept('b', { push: 'another' });
    await leased('b');
    expect(await object().giveUp('b')).toBe('busy');
  });

  it('gives up a begun one only when that is removed', async () => {
    await kept('a');
    await object().begin(await leased('a'), INTENT);
    pass(LEASE_MS);
    const end = await object().giveUp('a');
    expect(end).toMatchObject({ intent: INTENT, host: 'gh' });
    const lease = end as BegunPush;
    expect(await stateOf('a')).toBe('waiting');
    expect(await object().giveUp('a')).toBe('busy');
    expect(await object().ended(lease, 'given-up', ['It is removed.'])).toBe(true);
    expect(await object().view('a')).toMatchObject({ state: 'given-up', said: ['It is removed.'] });
  });
});

describe('one that is begun, and wanted no more', () => {
  beforeEach(async () => {
    await kept('a');
    await object().begin(await leased('a'), INTENT);
    pass(LEASE_MS);
  });

  it('is never published, also if whoever was to remove it has died', async () => {
    expect(await object().giveUp('a')).toMatchObject({ intent: INTENT });
    pass(LEASE_MS);
    pass(2 * HOUR_MS);
    expect(await claim()).toEqual([]);
    expect(await object().view('a')).toMatchObject({ state: 'waiting', isGivenUp: true });
    expect(await object().findWaiting('push a')).toBeNull();
    expect(await object().publishNow('a')).toBe('unknown');
    expect(await object().approve(seen)).toBe(false);
    expect(await object().giveUp('a')).toMatchObject({ intent: INTENT });
  });

  it('waits for the operator if they were to remove it', async () => {
    expect(await object().discard(seen, 'spam')).toMatchObject({ intent: INTENT });
    pass(2 * HOUR_MS);
    expect(await claim()).toEqual([]);
    expect(await object().view('a')).toMatchObject({ waitsForReview: true, isGivenUp: false });
  });

  it('is not published after a rollback because its removal failed', async () => {
    await object().stopSince(0);
    const lease = (await object().giveUp('a')) as BegunPush;
    await object().failed(lease, LATER, Date.now());
    pass(2 * HOUR_MS);
    expect(await claim()).toEqual([]);
  });

  it('says that something of it may be at the code host when its time is over', async () => {
    await object().giveUp('a');
    await live(14 * DAY_MS);
    await runDurableObjectAlarm(object());
    expect(await object().view('a')).toMatchObject({ state: 'given-up' });
    expect((await object().view('a'))?.said.join(' ')).toMatch(LEFT);
  });

  it('says the same when it has failed for good, or nobody has reviewed it', async () => {
    await object().failed(await leased('a'), { kind: 'final', said: ['It is closed.'] }, Date.now());
    expect((await object().view('a'))?.said.join(' ')).toMatch(LEFT);
    await toReview('b');
    await runInDurableObject(object(), (_, { storage }) => {
      storage.sql.exec(
        `UPDATE delayed_pushes SET value = json_set(value, '$.intent', json(?)) WHERE name = 'b'`,
        JSON.stringify(INTENT),
      );
    });
    await live(14 * DAY_MS);
    await runDurableObjectAlarm(object());
    expect(await object().view('b')).toMatchObject({ state: 'discarded' });
    expect((await object().view('b'))?.said.join(' ')).toMatch(LEFT);
  });
});

describe('time', () => {
  const [AHEAD_MS, DELAY_MS] = [20 * HOUR_MS, 6 * HOUR_MS];
  /** A push that was accepted while both clocks agreed, and asks for six hours. */
  const timed = (name: string, more: Partial<NewDelayedPush> = {}) =>
    kept(name, { reason: 'delay', dueAt: Date.now() + DELAY_MS, ...more });

  it('is that of both clocks: a clock that jumps ahead publishes nothing, and goes on when it is corrected', async () => {
    await timed('a');
    const truth = Date.now();
    pass(AHEAD_MS);
    for (const minutes of [0, 1, 60]) expect(await claimAt({ gh: truth + minutes * MINUTE_MS })).toEqual([]);
    vi.setSystemTime(truth + DELAY_MS - 1);
    expect(await claimAt({ gh: Date.now() })).toEqual([]);
    pass(1);
    expect(await claimAt({ gh: Date.now() })).toEqual(['a']);
  });

  it('does not go on while a clock is behind, and is late then, but never early', async () => {
    await timed('a');
    const truth = Date.now();
    vi.setSystemTime(truth - DAY_MS);
    expect(await claimAt({ gh: truth + DELAY_MS })).toEqual([]);
    vi.setSystemTime(truth + DELAY_MS);
    expect(await claimAt({ gh: truth + DELAY_MS })).toEqual(['a']);
  });

  it.each<[string, HostTimes]>([
    ['is missing, or cached', {}],
    ['is of 1970', { gh: 0 }],
    ['is that of another host', { other: Number.MAX_SAFE_INTEGER }],
    ['is a day behind', { gh: Date.now() - DAY_MS }],
  ])('waits where the time of its host %s', async (_, times) => {
    await timed('a');
    pass(2 * DELAY_MS);
    expect(await claimAt(times)).toEqual([]);
    expect(await claimAt({ gh: Date.now() })).toEqual(['a']);
  });

  it('is asked of the hosts only when something is due, and in the second in which they say so', async () => {
    await timed('a');
    await timed('b', { host: 'forge', push: 'another' });
    expect(await object().claim(Date.now())).toMatchObject({ hosts: [] });
    pass(DELAY_MS);
    expect(await object().claim(Date.now())).toMatchObject({ leases: [], hosts: ['gh', 'forge'] });
    const [now, there] = [Date.now(), Date.now() - 1_500];
    expect(await object().claim(now, { gh: there })).toEqual({ leases: [], nextAt: now + 1_500, hosts: [] });
  });

  it('of the host says nothing of what waits for room, or was due before, or is published by its button', async () => {
    await kept('a');
    await timed('b', { push: 'another' });
    await timed('c', { push: 'a third' });
    pass(HOUR_MS);
    expect((await object().claim(Date.now())).leases).toMatchObject([{ name: 'a' }]);
    await object().failed(await leased('b'), LATER, Date.now());
    await leased('c');
    pass(600_000);
    expect((await object().claim(Date.now())).leases).toMatchObject([{ name: 'a' }, { name: 'b' }]);
  });

  it('to which the clock has jumped by mistake puts no pause off', async () => {
    await timed('a');
    pass(30 * DAY_MS);
    await object().failed(await leased('a'), LATER, Date.now());
    await timed('b', { push: 'another' });
    await leased('b');
    expect(await object().publishNow('b')).toBe('busy');
    pass(-30 * DAY_MS);
    expect(await object().view('b')).toMatchObject({ isBeingPublished: false });
    expect(await object().giveUp('b')).toBe('done');
    expect(await claimAt({})).toEqual(['a']);
  });

  it('is over for a push when both clocks say so, or its key is gone', async () => {
    const until = Date.now() + DAY_MS;
    await timed('a', { until, dueAt: until + DAY_MS });
    pass(DAY_MS);
    for (const times of [{}, { gh: until - 1 }]) await claimAt(times);
    expect(await stateOf('a')).toBe('waiting');
    await claimAt({ gh: until });
    expect(await stateOf('a')).toBe('failed');
    await kept('b', { until: Date.now() + DAY_MS, push: 'another', dueAt: Date.now() + 9 * DAY_MS });
    pass(3 * DAY_MS - 1);
    await claimAt({});
    expect(await stateOf('b')).toBe('waiting');
    pass(1);
    await claimAt({});
    expect(await stateOf('b')).toBe('failed');
  });

  it('that has held up a push for a day is told to the operator', async () => {
    const told: (number | null)[] = [];
    const guard = { clockApart: async (byMs: number | null) => void told.push(byMs) };
    await timed('a');
    await runInDurableObject(object(), async (instance: DelayedPushes, state) => {
      const GUARD = { idFromName: () => null, get: () => guard };
      const reborn = new (instance.constructor as new (...given: unknown[]) => DelayedPushes)(state, {
        ...bindings,
        GUARD,
      });
      pass(DELAY_MS + DAY_MS - 1);
      await reborn.claim(Date.now(), {});
      pass(1);
      await reborn.claim(Date.now(), {});
      await reborn.claim(Date.now(), { gh: Date.now() - 2 * DAY_MS });
    });
    expect(told).toEqual([null, -2 * DAY_MS]);
  });
});

const sized = (name: string, client: string, bytes: number) =>
  push(name, { client, spool: { attempt: name, rowEnds: [bytes] } });
const keptAs = async (...[name, client, bytes]: Parameters<typeof sized>) =>
  (await object().keep(sized(name, client, bytes), [], MOST)).kind;

/**
 * The largest push that is kept, as a spy finds it: by pushes of many sizes, each given up again.
 */
async function largest(): Promise<number> {
  let [most, tooMany] = [0, MOST];
  while (tooMany - most > 1) {
    const bytes = Math.floor((most + tooMany) / 2);
    if ((await keptAs('probe', 'spy', bytes)) === 'full') tooMany = bytes;
    else [most] = [bytes, await object().giveUp('probe')];
  }
  return most;
}

describe('all delayed pushes', () => {
  it('have a twentieth of the room for one client, whatever the others have', async () => {
    for (let other = 0; other < 16; other++)
      expect(await keptAs(`a${other}`, `other ${other}`, MOST / 20)).toBe('kept');
    expect(await object().keep(sized('b', 'own', MOST / 20 + 1), [], MOST)).toEqual({
      kind: 'full',
      clientBytes: MOST / 20,
    });
    expect(await keptAs('b', 'own', MOST / 20 - 1)).toBe('kept');
    expect(await keptAs('c', 'own', 2)).toBe('full');
    expect(await keptAs('c', 'own', 1)).toBe('kept');
  });

  it('count for a client under all the names that it has had meanwhile', async () => {
    expect(await keptAs('a', 'Monday', MOST / 40)).toBe('kept');
    expect(await keptAs('b', 'Tuesday', MOST / 40)).toBe('kept');
    const more = sized('c', 'Wednesday', 1);
    expect(await object().keep(more, ['Tuesday', 'Monday'], MOST)).toMatchObject({ kind: 'full' });
    expect(await object().keep(more, ['Tuesday'], MOST)).toMatchObject({ kind: 'kept' });
  });

  it('tell nobody by their room what the others keep, to the byte', async () => {
    const before = await largest();
    for (let other = 0; other < 17; other++) {
      await keptAs(`a${other}`, `other ${other}`, MOST / 20 - 1 - other);
      expect(await largest()).toBe(before);
    }
  });

  it('are refused, and all of them, when less than a tenth of the room is left', async () => {
    for (let other = 0; other < 18; other++) await keptAs(`a${other}`, `other ${other}`, MOST / 20);
    expect(await keptAs('b', 'own', MOST / 20)).toBe('kept');
    for (const bytes of [1, MOST / 20]) expect(await keptAs('c', 'late', bytes)).toBe('full');
    await object().giveUp('b');
    expect(await keptAs('c', 'late', 1)).toBe('kept');
  });

  it('are counted by what they wait for; what was approved waits for its time', async () => {
    await kept('a', { reason: 'delay' });
    pass(1_000);
    await kept('b', { reason: 'review', dueAt: null });
    await kept('c', { reason: 'review', dueAt: null });
    await object().approve({ name: 'c', attempt: 'attempt c' });
    expect(await object().counts()).toEqual({
      waiting: { delay: 2, busy: 0, review: 1 },
      oldestAt: Date.now() - 1_000,
    });
  });

  it('are due at once before a downgrade, but for those that the operator is to see', async () => {
    await kept('a');
    await kept('b', { reason: 'review', dueAt: null });
    expect((await object().drain()).waiting).toEqual({ delay: 0, busy: 1, review: 1 });
    expect((await claim()).map(({ name }) => name)).toEqual(['a']);
  });

  it('that came lately are discarded by a rollback, whoever publishes them', async () => {
    await kept('a');
    pass(3 * HOUR_MS);
    for (const name of ['b', 'c', 'd']) await kept(name);
    const [running, begun] = [await leased('c'), await leased('d')];
    await object().begin(begun, INTENT);
    const since = Date.now() - 2 * HOUR_MS;
    await object().stopSince(since);
    const rolledBack = await object().discardSince(since);
    expect(rolledBack).toMatchObject([{ intent: INTENT, name: 'd' }]);
    // Whoever removes it has the lease, whoever else asks.
    expect(await object().discardSince(since)).toEqual([]);
    const states = await Promise.all(['a', 'b', 'c', 'd'].map(stateOf));
    expect(states).toEqual(['waiting', 'discarded', 'discarded', 'waiting']);
    expect(await object().renew(running)).toBe(false);
    expect(await object().ended(begun, 'published', [], PUBLISHED)).toBe(false);
    const lease = rolledBack[0]!;
    expect(await object().ended(lease, 'discarded', ['Gone.'])).toBe(true);
  });
});

const toReview = (name = 'a') => kept(name, { reason: 'review', dueAt: null });
const seen = { name: 'a', attempt: 'attempt a' };

describe('what the operator is to see', () => {
  it('is everything that waits, what waits for them first', async () => {
    await kept('b');
    pass(1);
    await toReview();
    pass(1);
    await kept('c');
    const listed = await object().list(0, 2);
    expect(listed).toMatchObject({
      pushes: [{ name: 'a', dueAt: null }, { name: 'b' }],
      waiting: 3,
    });
    expect(await object().list(2, 2)).toMatchObject({ pushes: [{ name: 'c' }], waiting: 3 });
    expect(await object().listed('b')).toMatchObject({ name: 'b', reason: 'busy' });
    expect(await object().listed('x')).toBeNull();
  });

  it('is published once it is approved, and cannot be approved twice', async () => {
    await toReview();
    pass(3 * HOUR_MS);
    expect(await claim()).toEqual([]);
    expect(await object().approve(seen)).toBe(true);
    expect(await object().approve(seen)).toBe(false);
    expect(await object().view('a')).toMatchObject({ waitsForReview: false });
    pass(MINUTE_MS);
    const [lease] = await claim();
    expect(await object().open(lease!)).toMatchObject({ isApproved: true });
  });

  it('gets another window, and some life behind it, if it is approved late', async () => {
    await toReview();
    await live(14 * DAY_MS - 1_000);
    const now = Date.now();
    await object().approve(seen);
    const view = await object().view('a');
    expect(view).toMatchObject({ from: now, to: now + MINUTE_MS });
    expect(view?.until).toBeGreaterThanOrEqual(now + HOUR_MS);
    pass(MINUTE_MS);
    await runDurableObjectAlarm(object());
    expect(await claim()).toHaveLength(1);
  });

  it('is told to the operator also if it had to wait for a time before, or is half published', async () => {
    const told: number[] = [];
    const guard = { toReview: async (waiting: number) => void told.push(waiting) };
    await kept('a');
    await kept('b', { push: 'another' });
    const [a, b] = [await leased('a'), await leased('b')];
    await object().begin(b, INTENT);
    await runInDurableObject(object(), async (instance: DelayedPushes, state) => {
      const GUARD = { idFromName: () => null, get: () => guard };
      const reborn = new (instance.constructor as new (...given: unknown[]) => DelayedPushes)(state, {
        ...bindings,
        GUARD,
      });
      await reborn.failed(a, { kind: 'review' }, Date.now());
      await reborn.stopSince(0);
      await reborn.stopSince(0);
    });
    await expect.poll(() => told).toEqual([1, 1]);
  });

  it('is discarded with a reason, which its page tells, whatever it waits for', async () => {
    await toReview();
    await kept('b');
    expect(await object().discard(seen, 'private')).toBe('done');
    expect(await object().discard(seen, 'private')).toBe('unknown');
    expect(await object().discard({ name: 'b', attempt: 'another' }, 'spam')).toBe('unknown');
    expect(await object().discard({ name: 'b', attempt: 'attempt b' }, 'spam')).toBe('done');
    expect((await object().view('a'))?.said.join(' ')).toMatch(/private data/);
  });

  it('is discarded with the words of its repository', async () => {
    await toReview();
    expect(await object().refuse({ ...seen, attempt: 'another' }, ['Stop.'])).toBe('unknown');
    expect(await object().refuse(seen, ['Stop.'])).toBe('done');
    expect(await object().view('a')).toMatchObject({ state: 'discarded', said: ['Stop.'] });
  });

  it('is discarded when nobody has looked at it in time', async () => {
    await toReview();
    await live(14 * DAY_MS - 1);
    await claim();
    expect(await stateOf('a')).toBe('waiting');
    pass(1);
    await claim();
    expect(await object().view('a')).toMatchObject({
      state: 'discarded',
      said: [
        'The operator of this service did not review it in time, so it was discarded.',
        'You may push it again.',
      ],
    });
    expect(await object().approve(seen)).toBe(false);
  });

  it('may be one for which the setting is newer than the push', async () => {
    await kept('a');
    await object().failed(await leased('a'), { kind: 'review' }, Date.now());
    expect(await object().view('a')).toMatchObject({ reason: 'busy', waitsForReview: true, said: [] });
    expect((await object().counts()).waiting).toEqual({ delay: 0, busy: 0, review: 1 });
    expect(await object().approve(seen)).toBe(true);
  });
});
