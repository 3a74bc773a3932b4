/** Reports: what they cost and lead to, what the operator is told, and what a pardon gives back. */
import { applyD1Migrations, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_FACTS, pardoned, reported, standingOf } from '../../../src/durable/identity/moderation.ts';
import type { ModerationFacts } from '../../../src/durable/identity/moderation.ts';
import type { Env } from '../../../src/env.ts';
import { isListed as isInList } from '../../../src/stats/recorded-hashes.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { FakeThreads } from '../support/fake-threads.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, holdClock, pass } from '../../support/clock.ts';
import { Pseudonym, THREAD } from '../support/pseudonym.ts';
import { timingOutOnly } from '../../support/timeouts.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };

let host: FakeThreads;
let someone: Pseudonym;

const guard = () => bindings.GUARD.get(bindings.GUARD.idFromName('guard'));

/** The guard has somebody to tell, and begins the hour anew. */
async function freshGuard(): Promise<void> {
  await runInDurableObject(guard(), (_, { storage }) => storage.kv.delete('alerts'));
  await restartObjects();
  await runInDurableObject(guard(), (instance) => {
    Object.assign(instance, { env: { ...bindings, NOTIFY_ADMIN_TOPIC: 'operator' } });
  });
}

/** The alerts that wait for delivery. */
const alerts = () =>
  runInDurableObject(guard(), (_, { storage }) =>
    (storage.kv.get<{ alert: Record<string, unknown> }[]>('alerts') ?? []).map(({ alert }) => alert),
  );

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  host = new FakeThreads();
  someone = new Pseudonym();
  holdClock();
  await freshGuard();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The rows that each call writes to the database of the pseudonym. */
async function rowsWrittenBy(calls: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  let rows = 0;
  await runInDurableObject(someone.stub, (_, { storage }) => {
    const { sql, kv } = storage;
    const put = kv.put.bind(kv);
    vi.spyOn(Object.getPrototypeOf(kv) as SyncKvStorage, 'put').mockImplementation((key, value) => {
      rows += 1;
      put(key, value);
    });
    const exec = sql.exec.bind(sql);
    vi.spyOn(Object.getPrototypeOf(sql) as SqlStorage, 'exec').mockImplementation((...args) => {
      const cursor = exec(...args);
      const all = cursor.toArray();
      rows += cursor.rowsWritten;
      return Object.assign(cursor, {
        toArray: () => all,
        one: () => all[0],
        [Symbol.iterator]: () => all[Symbol.iterator](),
      }) as typeof cursor;
    });
  });
  const written = [];
  for (const call of calls) {
    rows = 0;
    await call();
    written.push(rows);
  }
  return written;
}

describe('a report', () => {
  it('writes one row, however many there are, and none when it does not count', exhaustive, async () => {
    // Between flag and block, and below the flag: what a verdict costs is another matter.
    await someone.report('first');
    const report = (name: string, site?: string) => () => someone.report(name, site);
    const below = await rowsWrittenBy([report('second'), report('second'), report('first')]);
    expect(below).toEqual([1, 0, 0]);
    vi.restoreAllMocks();
    await someone.report('third');
    expect(await rowsWrittenBy([report('4', 'site'), report('5', 'site'), report('6', 'site')])).toEqual([
      1, 1, 0,
    ]);
    vi.restoreAllMocks();
    expect(await someone.report('sixth')).toEqual({ reports: 6, state: 'blocked' });
    const crowd = Array.from({ length: 200 }, (_, index) => report(`one of many ${index}`));
    expect(new Set(await rowsWrittenBy(crowd))).toEqual(new Set([0]));
  });

  it('from before the list of look-ups is found by them when its author comes back', async () => {
    await someone.say();
    await someone.reportedBy(6);
    await bindings.DB.exec('DELETE FROM pseudonyms');
    await restartObjects();
    expect(await someone.say()).toEqual({ kind: 'blocked' });
    expect(await isInList(bindings.DB, someone.hash)).toBe(true);
  });
});

