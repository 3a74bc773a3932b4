/** Consequences of reports on the host: footers edited, comments deleted, until it is done. */
import { applyD1Migrations, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Comments } from '../../../src/durable/identity/comments.ts';
import type { Env } from '../../../src/env.ts';
import type { ThreadHost } from '../../../src/host/open.ts';
import { HostError } from '../../../src/words/host-error.ts';
import type { RepositoryName } from '../../../src/words/repository-name.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { withoutPauses } from '../../support/timeouts.ts';
import { FakeThreads } from '../support/fake-threads.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, holdClock, pass } from '../../support/clock.ts';
import { Pseudonym, THREAD } from '../support/pseudonym.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };

const outOfReach = async () => Promise.reject(new Error('out of reach'));

let host: FakeThreads;
let someone: Pseudonym;

const writes = () => host.asked.filter((request) => /^(PATCH|DELETE) /.test(request));
const refuse =
  (status: number, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ message: 'no' }, { status, headers });

async function sayTimes(count: number): Promise<void> {
  for (let index = 0; index < count; index++) await someone.say(`${index}`);
  host.requests.length = 0;
}

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  host = new FakeThreads();
  someone = new Pseudonym();
  holdClock();
  withoutPauses();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('flagging', () => {
  it('edits the footer and nothing else, and keeps the host name of its day', async () => {
    const body = `anon-${someone.hash} · karma (9) · [report](https://veil.test)\n\n---\nmine`;
    await someone.say(body, { origin: 'https://old.veil.test' });
    expect(await someone.reportedBy(3)).toEqual({ reports: 3, state: 'flagged' });
    await someone.runDueAlarms();
    expect(host.textsOn(THREAD)).toEqual([`${body}${someone.footer(0, 'https://old.veil.test')}`]);
  });

  it('leaves alone a comment whose footer someone has changed', async () => {
    await sayTimes(1);
    host.comments[0]!.body = 'Edited by a maintainer';
    await someone.reportedBy(3);
    await someone.runDueAlarms();
    expect(writes()).toEqual([]);
    expect(host.textsOn(THREAD)).toEqual(['Edited by a maintainer']);
  });

  it('edits once: later reports and alarms do not', async () => {
    await sayTimes(1);
    await someone.reportedBy(3);
    await someone.runDueAlarms();
    await someone.reportedBy(5);
    pass(MINUTE_MS);
    await someone.runDueAlarms();
    expect(writes()).toHaveLength(1);
  });
});

it.each([3, 6])('edits and deletions wait for no turn at the account, after %i reports', async (reports) => {
  await sayTimes(2);
  const account = { hostPause: async () => 0, callsSaid: async () => {}, reserve: vi.fn(outOfReach) };
  const accounts = { idFromName: () => null, get: () => account };
  await runInDurableObject(someone.stub, (instance) => {
    Object.assign(instance, { env: { ...bindings, HOST_ACCOUNTS: accounts } });
  });
  await someone.reportedBy(reports);
  await someone.runDueAlarms();
  expect(writes()).toHaveLength(2);
  expect(account.reserve).not.toHaveBeenCalled();
});

