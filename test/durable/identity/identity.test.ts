import { applyD1Migrations, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { writeClaim } from '../../../src/limits/claim.ts';
import { isListed as isInList } from '../../../src/stats/recorded-hashes.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { FakeThreads } from '../support/fake-threads.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, holdClock, pass } from '../../support/clock.ts';
import { Pseudonym, THREAD } from '../support/pseudonym.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };

const outOfReach = async () => Promise.reject(new Error('out of reach'));

let host: FakeThreads;
let someone: Pseudonym;

const NO_OBJECTS = { idFromName: () => ({}) };

const ledgerKarma = () =>
  bindings.DB.prepare('SELECT karma FROM karma WHERE hash = ?').bind(someone.hash).first<number>('karma');
const setLedgerKarma = (karma: number) =>
  bindings.DB.prepare('INSERT INTO karma VALUES (?, ?)').bind(someone.hash, karma).run();

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  host = new FakeThreads();
  someone = new Pseudonym();
  holdClock();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a comment', () => {
  it('is posted with the footer of its karma, and its own words byte for byte', async () => {
    const url = expect.stringContaining('#issuecomment-1') as string;
    expect(await someone.say('Hi')).toEqual({ kind: 'posted', url, karma: 1 });
    expect(await someone.say(' again\r\n\n')).toMatchObject({ karma: 2 });
    expect(host.textsOn(THREAD)).toEqual([`Hi${someone.footer(1)}`, ` again\r\n\n${someone.footer(2)}`]);
  });

  it('of fifty at once has a karma of its own, from 1 to 50', exhaustive, async () => {
    let running = 0;
    host.disturb = async () => {
      expect(++running).toBe(1);
      await Promise.resolve();
      running -= 1;
      return undefined;
    };
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, index) => someone.say(`${index}`)));
    const all = Array.from({ length: 50 }, (_, index) => index + 1);
    expect(outcomes.map((outcome) => outcome.kind === 'posted' && outcome.karma)).toEqual(all);
    expect(host.textsOn(THREAD)).toEqual(all.map((karma) => `${karma - 1}${someone.footer(karma)}`));
  });

  it('waits while the account cannot be asked, and says which error it was', async () => {
    const accounts = {
      ...NO_OBJECTS,
      get: () => ({ reserve: () => Promise.reject(new RangeError('gone')) }),
    };
    await runInDurableObject(someone.stub, (instance) => {
      Object.assign(instance, { env: { ...bindings, HOST_ACCOUNTS: accounts } });
    });
    const error = expect.any(RangeError) as RangeError;
    const claim = writeClaim(someone.hash, [{ kind: 'comments', key: '', limits: [] }]);
    expect(await someone.say('Hi', { claim })).toMatchObject({
      kind: 'denied',
      window: 'unknown',
      error,
    });
    expect(host.comments).toEqual([]);
  });

  it.each([
    ['blocked', 6, { kind: 'blocked' }, 'first'],
    ['flagged', 3, { kind: 'cooldown' }, 'first'],
    ['blocked', 6, { kind: 'blocked' }, 'later'],
    ['flagged', 3, { kind: 'cooldown' }, 'later'],
  ])(
    'is not posted if its pseudonym is %s while it waits, by %i reports',
    async (_, reports, outcome, which) => {
      if (which === 'later') await someone.say();
      const before = host.comments.length;
      const release = vi.fn(async () => {});
      const reserve = async () => {
        await someone.reportedBy(reports);
        return { kind: 'granted', id: 'a', windows: [], full: [], pauseMs: 0, turnMs: 0 };
      };
      const accounts = { ...NO_OBJECTS, get: () => ({ reserve, release }) };
      await runInDurableObject(someone.stub, (instance) => {
        Object.assign(instance, { env: { ...bindings, HOST_ACCOUNTS: accounts } });
      });
      expect(await someone.say()).toMatchObject(outcome);
      expect(release).toHaveBeenCalledExactlyOnceWith('a');
      expect(host.comments).toHaveLength(before);
    },
  );

  it('is made known to a rollback; while the guard is away it is posted all the same, and made known later', async () => {
    const { promise: away, reject } = Promise.withResolvers<never>();
    away.catch(() => {});
    reject(new Error('out of reach'));
    const track = vi.fn<(one: { kind: string; number: number }) => Promise<void>>(async () => {});
    const guard = { ...NO_OBJECTS, get: () => ({ track }) } as unknown as Env['GUARD'];
    await runInDurableObject(someone.stub, (instance) => {
      Object.assign(instance, { env: { ...bindings, GUARD: guard } });
    });
    await someone.say('One');
    track.mockImplementation(() => away);
    expect(await someone.say('Two')).toMatchObject({ kind: 'posted', karma: 2 });
    pass(6 * MINUTE_MS);
    await someone.runAlarm();
    expect((await someone.stub.publicRecord()).posted).toHaveLength(1);
    track.mockImplementation(async () => {});
    track.mockClear();
    pass(MINUTE_MS);
    await someone.runAlarm();
    expect(track.mock.calls.map(([{ kind, number }]) => [kind, number])).toEqual([['comment', 2]]);
    expect((await someone.stub.publicRecord()).posted).toHaveLength(2);
    expect(await someone.say('Three')).toMatchObject({ kind: 'posted', karma: 3 });
  });

  it('is not waited for among more than a hundred', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<undefined>();
    host.disturb = () => held;
    const outcomes = Array.from({ length: 101 }, () => someone.say());
    expect(await outcomes.at(-1)).toEqual({ kind: 'busy' });
    pass(MINUTE_MS);
    release(undefined);
    // The first was being posted; the others have waited for too long.
    expect(await outcomes[0]).toMatchObject({ karma: 1 });
    expect(await outcomes[1]).toEqual({ kind: 'busy' });
  });

  it('may be as long as the host takes, and not a character longer', async () => {
    const room = 65_536 - someone.footer(1).length;
    expect(await someone.say('x'.repeat(room + 1))).toEqual({ kind: 'too-long', maxCharacters: room });
    expect(host.requests).toEqual([]);
    expect(await someone.say(`${'x'.repeat(room - 1)}🎉`)).toMatchObject({ kind: 'posted' });
  });

  it.each([404, 403, 410, 422])('that the host refuses with %i changes no karma', async (status) => {
    await someone.say();
    host.disturb = () => Response.json({ message: 'no' }, { status });
    const failure = { effect: 'none', lasts: 'final', status, says: 'no' };
    expect(await someone.say()).toMatchObject({ kind: 'failed', failure });
    host.disturb = () => undefined;
    expect(await someone.say()).toMatchObject({ karma: 2 });
    expect(host.comments).toHaveLength(2);
  });
});