describe('the operator', () => {
  it('is told when a pseudonym is flagged, and when it is blocked', async () => {
    await someone.say();
    await someone.reportedBy(6);
    await someone.runDueAlarms();
    const news = {
      kind: 'moderation',
      hash: someone.hash,
      comments: 1,
      repository: 'octo/hello',
      isLast: false,
    };
    expect(await alerts()).toEqual([
      { ...news, state: 'flagged', reports: 3 },
      { ...news, state: 'blocked', reports: 6 },
    ]);
    await someone.runAlarm();
    expect(await alerts()).toHaveLength(2);
  });

  it('is told when the hour is over of what was too much for it', async () => {
    const other = {
      hash: '00000000',
      state: 'flagged',
      reports: 3,
      comments: 1,
      repository: 'octo/hello',
    } as const;
    for (let index = 0; index < 20; index++) await guard().tell({ kind: 'moderation', ...other });
    await someone.say();
    await someone.reportedBy(3);
    await someone.runDueAlarms();
    expect(await alerts()).toHaveLength(20);
    pass(HOUR_MS);
    await someone.runDueAlarms();
    expect((await alerts()).at(-1)).toMatchObject({ hash: someone.hash });
  });

  it('is told later when the guard cannot be reached, and once', async () => {
    await someone.say();
    await someone.reportedBy(3);
    await runInDurableObject(someone.stub, (instance) => {
      const broken = {
        get: () => ({ tell: () => Promise.reject(new Error('gone')) }),
        idFromName: () => null,
      };
      Object.assign(instance, { env: { ...bindings, GUARD: broken } });
    });
    await someone.runDueAlarms();
    expect(await alerts()).toEqual([]);
    await restartObjects();
    await freshGuard();
    pass(MINUTE_MS);
    await someone.runDueAlarms();
    expect(await alerts()).toHaveLength(1);
  });

  it('is not flooded: twenty an hour, the last of which says so, and two of those without comments', async () => {
    const flagged = { hash: someone.hash, state: 'flagged', reports: 3 } as const;
    const ofNobody = { ...flagged, comments: 0, repository: null };
    const ofOther = { ...flagged, comments: 1, repository: 'octo/hello' };
    const answers = [];
    for (let index = 0; index < 22; index++) {
      // What nobody has written is forgotten.
      expect(await guard().tell({ kind: 'moderation', ...ofNobody })).toBe(true);
      answers.push(await guard().tell({ kind: 'moderation', ...ofOther }));
    }
    expect(answers).toEqual(Array.from({ length: 22 }, (_, index) => index < 20));
    const told = await alerts();
    const ofNobodies = told.filter(({ comments }) => comments === 0);
    const ofOthers = told.filter(({ comments }) => comments === 1);
    expect(ofNobodies.map(({ isLast }) => isLast)).toEqual([false, true]);
    expect(ofOthers.map(({ isLast }) => isLast)).toEqual(
      Array.from({ length: 20 }, (_, index) => index === 19),
    );
    pass(HOUR_MS);
    expect(await guard().tell({ kind: 'moderation', ...ofOther })).toBe(true);
    expect(await alerts()).toHaveLength(23);
  });
});

describe('a clock that was set back', () => {
  it('lengthens no cooldown and no report', async () => {
    await someone.say();
    await someone.reportedBy(3);
    expect(await someone.say()).toMatchObject({ kind: 'cooldown' });
    pass(-DAY_MS);
    expect(await someone.say()).toMatchObject({ kind: 'posted', karma: 0 });
    pass(-30 * DAY_MS);
    expect((await someone.stub.publicRecord()).standing).toEqual({ reports: 0, state: 'registered' });
  });
});

const silent = () => new Promise(() => {});