describe('blocking', () => {
  it('deletes all comments, in order, and no error is made of one that is gone', async () => {
    await sayTimes(3);
    host.remove(2);
    await someone.reportedBy(6);
    await someone.runDueAlarms();
    expect(host.comments).toEqual([]);
    expect(writes()).toEqual([1, 2, 3].map((id) => `DELETE /repos/octo/hello/issues/comments/${id}`));
    pass(HOUR_MS);
    await someone.runDueAlarms();
    expect(writes()).toHaveLength(3);
  });

  it('takes many comments in turns, as the host asks', async () => {
    await sayTimes(25);
    await someone.reportedBy(6);
    await someone.runDueAlarms();
    expect(host.comments).toHaveLength(15);
    for (let turn = 0; turn < 2; turn++) {
      pass(10_000);
      await someone.runDueAlarms();
    }
    expect(host.comments).toEqual([]);
  });

  it('does not wait for a guard that is away', async () => {
    await sayTimes(1);
    const stub = { track: outOfReach, tell: async () => Promise.resolve(true) };
    const guard = { idFromName: () => null, get: () => stub };
    await runInDurableObject(someone.stub, (instance) => {
      Object.assign(instance, { env: { ...bindings, GUARD: guard } });
    });
    await someone.say('not tracked yet');
    pass(6 * MINUTE_MS);
    await someone.reportedBy(6);
    await someone.runAlarm();
    expect(host.comments.map(({ body }) => body)).toEqual([expect.stringContaining('not tracked yet')]);
  });

  it('replaces an edit that is still to be done', async () => {
    await sayTimes(1);
    host.disturb = refuse(403);
    await someone.reportedBy(3);
    await someone.runDueAlarms();
    host.disturb = () => undefined;
    await someone.reportedBy(6);
    await someone.runDueAlarms();
    expect(host.comments).toEqual([]);
  });
});

describe('when the host', () => {
  it('does not answer, it is asked ever more rarely, and in the end does it', async () => {
    await sayTimes(1);
    host.disturb = refuse(503);
    await someone.reportedBy(6);
    const delays: number[] = [];
    for (let attempt = 0; attempt < 2; attempt++) {
      await someone.runDueAlarms();
      const dueAt = (await someone.nextAlarm()) ?? 0;
      delays.push((dueAt - Date.now()) / 1000);
      pass(dueAt - Date.now());
    }
    expect(delays).toEqual([5, 10]);
    await restartObjects();
    host.disturb = () => undefined;
    await someone.runDueAlarms();
    expect(host.comments).toEqual([]);
  });

  it('refuses one comment, the others do not wait for it; after a month it is left alone', async () => {
    await sayTimes(2);
    host.disturb = ({ path }) => (path.endsWith('/1') ? refuse(403)() : undefined);
    await someone.reportedBy(6);
    await someone.runDueAlarms();
    expect(host.comments.map(({ id }) => id)).toEqual([1]);
    pass(31 * DAY_MS);
    await someone.runDueAlarms();
    // Nothing is left to do but to forget the log.
    expect(await someone.nextAlarm()).toBeGreaterThan(Date.now() + 58 * DAY_MS);
    pass(60 * DAY_MS);
    await someone.runDueAlarms();
    expect(await someone.nextAlarm()).toBeNull();
  });

  it('shows one comment, and says that there is none to delete, only that one is tried again', async () => {
    await sayTimes(2);
    host.disturb = ({ method, path }) =>
      method === 'DELETE' && path.endsWith('/1') ? refuse(404)() : undefined;
    await someone.reportedBy(6);
    await someone.runDueAlarms();
    expect(host.comments.map(({ id }) => id)).toEqual([1]);
    pass(2 * DAY_MS);
    await someone.runDueAlarms();
    host.disturb = () => undefined;
    pass(DAY_MS);
    await someone.runDueAlarms();
    expect(host.comments).toEqual([]);
  });

  it('does not show the repository for an hour, its comments are deleted afterwards', async () => {
    await sayTimes(3);
    host.disturb = refuse(404);
    await someone.reportedBy(6);
    await someone.runDueAlarms();
    // The others wait for the first one.
    expect(writes()).toHaveLength(1);
    pass(HOUR_MS);
    await someone.runDueAlarms();
    host.disturb = () => undefined;
    pass(HOUR_MS);
    await someone.runDueAlarms();
    expect(host.comments).toEqual([]);
  });

  it('does not show the repository for a day, its comments are given up', async () => {
    await sayTimes(3);
    host.disturb = refuse(404);
    await someone.reportedBy(6);
    await someone.runDueAlarms();
    pass(25 * HOUR_MS);
    for (let turn = 0; turn < 3; turn++) {
      await someone.runDueAlarms();
      pass(MINUTE_MS);
    }
    host.disturb = () => undefined;
    pass(2 * HOUR_MS);
    await someone.runDueAlarms();
    expect(host.comments).toHaveLength(3);
    expect(await someone.nextAlarm()).toBeGreaterThan(Date.now() + 28 * DAY_MS);
  });

  it('is in the middle of it, a crash loses nothing', async () => {
    await sayTimes(3);
    await someone.reportedBy(3);
    host.loseAnswer = ({ method }) => (method === 'PATCH' ? new Promise(() => {}) : undefined);
    void someone.runAlarm().catch(() => {});
    await expect.poll(writes).toHaveLength(1);
    await restartObjects();
    host.loseAnswer = () => undefined;
    // The platform keeps the alarm of a run that did not come to its end; `runDurableObjectAlarm`
    // does not.
    await runInDurableObject(someone.stub, (_, { storage }) => storage.setAlarm(Date.now()));
    await someone.runAlarm();
    expect(host.textsOn(THREAD)).toEqual([0, 1, 2].map((index) => `${index}${someone.footer(0)}`));
  });
});

