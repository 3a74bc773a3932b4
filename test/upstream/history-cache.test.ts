/** Listings of upstream's history: as they are stored, and where they are kept. */
import * as fc from 'fast-check';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { Env } from '../../src/env.ts';
import {
  decodeListing,
  encodeListing,
  HistoryCache,
  type HistoryListing,
} from '../../src/upstream/history-lister.ts';
import { SealedKv, type SealedStore } from '../../src/secret/sealed-kv.ts';
import { oidNumber } from '../support/objects.ts';
import { runs } from '../support/runs.ts';

const { HISTORY } = env as unknown as Env;
const STORE = new SealedKv(HISTORY, async () => 'a secret');
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** The odd ones are reached from the second tip only. */
function listing(count: number, boundary: readonly string[] = [], since = -Infinity): HistoryListing {
  const newestFirst = Array.from({ length: count }, (_, index) => index.toString(16).padStart(40, '0'));
  const tips = [oidNumber(1), oidNumber(2)];
  const listed = new Map(newestFirst.map((oid, index) => [oid, index % 2]));
  return { since, tips, newestFirst, listed, boundary: new Set(boundary) };
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

describe('a stored listing', () => {
  it.each([
    ['of nothing', listing(0)],
    ['of everything', listing(3)],
    ['of a period', listing(3, [oidNumber(100), oidNumber(101)], 1_700_000_000)],
    ['of a period before 1970', listing(1, [], -1)],
  ])('%s is read back as it was', (_, stored) => {
    expect(decodeListing(encodeListing(stored))).toEqual(stored);
  });

  it('takes some 45 bytes a commit', () => {
    expect(encodeListing(listing(1000, [oidNumber(1)])).byteLength).toBeLessThan(1000 * 46);
  });

  it('is read back as it was, whatever it holds', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(50), fc.option(fc.maxSafeInteger()), (count, borders, since) => {
        const boundary = Array.from({ length: borders }, (_, index) => oidNumber(1000 + index));
        const stored = listing(count, boundary, since ?? -Infinity);
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
    cache.put('history/a/90', listing(5));
    expect(await cache.get('history/a/90')).toEqual(listing(5));
    expect(calls.get).toBe(0);
  });

  it('answers from the store what another isolate has listed, and asks it once', async () => {
    await STORE.put('history/b/90', encodeListing(listing(7)), WEEK_MS);
    const { cache, calls } = countingStore();
    expect(await cache.get('history/b/90')).toEqual(listing(7));
    expect(await cache.get('history/b/90')).toEqual(listing(7));
    expect(calls.get).toBe(1);
  });

  it('puts into the store for the other isolates, without making anyone wait', async () => {
    const { cache, settled } = countingStore();
    cache.put('history/c/90', listing(2));
    await settled();
    const stored = await STORE.get('history/c/90');
    expect(stored && decodeListing(stored)).toEqual(listing(2));
  });

  it('goes on without its store', async () => {
    const { cache, settled } = countingStore(true);
    expect(await cache.get('history/d/90')).toBeNull();
    cache.put('history/d/90', listing(1));
    await settled();
    expect(await cache.get('history/d/90')).toEqual(listing(1));
  });

  it('holds a bounded number of commits, those used last', async () => {
    const { cache, settled } = countingStore(true);
    for (const name of ['old', 'used', 'third']) cache.put(`history/${name}/all`, listing(30_000));
    await cache.get('history/used/all');
    cache.put('history/fourth/all', listing(40_000));
    await settled();
    expect(await cache.get('history/used/all')).not.toBeNull();
    expect(await cache.get('history/fourth/all')).not.toBeNull();
    expect(await cache.get('history/old/all')).toBeNull();
  });

  it('counts the tips, too: those of tags may list no commit', async () => {
    const { cache, settled } = countingStore(true);
    const { newestFirst: tips } = listing(60_000);
    for (const name of ['first', 'second']) cache.put(`history/${name}/all`, { ...listing(0), tips });
    await settled();
    expect(await cache.get('history/second/all')).not.toBeNull();
    expect(await cache.get('history/first/all')).toBeNull();
  });

  it('counts a listing that is put again once', async () => {
    const { cache, settled } = countingStore(true);
    cache.put('history/small/90', listing(10));
    for (let i = 0; i < 6; i++) cache.put('history/again/90', listing(20_000));
    await settled();
    expect(await cache.get('history/small/90')).not.toBeNull();
  });
});