describe('a list of pseudonyms that is silent', () => {
  it('delays a report and a comment by seconds only', async () => {
    const DB = { prepare: () => ({ bind: () => ({ run: silent, first: silent }) }) };
    await runInDurableObject(someone.stub, (instance) => {
      Object.assign(instance, { env: { ...bindings, DB } });
    });
    const waits = timingOutOnly(3_000);
    expect(await someone.say()).toMatchObject({ kind: 'posted' });
    expect(await someone.report('first')).toMatchObject({ reports: 1 });
    // The second is for an answer of the host.
    expect(new Set(waits)).toEqual(new Set([3_000, 10_000]));
  });
});

/** Each call of an object waits for itself: a promise of another call cannot end its wait. */
async function until(is: () => boolean): Promise<void> {
  while (!is()) await scheduler.wait(1);
}

describe('a report that comes while its pseudonym is being deleted', () => {
  it('counts, and is forgotten after thirty days like any other', async () => {
    await someone.report('first');
    pass(31 * DAY_MS);
    const asked = new Set<string>();
    const answered = new Set<string>();
    const prepare = (query: string) => ({
      bind: () => ({
        run: () => {
          const what = query.slice(0, 6);
          asked.add(what);
          return until(() => answered.has(what));
        },
      }),
    });
    await runInDurableObject(someone.stub, (instance) => {
      Object.assign(instance, { env: { ...bindings, DB: { prepare } } });
    });
    const alarm = someone.runAlarm();
    await until(() => asked.has('DELETE'));
    const report = someone.report('second');
    await until(() => asked.has('INSERT'));
    answered.add('DELETE');
    await alarm;
    answered.add('INSERT');
    expect(await report).toEqual({ reports: 1, state: 'registered' });
    expect(await someone.nextAlarm()).not.toBeNull();
  });
});

/** The karma that the footers show. */
const karmas = () => host.textsOn(THREAD).map((text) => /karma \((\d+)\)/.exec(text)?.[1]);

