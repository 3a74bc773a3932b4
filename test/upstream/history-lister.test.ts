/** How often the host is asked for a listing that several requests need, or that is too large. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { GitTransport, HistoryAnswer } from '../../src/host/git/git-transport.ts';
import { HistoryCache, HistoryLister } from '../../src/upstream/history-lister.ts';
import type { SealedStore } from '../../src/secret/sealed-kv.ts';
import { oidNumber, tableOf } from '../support/objects.ts';
import { PatientClock } from '../host/support/scripted-host.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const MINUTE = 60_000;
const NEVER = new Promise<never>(() => {});
const EMPTY_STORE: SealedStore = { get: async () => null, put: async () => {} };

let clock: PatientClock;
let asked: number;
let tip: string;
let tips = 0;

beforeEach(() => {
  clock = new PatientClock();
  asked = 0;
  // What is remembered of other tips does not matter.
  tip = oidNumber(1_000 + tips++);
});

/** Each call is a request of its own. */
function list(answer: () => Promise<HistoryAnswer>, hostName = 'host.test') {
  const listHistory: GitTransport['listHistory'] = async () => ((asked += 1), answer());
  const cache = new HistoryCache(EMPTY_STORE, () => {});
  const lister = new HistoryLister({ hostName, listHistory }, cache, clock);
  return lister.list(REPOSITORY, { tips: [tip], without: [] }, 0);
}

const oneCommit = async (): Promise<HistoryAnswer> => ({
  kind: 'listed',
  commits: tableOf([{ oid: tip, parents: [], committedAt: 1 }]),
});
const tooLarge = async (): Promise<HistoryAnswer> => ({ kind: 'too-large', oldestAt: 0 });

describe('a listing', () => {
  it('of a branch whose dates nobody can read is asked for without a date', async () => {
    const answers: HistoryAnswer[] = [
      { kind: 'none-selected' },
      await oneCommit(),
      { kind: 'none-selected' },
      await oneCommit(),
    ];
    const listing = await list(async () => answers.shift() as HistoryAnswer);
    expect([listing?.newestFirst, listing?.since, asked]).toEqual([[tip], -Infinity, 4]);
  });

  it('is asked for once by six requests at once', async () => {
    const listings = await Promise.all(Array.from({ length: 6 }, () => list(oneCommit)));
    expect(listings.map((listing) => listing?.newestFirst)).toEqual(Array.from({ length: 6 }, () => [tip]));
    expect(asked).toBe(1);
  });

  it('that is too large is asked for once by six requests at once, and again after ten minutes', async () => {
    const listings = await Promise.all(Array.from({ length: 6 }, () => list(tooLarge)));
    expect(listings).toEqual([null, null, null, null, null, null]);
    // The usual window, and the narrow one.
    expect(asked).toBe(2);
    clock.at += 9 * MINUTE;
    expect([await list(oneCommit), asked]).toEqual([null, 2]);
    clock.at += 2 * MINUTE;
    expect(await list(oneCommit)).not.toBeNull();
  });

  it('that is too large in a day is not asked for once more with a narrow window', async () => {
    const oldestAt = clock.now() / 1000 - 86_400;
    expect(await list(async () => ({ kind: 'too-large', oldestAt }))).toBeNull();
    expect(asked).toBe(1);
  });

  it('that another host has made of the same tip, or finds too large, or is slow with, is not taken', async () => {
    const commits = tableOf([{ oid: tip, parents: [oidNumber(1)], committedAt: 1 }]);
    void list(() => NEVER, 'slow.test');
    await list(async () => ({ kind: 'listed', commits }), 'wrong.test');
    await list(tooLarge, 'large.test');
    expect((await list(oneCommit))?.boundary).toEqual(new Set());
    expect(clock.slept).toEqual([]);
  });

  it('that fails is asked for again by the next request', async () => {
    const failing = list(() => Promise.reject(new Error('unreachable')));
    const next = list(oneCommit);
    await expect(failing).rejects.toThrow('unreachable');
    expect((await next)?.newestFirst).toEqual([tip]);
  });

  it('is made by another request if the first one dies', async () => {
    void list(() => NEVER);
    expect((await list(oneCommit))?.newestFirst).toEqual([tip]);
  });
});
