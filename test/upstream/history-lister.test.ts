/** How often the host is asked for a listing that several requests need, or that is too large. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { ListedCommit } from '../../src/git/objects/commit-table.ts';
import type { HistoryAnswer } from '../../src/host/git/git-answers.ts';
import type { GitTransport } from '../../src/host/git/git-transport.ts';
import {
  HistoryCache,
  decodeListing,
  encodeListing,
  type HistoryListing,
} from '../../src/upstream/history-cache.ts';
import { HistoryLister } from '../../src/upstream/history-lister.ts';
import { forgetEverything } from '../../src/isolate/recent.ts';
import { type SealedStore, SealedKv } from '../../src/secret/sealed-kv.ts';
import { oidNumber, tableOf } from '../support/objects.ts';
import { PatientClock } from '../host/support/scripted-host.ts';
import * as fc from 'fast-check';
import { env } from 'cloudflare:workers';
import type { Env } from '../../src/env.ts';
import { runs } from '../support/runs.ts';
import { exhaustive } from '../support/exhaustive.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const MINUTE = 60_000;
const HOUR_MS = 60 * MINUTE;
const NEVER = new Promise<never>(() => {});
const EMPTY_STORE: SealedStore = { get: async () => null, put: async () => {} };

let clock: PatientClock;
let asked: number;
let tip: string;
let lastTip = 0;

beforeEach(() => {
  clock = new PatientClock();
  asked = 0;
  // What is remembered of other tips does not matter.
  tip = oidNumber(1_000 + lastTip++);
});

/** Each call is a request of its own. */
function list(answer: () => Promise<HistoryAnswer>, hostName = 'host.test') {
  const listHistory: GitTransport['listHistory'] = async () => ((asked += 1), answer());
  const cache = new HistoryCache(EMPTY_STORE, () => {});
  const lister = new HistoryLister({ hostName, listHistory }, cache, clock);
  return lister.list(REPOSITORY, { tips: [tip], without: [] }, 0);
}

const listed = (...commits: readonly ListedCommit[]): HistoryAnswer => ({
  kind: 'listed',
  commits: tableOf(commits),
  conventions: new Set(),
});
const oneCommit = async () => listed({ oid: tip, parents: [], committedAt: 1 });
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
    await list(async () => ({ kind: 'listed', commits, conventions: new Set() }), 'wrong.test');
    await list(tooLarge, 'large.test');
    expect((await list(oneCommit))?.boundary).toEqual(new Set());
    expect(clock.slept).toEqual([]);
  });

  it('that was kept in the first form, without conventions, is not taken', async () => {
    const cache = new HistoryCache(EMPTY_STORE, () => {});
    cache.put(`history/host.test/${tip}/90`, made(3), HOUR_MS);
    expect((await list(oneCommit))?.newestFirst).toEqual([tip]);
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

// Listings of upstream's history: as they are stored, and where they are kept.

const { HISTORY } = env as unknown as Env;
const STORE = new SealedKv(HISTORY, async () => 'a secret');
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** The odd ones are reached from the second tip only. */
function made(count: number, boundary: readonly string[] = [], since = -Infinity): HistoryListing {
  const newestFirst = Array.from({ length: count }, (_, index) => index.toString(16).padStart(40, '0'));
  const tips = [oidNumber(1), oidNumber(2)];
  const tipsOf = new Map(newestFirst.map((oid, index) => [oid, index % 2]));
  const conventions = new Set(['link:', '//lore.kernel.org']);
  return { since, tips, newestFirst, listed: tipsOf, boundary: new Set(boundary), conventions };
}

/** A namespace that counts, and fails on demand. */
function countingStore(fails = false) {
  const calls = { get: 0, put: 0 };
  const store: SealedStore = {
    get: async (name) => {
      calls.get += 1;
      if (fails) throw new Error('KV is down');
      return STORE.get(name);
    },
    put: async (...entry) => {
      calls.put += 1;
      if (fails) throw new Error('KV is down');
      return STORE.put(...entry);
    },
  };
  const works: Promise<unknown>[] = [];
  const cache = new HistoryCache(store, (work) => works.push(work));
  return { cache, calls, settled: () => Promise.all(works) };
}

it.each<[string, () => Promise<HistoryAnswer>, boolean]>([
  ['only roots are left', oneCommit, true],
  [
    'a parent is among theirs',
    async () => listed({ oid: tip, parents: [oidNumber(1)], committedAt: 1 }),
    false,
  ],
  ['they have all of it', async () => listed(), false],
  ['it is too much to know', tooLarge, false],
])(
  'a tip is apart from others if its rest has an end of its own, and nothing of it is kept: %s',
  async (...row) => {
    const [, answer, isApart] = row;
    const { cache, calls, settled } = countingStore();
    const lister = new HistoryLister({ hostName: 'host.test', listHistory: answer }, cache, clock);
    expect(await lister.isApart(REPOSITORY, tip, [oidNumber(2)])).toBe(isApart);
    await settled();
    expect(calls).toEqual({ get: 0, put: 0 });
  },
);

it('whether a tip is apart is asked once, however often and by how many at once', async () => {
  let count = 0;
  const listHistory = async (): Promise<HistoryAnswer> => ((count += 1), oneCommit());
  const open = () => {
    const cache = new HistoryCache(EMPTY_STORE, () => {});
    return new HistoryLister({ hostName: 'host.test', listHistory }, cache, clock);
  };
  const ask = () => open().isApart(REPOSITORY, tip, [oidNumber(2)]);
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([true, true, true]);
  expect([await ask(), count]).toEqual([true, 1]);
  await open().isApart(REPOSITORY, tip, [oidNumber(3)]);
  expect(count).toBe(2);
});

describe('a stored listing', () => {
  it.each([
    ['of nothing', made(0)],
    ['of everything', made(3)],
    ['of a period', made(3, [oidNumber(100), oidNumber(101)], 1_700_000_000)],
    ['of a period before 1970', made(1, [], -1)],
  ])('%s is read back as it was', (_, stored) => {
    expect(decodeListing(encodeListing(stored))).toEqual(stored);
  });

  it('takes some 45 bytes a commit', () => {
    expect(encodeListing(made(1000, [oidNumber(1)])).byteLength).toBeLessThan(1000 * 46);
  });

  it('is read back as it was, whatever it holds', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(50), fc.option(fc.maxSafeInteger()), (count, borders, since) => {
        const boundary = Array.from({ length: borders }, (_, index) => oidNumber(1000 + index));
        const stored = made(count, boundary, since ?? -Infinity);
        expect(decodeListing(encodeListing(stored))).toEqual(stored);
      }),
      runs(50),
    );
  });
});