describe('a pardon', () => {
  it('gives back posting, karma and footers, and is in the log', async () => {
    for (let index = 0; index < 3; index++) await someone.say();
    const flaggedAt = Date.now();
    await someone.reportedBy(3);
    await someone.runDueAlarms();
    expect(karmas()).toEqual(['0', '0', '0']);
    pass(MINUTE_MS);
    expect(await someone.stub.pardon()).toEqual({
      standing: { reports: 0, state: 'registered' },
      restoring: 3,
      log: [
        { event: 'flagged', at: flaggedAt },
        { event: 'pardoned', at: Date.now() },
      ],
    });
    await someone.runDueAlarms();
    expect(karmas()).toEqual(['1', '2', '3']);
    expect(await someone.say()).toMatchObject({ kind: 'posted', karma: 4 });
  });

  it('of a blocked one keeps the comments that are not deleted yet', async () => {
    for (let index = 0; index < 12; index++) await someone.say();
    await someone.reportedBy(6);
    await someone.runAlarm();
    expect(karmas()).toEqual(['11', '12']);
    await someone.stub.pardon();
    await someone.runDueAlarms();
    pass(MINUTE_MS);
    await someone.runDueAlarms();
    expect(karmas()).toEqual(['11', '12']);
    expect(await someone.say()).toMatchObject({ kind: 'posted', karma: 13 });
  });

  it('during an edit undoes that edit', async () => {
    await someone.say();
    await someone.reportedBy(3);
    host.disturb = async ({ method }) => {
      if (method === 'PATCH') {
        host.disturb = () => undefined;
        await someone.stub.pardon();
      }
      return undefined;
    };
    await someone.runAlarm();
    await someone.runDueAlarms();
    expect(karmas()).toEqual(['1']);
  });

  it('holds: who has reported before cannot do so again at once, and others can', async () => {
    await someone.say();
    await someone.reportedBy(6);
    pass(1);
    await someone.stub.pardon();
    pass(1);
    expect(await someone.reportedBy(6)).toEqual({ reports: 0, state: 'registered' });
    expect(await someone.reportedBy(3, 'other')).toEqual({ reports: 3, state: 'flagged' });
    await restartObjects();
    expect((await someone.stub.publicRecord()).standing).toEqual({ reports: 3, state: 'flagged' });
    pass(30 * DAY_MS);
    await someone.runAlarm();
    expect(await someone.report('reporter 0')).toMatchObject({ reports: 4 });
  });

  it('of one that nobody has reported is none, and leaves nothing behind', async () => {
    expect(await someone.stub.pardon()).toBeNull();
    expect(await someone.stub.appeal('Please')).toEqual({ kind: 'registered' });
    const tables = await runInDurableObject(someone.stub, (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray(),
    );
    expect(tables).toEqual([]);
  });
});

describe('an appeal', () => {
  it('reaches the operator once a day, and of many at once one', async () => {
    await someone.reportedBy(3);
    const outcomes = await Promise.all(['One', 'Two', 'Three'].map((text) => someone.stub.appeal(text)));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['taken', 'too-often', 'too-often']);
    expect(outcomes[1]).toEqual({ kind: 'too-often', leftMs: DAY_MS });
    expect(await alerts()).toEqual([
      { kind: 'appeal', hash: someone.hash, state: 'flagged', reports: 3, text: 'One' },
    ]);
    pass(DAY_MS - 1);
    expect(await someone.stub.appeal('Again')).toEqual({ kind: 'too-often', leftMs: 1 });
    pass(1);
    expect(await someone.stub.appeal('Again')).toMatchObject({ kind: 'taken' });
  });

  it('that does not arrive may be sent again', exhaustive, async () => {
    await someone.reportedBy(3);
    for (let index = 0; index < 20; index++) {
      const other = new Pseudonym();
      await other.reportedBy(3);
      expect(await other.stub.appeal('Me first')).toMatchObject({ kind: 'taken' });
    }
    expect(await someone.stub.appeal('Please')).toEqual({ kind: 'busy' });
    pass(HOUR_MS);
    expect(await someone.stub.appeal('Please')).toMatchObject({ kind: 'taken' });
  });

  it('is not silenced by a clock that was set back', async () => {
    await someone.reportedBy(3);
    await someone.stub.appeal('Please');
    pass(-2 * DAY_MS);
    expect(await someone.stub.appeal('Please')).toMatchObject({ kind: 'taken' });
  });
});

describe('reports', () => {
  const NOW = 1_800_000_000_000;
  let count = 0;
  const report = (facts: ModerationFacts, at: number, prefix = `prefix ${count}`) =>
    reported(facts, { reporter: `reporter ${(count += 1)}`, prefix }, at);
  const reportedThrice = (before: ModerationFacts, at: number): ModerationFacts => {
    let facts = before;
    for (let time = 0; time < 3; time++) ({ facts } = report(facts, at));
    return facts;
  };

  it('of all networks of one /48 count twice', () => {
    let facts = NO_FACTS;
    for (let time = 0; time < 9; time++) ({ facts } = report(facts, NOW, 'one'));
    expect(standingOf(facts, NOW)).toEqual({ reports: 2, state: 'registered' });
  });

  it('count no more after a pardon, also by a clock that was set back', () => {
    const facts = pardoned(reportedThrice(NO_FACTS, NOW), NOW - HOUR_MS);
    expect(standingOf(facts, NOW)).toEqual({ reports: 0, state: 'registered' });
  });

  it('that do not count, from before a pardon by such a clock, flag nobody anew', () => {
    const before = pardoned(reportedThrice(NO_FACTS, NOW - HOUR_MS), NOW);
    const flagged = reportedThrice(before, NOW + HOUR_MS);
    const { facts, effect } = report(flagged, NOW - 1);
    expect([effect, facts.cooldownUntil]).toEqual(['none', flagged.cooldownUntil]);
    expect(standingOf(facts, NOW).reports).toBe(3);
  });
});
