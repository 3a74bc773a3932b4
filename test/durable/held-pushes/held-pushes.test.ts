/** The list of held pushes: what is due, who publishes it, and how each of them ends. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NewHold } from '../../../src/durable/held-pushes/held-push-record.ts';
import { type HeldPushes, LEASE_MS } from '../../../src/durable/held-pushes/held-pushes.ts';
import type { Env } from '../../../src/env.ts';

const bindings = env as unknown as Env;
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const MOST = 1_000_000;

let count = 0;
beforeEach(() => {
  count += 1;
  vi.setSystemTime(Date.now());
});
afterEach(() => {
  vi.useRealTimers();
});

const object = () => bindings.HELD_PUSHES.get(bindings.HELD_PUSHES.idFromName(`held ${count}`));
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

function hold(prHash: string, more: Partial<NewHold> = {}): NewHold {
  const now = Date.now();
  return {
    prHash,
    host: 'gh',
    reason: 'busy',
    push: `push ${prHash}`,
    same: `same ${prHash}`,
    client: 'somebody',
    isUpdate: false,
    isBegun: false,
    spool: { attempt: `attempt ${prHash}`, rowEnds: [1_000] },
    entryBytes: 500,
    commits: 1,
    heldAt: now,
    from: now + HOUR_MS,
    to: now + 2 * HOUR_MS,
    dueAt: now + HOUR_MS,
    until: now + 14 * DAY_MS,
    ...more,
  };
}

async function held(prHash: string, more: Partial<NewHold> = {}): Promise<void> {
  expect(await object().hold(hold(prHash, more), MOST, null)).toBe(true);
}

const claim = () => object().claim(Date.now());
const stateOf = async (prHash: string) => (await object().find(prHash))?.state;

describe('a held push', () => {
  it('is claimed when it is due, and by one run only', async () => {
    await held('a');
    expect(await claim()).toEqual([]);
    pass(HOUR_MS);
    const [lease, ...others] = await claim();
    expect(others).toEqual([]);
    expect(await object().open(lease!)).toMatchObject({ prHash: 'a', entryBytes: 500, isUpdate: false });
    expect(await claim()).toEqual([]);
    expect(await object().find('a')).toMatchObject({ isBeingPublished: true });
  });

  it('is claimed again when the lease has expired, and whoever had that ends nothing any more', async () => {
    await held('a');
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
    await object().published(first!);
    await object().failed(first!, { kind: 'final', said: ['never'] }, Date.now());
    expect(await stateOf('a')).toBe('held');
    await object().published(second!);
    expect(await object().find('a')).toBeNull();
  });

  it('is tried again with pauses that grow, or as long as the host asks for', async () => {
    await held('a');
    pass(HOUR_MS);
    const pauses: number[] = [];
    for (const askedMs of [0, 0, 0, 600_000]) {
      const [lease] = await claim();
      await object().failed(lease!, { kind: 'later', said: ['Not now.'], askedMs, counts: true }, Date.now());
      const before = Date.now();
      while ((await object().find('a'))?.said.length === 1) {
        pass(1_000);
        const [next] = await claim();
        if (next === undefined) continue;
        await object().giveBack(next);
        break;
      }
      pauses.push(Date.now() - before);
    }
    expect(pauses).toEqual([5_000, 10_000, 20_000, 600_000]);
  });

  it('that cannot be published tells why for two weeks, and is forgotten then', async () => {
    await held('a');
    pass(HOUR_MS);
    const [lease] = await claim();
    await object().failed(lease!, { kind: 'final', said: ['It is closed.'] }, Date.now());
    expect(await object().find('a')).toMatchObject({ state: 'failed', said: ['It is closed.'] });
    pass(14 * DAY_MS);
    expect(await runDurableObjectAlarm(object())).toBe(true);
    expect(await object().find('a')).toBeNull();
  });

  it('ends when it was held for too long, and says so', async () => {
    await held('a');
    pass(14 * DAY_MS);
    await runDurableObjectAlarm(object());
    expect(await object().find('a')).toMatchObject({ state: 'failed' });
    expect((await object().find('a'))?.said.join(' ')).toMatch(
      /within the time for which the service holds a push/,
    );
  });

  it('tells for a while that it was cancelled', async () => {
    await held('a', { reason: 'delay' });
    expect(await object().cancel('a', ['Given up.'])).toBe('cancelled');
    expect(await object().cancel('a', [])).toBe('unknown');
    expect(await object().find('a')).toMatchObject({ state: 'cancelled', said: ['Given up.'] });
  });

  it('is forgotten with all that is kept when the last page has told its end for long enough', async () => {
    await held('a', { reason: 'delay' });
    await held('b', { reason: 'delay' });
    await object().cancel('a', []);
    pass(HOUR_MS);
    const [lease] = await claim();
    await object().published(lease!);
    pass(15 * DAY_MS);
    const erased = vi.fn<() => void>();
    await runInDurableObject(object(), async (instance: HeldPushes, { storage }) => {
      const deleteAll = storage.deleteAll.bind(storage);
      storage.deleteAll = () => (erased(), deleteAll());
      await instance.alarm();
    });
    expect(erased).toHaveBeenCalledOnce();
    await held('c');
  });

  it('may have become public if it was tried to publish it', async () => {
    await held('a');
    expect(await object().cancel('a', [])).toBe('begun');
    await held('b', { reason: 'delay' });
    pass(HOUR_MS);
    const [lease] = await claim();
    await object().failed(lease!, { kind: 'later', said: [], askedMs: 0, counts: true }, Date.now());
    expect(await object().cancel('b', [])).toBe('begun');
  });

  it('may have become public if whoever published it has died, or could not tell', async () => {
    for (const died of [true, false]) {
      await held('a', { reason: 'delay' });
      const lease = (await object().take('a'))!;
      if (died) pass(LEASE_MS);
      else await object().giveBack({ prHash: 'a', lease }, true);
      expect(await object().find('a')).toMatchObject({ isBegun: true });
      const next = await object().take('a');
      expect(await object().hold(hold('a', { reason: 'delay' }), MOST, next)).toBe(true);
      expect(await object().find('a')).toMatchObject({ isBegun: true });
      expect(await object().cancel('a', [])).toBe('begun');
    }
  });

  it('was not begun by whoever has only taken its place, or has given it back', async () => {
    await held('a', { reason: 'delay' });
    await object().giveBack({ prHash: 'a', lease: (await object().take('a'))! });
    const lease = await object().take('a');
    expect(await object().hold(hold('a', { reason: 'delay' }), MOST, lease)).toBe(true);
    expect(await object().find('a')).toMatchObject({ isBegun: false });
    expect(await object().cancel('a', [])).toBe('cancelled');
  });

  it('is claimed by nobody else if the run comes late, and its delay stays', async () => {
    await held('a');
    pass(HOUR_MS);
    const [lease] = await claim();
    pass(1_000);
    expect(await object().renew(lease!)).toBe(true);
    await held('b');
    const { from } = (await object().find('b'))!;
    expect(await object().take('b')).not.toBeNull();
    expect(await object().claim(Date.now() - 5_000)).toEqual([]);
    expect(await object().find('b')).toMatchObject({ from, isBeingPublished: true });
  });

  it('cannot be cancelled, taken or replaced while it is published', async () => {
    await held('a');
    pass(HOUR_MS);
    const [lease] = await claim();
    expect(await object().cancel('a', [])).toBe('busy');
    expect(await object().take('a')).toBeNull();
    expect(await object().hold(hold('a'), MOST, null)).toBe(false);
    expect(await object().hold(hold('a'), MOST, lease!.lease)).toBe(true);
  });

  it('has no key and no rows any more once it has ended', async () => {
    await held('a');
    await bindings.HELD_KEYS.put('attempt a', 'the key');
    const spool = bindings.SPOOL.get(bindings.SPOOL.idFromName('attempt a'));
    await spool.write('attempt a', 0, new Uint8Array(10).buffer);
    await object().cancel('a', []);
    await expect.poll(() => bindings.HELD_KEYS.get('attempt a')).toBeNull();
    await expect.poll(() => spool.read('attempt a', 0)).toBeNull();
  });

  it('is not kept for longer because a clock was set back', async () => {
    await held('a');
    pass(-10 * DAY_MS);
    expect(await claim()).toEqual([]);
    pass(HOUR_MS);
    expect(await claim()).toHaveLength(1);
  });

  it('leaves nothing in the file but what is told of it', async () => {
    await held('a');
    const rows = await runInDurableObject(object(), (_, { storage }) =>
      storage.sql.exec('SELECT * FROM held').toArray(),
    );
    expect(Object.keys(rows[0] ?? {})).not.toContain('key');
    expect(JSON.stringify(rows)).not.toMatch(/octo|hello/);
  });
});

describe('all held pushes', () => {
  it('have so much room in all, and a client a tenth of what the others leave of it', async () => {
    const large = { spool: { attempt: 'large', rowEnds: [MOST / 10] } };
    await held('a', large);
    expect(await object().hold(hold('b'), MOST, null)).toBe(false);
    const another = { ...large, client: 'another' };
    expect(await object().hold(hold('c', another), MOST, null)).toBe(false);
    await object().cancel('a', []);
    expect(await object().hold(hold('c', another), MOST, null)).toBe(true);
  });

  it('leave room for whoever comes next, however many have held what they may', async () => {
    let left = MOST;
    for (let other = 0; other < 30; other++) {
      const bytes = Math.floor(left / 10);
      await held(`a${other}`, { client: `other ${other}`, spool: { attempt: `${other}`, rowEnds: [bytes] } });
      left -= bytes;
    }
    expect(await object().hold(hold('b', { client: 'late' }), MOST, null)).toBe(true);
  });

  it('are counted by what they wait for', async () => {
    await held('a', { reason: 'delay' });
    pass(1_000);
    await held('b', { reason: 'review', dueAt: null });
    expect(await object().counts()).toEqual({
      held: { delay: 1, busy: 0, review: 1 },
      bytes: 2_000,
      oldestAt: Date.now() - 1_000,
    });
  });

  it('are due at once before a downgrade, but for those that the operator is to see', async () => {
    await held('a');
    await held('b', { reason: 'review', dueAt: null });
    expect((await object().drain()).held).toEqual({ delay: 0, busy: 1, review: 1 });
    expect((await claim()).map(({ prHash }) => prHash)).toEqual(['a']);
  });

  it('that came lately are discarded by a rollback', async () => {
    await held('a');
    pass(3 * HOUR_MS);
    await held('b');
    expect(await object().discardSince(Date.now() - 2 * HOUR_MS)).toBe(1);
    expect([await stateOf('a'), await stateOf('b')]).toEqual(['held', 'discarded']);
  });
});

const toReview = () => held('a', { reason: 'review', dueAt: null });
const seen = { prHash: 'a', attempt: 'attempt a' };

describe('a push that the operator is to see', () => {
  it('is published once it is approved, and cannot be decided twice', async () => {
    await toReview();
    expect(await object().toReview(0, 10)).toMatchObject({ holds: [{ prHash: 'a' }], waiting: 1 });
    expect(await object().toReview(1, 10)).toEqual({ holds: [], waiting: 1 });
    pass(3 * HOUR_MS);
    expect(await claim()).toEqual([]);
    expect(await object().approve(seen)).toBe(true);
    expect(await object().approve(seen)).toBe(false);
    expect(await object().discard(seen, 'spam')).toBe(false);
    expect(await claim()).toHaveLength(1);
  });

  it('is discarded with a reason, which its page tells', async () => {
    await toReview();
    expect(await object().discard(seen, 'private')).toBe(true);
    expect((await object().find('a'))?.said.join(' ')).toMatch(/private data/);
  });

  it('is discarded when nobody has looked at it in time', async () => {
    await toReview();
    pass(14 * DAY_MS);
    await runDurableObjectAlarm(object());
    expect(await object().find('a')).toMatchObject({
      state: 'discarded',
      said: [
        'The operator of this service did not review it in time, so it was discarded.',
        'You may push it again.',
      ],
    });
    expect(await object().approve(seen)).toBe(false);
    expect(await object().toReview(0, 10)).toEqual({ holds: [], waiting: 0 });
  });

  it('waits for two weeks to the millisecond', async () => {
    await toReview();
    pass(14 * DAY_MS - 1);
    await runDurableObjectAlarm(object());
    expect(await stateOf('a')).toBe('held');
  });

  it('is decided only as it was seen', async () => {
    await toReview();
    await held('a', { reason: 'review', dueAt: null, spool: { attempt: 'another', rowEnds: [1_000] } });
    expect(await object().approve(seen)).toBe(false);
    expect(await object().discard(seen, 'spam')).toBe(false);
    expect(await object().approve({ prHash: 'a', attempt: 'another' })).toBe(true);
  });
});