describe('a comment whose answer is lost', () => {
  it('is found on its thread, and is not posted twice', async () => {
    host.loseAnswer = (request) => {
      if (request.method === 'POST') throw new TypeError('connection lost');
      return undefined;
    };
    expect(await someone.say()).toMatchObject({ kind: 'posted', karma: 1 });
    expect(host.asked.filter((request) => request.startsWith('POST'))).toHaveLength(1);
    host.loseAnswer = () => undefined;
    expect(await someone.say()).toMatchObject({ karma: 2 });
  });

  it('is not believed in when the thread does not show it', async () => {
    host.disturb = (request) => (request.method === 'POST' ? Response.json({}, { status: 502 }) : undefined);
    host.say(THREAD, `Hello${someone.footer(1)}`, 99);
    expect(await someone.say()).toMatchObject({ kind: 'failed', failure: { effect: 'unknown' } });
    expect(host.asked.filter((request) => request.startsWith('POST'))).toHaveLength(1);
    host.disturb = () => undefined;
    expect(await someone.say()).toMatchObject({ karma: 1 });
  });

  it('is found later when the host was away, and belongs to the others', exhaustive, async () => {
    let isAway = false;
    host.disturb = () => (isAway ? Response.json({}, { status: 503 }) : undefined);
    host.loseAnswer = () => {
      isAway = true;
      return Response.json({}, { status: 502 });
    };
    expect(await someone.say('lost')).toMatchObject({ kind: 'failed', failure: { effect: 'unknown' } });
    isAway = false;
    host.loseAnswer = () => undefined;
    pass(6 * MINUTE_MS);
    await someone.runDueAlarms();
    expect(await someone.say('next')).toMatchObject({ karma: 2 });
    await someone.reportedBy(6);
    await someone.runDueAlarms();
    expect(host.comments).toEqual([]);
  });

  it.each([
    ['is looked for until the host lets us look', 401, MINUTE_MS, ['lost']],
    ['is looked for until the host shows its thread', 404, MINUTE_MS, ['lost']],
    ['is given up with its thread, when that has been missing for a day', 404, DAY_MS, []],
  ])('%s', async (_, status, missingMs, found) => {
    host.loseAnswer = ({ method }) => (method === 'POST' ? Response.json({}, { status: 502 }) : undefined);
    host.disturb = ({ method }) => (method === 'GET' ? Response.json({}, { status }) : undefined);
    await someone.say('lost');
    pass(6 * MINUTE_MS);
    await someone.runDueAlarms();
    pass(missingMs);
    await someone.runDueAlarms();
    host.disturb = () => undefined;
    pass(6 * MINUTE_MS);
    await someone.runDueAlarms();
    const requests = host.asked.length;
    await someone.reportedBy(6);
    await someone.runDueAlarms();
    expect(host.asked.slice(requests)).toHaveLength(found.length);
  });

  it('because the machine went away is found, and what was decided meanwhile befalls it', async () => {
    host.loseAnswer = () => new Promise(() => {});
    void someone.say('orphan').catch(() => {});
    await expect.poll(() => host.comments).toHaveLength(1);
    await restartObjects();
    host.loseAnswer = () => undefined;
    await someone.reportedBy(3);
    pass(6 * MINUTE_MS);
    await someone.runDueAlarms();
    await someone.runDueAlarms();
    expect(host.textsOn(THREAD)).toEqual([`orphan${someone.footer(0)}`]);
  });

  it('because the machine went away has a karma that no later one has', async () => {
    await someone.say('first');
    host.loseAnswer = () => new Promise(() => {});
    void someone.say('second').catch(() => {});
    await expect.poll(() => host.comments).toHaveLength(2);
    await restartObjects();
    host.loseAnswer = () => undefined;
    expect(await someone.say('third')).toMatchObject({ karma: 3 });
    expect(await someone.say('fourth')).toMatchObject({ karma: 4 });
    pass(6 * MINUTE_MS);
    await someone.runDueAlarms();
    expect(host.textsOn(THREAD)).toEqual(
      ['first', 'second', 'third', 'fourth'].map((word, index) => `${word}${someone.footer(index + 1)}`),
    );
    expect(await ledgerKarma()).toBe(4);
  });

  it('is found also when it came right after another one', async () => {
    await someone.say('first');
    host.loseAnswer = () => new Promise(() => {});
    void someone.say('second').catch(() => {});
    await expect.poll(() => host.comments).toHaveLength(2);
    await restartObjects();
    host.loseAnswer = () => undefined;
    pass(6 * MINUTE_MS);
    await someone.runDueAlarms();
    expect(await someone.say('third')).toMatchObject({ karma: 3 });
    await someone.reportedBy(6);
    await someone.runDueAlarms();
    expect(host.comments).toEqual([]);
  });
});