describe('a history cache', () => {
  it('finds nothing that was never put', async () => {
    expect(await countingStore().cache.get('history/nothing/90')).toBeNull();
  });

  it('answers from memory what this isolate has listed', async () => {
    const { cache, calls } = countingStore();
    cache.put('history/a/90', made(5), HOUR_MS);
    expect(await cache.get('history/a/90')).toEqual(made(5));
    expect(calls.get).toBe(0);
  });

  it('answers from the store what another isolate has listed, and asks it once', async () => {
    await STORE.put('history/b/90', encodeListing(made(7)), WEEK_MS);
    const { cache, calls } = countingStore();
    expect(await cache.get('history/b/90')).toEqual(made(7));
    expect(await cache.get('history/b/90')).toEqual(made(7));
    expect(calls.get).toBe(1);
  });

  it('puts into the store for the other isolates, without making anyone wait', async () => {
    const { cache, settled } = countingStore();
    cache.put('history/c/90', made(2), HOUR_MS);
    await settled();
    const stored = await STORE.get('history/c/90');
    expect(stored && decodeListing(stored)).toEqual(made(2));
  });

  it('puts a bounded number of ids into the store in an hour, because anyone can cause listings', async () => {
    forgetEverything();
    const { cache, calls, settled } = countingStore(true);
    const listing = { ...made(0), tips: made(30_000).newestFirst };
    for (let at = 0; at < 8; at++) cache.put(`history/many-${at}/90`, listing, HOUR_MS);
    await settled();
    expect(calls.put).toBe(4);
    expect(await cache.get('history/many-7/90')).not.toBeNull();
    for (let at = 0; at < 1_100; at++) cache.put(`history/small-${at}/90`, made(1), 2 * HOUR_MS);
    await settled();
    expect(calls.put).toBe(4 + 1_000);
  });

  it('goes on without its store', async () => {
    const { cache, settled } = countingStore(true);
    expect(await cache.get('history/d/90')).toBeNull();
    cache.put('history/d/90', made(1), HOUR_MS);
    await settled();
    expect(await cache.get('history/d/90')).toEqual(made(1));
  });

  it('holds a bounded number of commits, those used last', async () => {
    const { cache, settled } = countingStore(true);
    for (const name of ['old', 'used', 'third']) cache.put(`history/${name}/all`, made(30_000), HOUR_MS);
    await cache.get('history/used/all');
    cache.put('history/fourth/all', made(40_000), HOUR_MS);
    await settled();
    expect(await cache.get('history/used/all')).not.toBeNull();
    expect(await cache.get('history/fourth/all')).not.toBeNull();
    expect(await cache.get('history/old/all')).toBeNull();
  });

  it('counts the tips, too: those of tags may list no commit', async () => {
    const { cache, settled } = countingStore(true);
    const { newestFirst: tips } = made(60_000);
    for (const name of ['first', 'second']) cache.put(`history/${name}/all`, { ...made(0), tips }, HOUR_MS);
    await settled();
    expect(await cache.get('history/second/all')).not.toBeNull();
    expect(await cache.get('history/first/all')).toBeNull();
  });

  it('counts the parents that are not listed, too: a commit may name thousands', async () => {
    const { cache, settled } = countingStore(true);
    const { newestFirst: boundary } = made(60_000);
    for (const name of ['one', 'two']) cache.put(`history/${name}/90`, made(1, boundary, 0), HOUR_MS);
    await settled();
    expect(await cache.get('history/two/90')).not.toBeNull();
    expect(await cache.get('history/one/90')).toBeNull();
  });

  it('counts a listing that is put again once', exhaustive, async () => {
    const { cache, settled } = countingStore(true);
    cache.put('history/small/90', made(10), HOUR_MS);
    for (let i = 0; i < 6; i++) cache.put('history/again/90', made(20_000), HOUR_MS);
    await settled();
    expect(await cache.get('history/small/90')).not.toBeNull();
  });
});