describe('where the host says that the App may be missing', () => {
  const HELLO = { owner: 'octo', name: 'hello' };
  const OTHER = { owner: 'octo', name: 'other' };
  const doubt = { effect: 'none', lasts: 'until', retryAfterMs: 10 * MINUTE_MS, isLocal: true } as const;

  /** A host that doubts the App in one repository, and what it was asked for. */
  function doubting() {
    const asked: string[] = [];
    const doubtIn = (repository: RepositoryName) => {
      asked.push(repository.name);
      if (repository.name === 'hello') throw new HostError('unreachable', 'No.', undefined, doubt);
    };
    const there: Partial<ThreadHost> = {
      deleteComment: async (repository) => doubtIn(repository),
      ownComments: async (repository) => {
        doubtIn(repository);
        return [];
      },
    };
    return { asked, there: there as ThreadHost };
  }

  it('only what is to be done in that repository waits', async () => {
    await runInDurableObject(someone.stub, async (_, { storage }) => {
      const comments = new Comments(storage.sql, someone.hash);
      for (const [at, repository] of [HELLO, HELLO, OTHER].entries()) {
        const attempt = comments.begin({ repository, number: 1 }, Date.now());
        comments.settle(attempt, { id: at + 1 }, Date.now());
      }
      comments.order('delete', Date.now());
      const { asked, there } = doubting();
      await comments.doDue(there, async () => {});
      expect(asked).toContain('other');
      expect(comments.dueChores(Date.now() + 9 * MINUTE_MS)).toEqual([]);
      expect(comments.dueChores(Date.now() + 10 * MINUTE_MS)).toHaveLength(2);
    });
  });

  it('only what may have been posted in that repository is looked for later', async () => {
    await runInDurableObject(someone.stub, async (_, { storage }) => {
      const comments = new Comments(storage.sql, someone.hash);
      for (const repository of [HELLO, OTHER]) comments.begin({ repository, number: 1 }, Date.now());
      pass(6 * MINUTE_MS);
      const { asked, there } = doubting();
      await comments.doDue(there, async () => {});
      expect(asked).toEqual(['hello', 'other']);
      expect(comments.dueAttempts(Date.now() + 9 * MINUTE_MS)).toEqual([]);
      expect(comments.dueAttempts(Date.now() + 10 * MINUTE_MS)).toMatchObject([{ repository: HELLO }]);
    });
  });
});

describe('with a bad configuration', () => {
  it('the alarm waits for a better one', async () => {
    await sayTimes(1);
    await someone.reportedBy(6);
    await runInDurableObject(someone.stub, async (identity) => {
      Object.assign(identity, { env: { ...bindings, HOSTING_URL: 'no address' } });
      await identity.alarm();
    });
    expect(await someone.nextAlarm()).toBe(Date.now() + 15 * MINUTE_MS);
    await restartObjects();
    await someone.runAlarm();
    expect(host.comments).toEqual([]);
  });
});