/** The host has the comment; its answer waits until the reports are in. */
async function saidDuring(reports: number) {
  host.loseAnswer = async ({ method }) => {
    if (method === 'POST') await someone.reportedBy(reports);
    return undefined;
  };
  const outcome = await someone.say();
  host.loseAnswer = () => undefined;
  return outcome;
}

describe('a report while a comment is on its way', () => {
  it('that flags: the comment shows karma 0 soon', async () => {
    await someone.say('earlier');
    expect(await saidDuring(3)).toMatchObject({ kind: 'posted', karma: 0 });
    await someone.runDueAlarms();
    expect(host.textsOn(THREAD)).toEqual([`earlier${someone.footer(0)}`, `Hello${someone.footer(0)}`]);
    pass(7 * HOUR_MS);
    expect(await someone.say()).toMatchObject({ karma: 0 });
  });

  it.each([
    [3, { kind: 'posted', karma: 0 }, 1],
    [6, { kind: 'blocked' }, 0],
  ])('counts also while the guard is away: %i of them', async (reports, outcome, left) => {
    const guard = { ...NO_OBJECTS, get: () => ({ track: outOfReach }) } as unknown as Env['GUARD'];
    const withGuard = (GUARD: Env['GUARD']) =>
      runInDurableObject(someone.stub, (instance) => {
        Object.assign(instance, { env: { ...bindings, GUARD } });
      });
    await withGuard(guard);
    expect(await saidDuring(reports)).toMatchObject(outcome);
    await withGuard(bindings.GUARD);
    pass(6 * MINUTE_MS);
    await someone.runDueAlarms();
    expect(host.textsOn(THREAD)).toEqual(Array(left).fill(`Hello${someone.footer(0)}`));
  });

  it('that blocks: the comment is deleted', async () => {
    expect(await saidDuring(6)).toEqual({ kind: 'blocked' });
    await someone.runDueAlarms();
    expect(host.comments).toEqual([]);
  });
});

describe('the ledger', () => {
  it('is told the karma a little later, and then nothing is left to do', async () => {
    await someone.say();
    await someone.say();
    expect(await ledgerKarma()).toBeNull();
    pass(10_000);
    await someone.runDueAlarms();
    expect(await ledgerKarma()).toBe(2);
    expect(await someone.nextAlarm()).toBeNull();
  });

  it('is what karma goes on from when nothing is known here', async () => {
    await setLedgerKarma(41);
    expect(await someone.say()).toMatchObject({ karma: 42 });
    await someone.reportedBy(3);
    pass(10_000);
    await someone.runDueAlarms();
    expect(await ledgerKarma()).toBe(0);
  });

  it('stops no comment when it is dead, and is told later; what it knew is added', async () => {
    await setLedgerKarma(10);
    await bindings.DB.exec('ALTER TABLE karma RENAME TO away');
    expect(await someone.say()).toMatchObject({ karma: 1 });
    pass(10_000);
    await someone.runAlarm();
    expect(await someone.say()).toMatchObject({ karma: 2 });
    const dueAt = await someone.nextAlarm();
    expect(dueAt).toBeGreaterThan(Date.now());
    await bindings.DB.exec('ALTER TABLE away RENAME TO karma');
    pass(MINUTE_MS);
    await someone.runDueAlarms();
    expect(await ledgerKarma()).toBe(12);
    expect(await someone.say()).toMatchObject({ karma: 13 });
  });
});

const tables = () =>
  runInDurableObject(someone.stub, (_, { storage }) =>
    storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray(),
  );

/** Until nothing is due any more, with every alarm on the way. */
async function passAll(): Promise<void> {
  for (let left = 20; left > 0; left--) {
    const dueAt = await someone.nextAlarm();
    if (dueAt === null) return;
    pass(Math.max(0, dueAt - Date.now()));
    await someone.runDueAlarms();
  }
}

describe('where a pseudonym stands', () => {
  it('can be asked about any hash, and leaves nothing behind', async () => {
    expect((await someone.stub.publicRecord()).standing).toEqual({ reports: 0, state: 'registered' });
    expect(await tables()).toEqual([]);
  });

  it.each([1, 3])('leaves nothing behind of %i reports about a hash that nobody has', async (count) => {
    await someone.reportedBy(count);
    await passAll();
    expect([await tables(), await someone.nextAlarm()]).toEqual([[], null]);
    expect((await someone.stub.publicRecord()).standing).toEqual({ reports: 0, state: 'registered' });
    expect(await someone.report('another')).toMatchObject({ reports: 1 });
  });

  it('is found by look-ups as long as there are reports, also if their list did not answer at first', async () => {
    const isListed = () => isInList(bindings.DB, someone.hash);
    await bindings.DB.exec('ALTER TABLE pseudonyms RENAME TO away');
    expect(await someone.report('someone')).toMatchObject({ reports: 1 });
    await bindings.DB.exec('ALTER TABLE away RENAME TO pseudonyms');
    expect(await isListed()).toBe(false);
    pass(MINUTE_MS);
    await someone.runDueAlarms();
    expect(await isListed()).toBe(true);
    await passAll();
    expect(await isListed()).toBe(false);
    await someone.report('someone');
    expect(await isListed()).toBe(true);
  });

  it('leaves nothing behind of a comment that was not posted', async () => {
    await someone.say('x'.repeat(70_000));
    await passAll();
    expect(await tables()).toEqual([]);
    host.disturb = () => Response.json({ message: 'no' }, { status: 404 });
    await someone.say();
    await passAll();
    expect(await tables()).toEqual([]);
  });

  it('names no reporter after thirty days, and remembers who has commented, or is blocked', async () => {
    await someone.say();
    await someone.report('someone');
    await passAll();
    const reports = await runInDurableObject(
      someone.stub,
      (_, { storage }) => storage.kv.get<{ reports: unknown[] }>('moderation')?.reports,
    );
    expect([reports, await someone.nextAlarm()]).toEqual([[], null]);
    expect(await someone.say()).toMatchObject({ karma: 2 });
    await someone.reportedBy(6);
    await passAll();
    expect((await someone.stub.publicRecord()).standing).toEqual({ reports: 0, state: 'blocked' });
  });
});
