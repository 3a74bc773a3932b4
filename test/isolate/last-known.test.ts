/** Answers of a ledger that is slow, dead, or back again; and which place is asked for them. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import {
  LastKnown,
  openLastKnown,
  type LastKnownPlaces,
  type Question,
} from '../../src/isolate/last-known.ts';
import { Recent } from '../../src/isolate/recent.ts';
import { SealedKv, type SealedStore } from '../../src/secret/sealed-kv.ts';
import { timingOutOnly } from '../support/timeouts.ts';

const { LAST_KNOWN } = env as unknown as Env;
const STORE = new SealedKv(LAST_KNOWN, async () => 'a secret');

let work: Promise<unknown>[];
let failures: unknown[];
let answer: () => Promise<number>;
let asked: number;
let lastName = 0;

function question(): Question<number> {
  return {
    name: `question/${++lastName}`,
    freshMs: 5_000,
    nothing: 0,
    ask: () => {
      asked += 1;
      return answer();
    },
  };
}

/** Without arguments: another isolate of the same data centre, with an empty memory. */
function isolate(places: Partial<LastKnownPlaces> = {}): LastKnown {
  return new LastKnown({
    cache: caches.default,
    cacheAddress: async (name) => `https://gitveil.test/.last-known/${name}`,
    kv: STORE,
    memory: new Recent({ most: 10 }),
    later: (promise) => void work.push(promise),
    onFailure: (error) => void failures.push(error),
    ...places,
  });
}

/** Another data centre: its cache is empty, and stays so. */
const farAway = (): LastKnown =>
  isolate({
    cache: {
      match: () => Promise.resolve(undefined),
      put: () => Promise.resolve(),
      delete: () => Promise.resolve(false),
    },
  });

const dead = (): Promise<never> => Promise.reject(new Error('connection refused'));
const silent = (): Promise<number> => new Promise(() => {});

const settled = (): Promise<unknown> => Promise.all(work);
const pass = (ms: number): unknown => vi.setSystemTime(Date.now() + ms);

beforeEach(() => {
  work = [];
  failures = [];
  asked = 0;
  answer = () => Promise.resolve(7);
  vi.useFakeTimers({ toFake: ['Date'] });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('the cache of a deployment', () => {
  it('has no name of a question in an address', async () => {
    const put = vi.spyOn(caches.default, 'put');
    const config = { serviceUrl: 'https://gitveil.test', identitySecret: 'a secret' };
    const known = openLastKnown(env as unknown as Env, config, (error) => void failures.push(error));
    const asking = { ...question(), name: `count/octo/hello-${lastName}` };
    expect(await known.read(asking)).toBe(7);
    await expect.poll(() => put.mock.calls).toHaveLength(1);
    const [address] = put.mock.calls[0] ?? [];
    expect(address).toMatch(/^https:\/\/gitveil\.test\/\.last-known\/[0-9a-f]{64}$/);
    await put.mock.results[0]?.value;
    expect(await caches.default.match(address as string)).toBeDefined();
    await known.forget(asking.name);
    expect(await caches.default.match(address as string)).toBeUndefined();
    expect(failures).toEqual([]);
  });
});

const ofBadge = (): Question<number | null> => ({ ...question(), atOnceMs: 1 });

describe('what may be answered at once', () => {
  it('is what was known last, and the ledger is asked behind it, once', async () => {
    const [known, asking] = [isolate(), ofBadge()];
    expect(await known.read(asking)).toBe(7);
    await settled();
    pass(5_000);
    const { promise, resolve } = Promise.withResolvers<number>();
    answer = () => promise;
    for (let time = 0; time < 3; time++) expect(await known.read(asking)).toBe(7);
    expect(asked).toBe(2);
    resolve(8);
    await settled();
    expect(await known.read(asking)).toBe(8);
  });

  it('is what another data centre knew, if the ledger is silent', async () => {
    const asking = ofBadge();
    await isolate().read(asking);
    await settled();
    answer = silent;
    expect(await farAway().read({ ...asking, atOnceMs: 60_000 })).toBe(7);
  });

  it('waits no longer than that if nothing is known, and keeps what comes later', async () => {
    const [known, asking] = [isolate(), ofBadge()];
    const { promise, resolve } = Promise.withResolvers<number>();
    answer = () => promise;
    expect(await known.read(asking)).toBeUndefined();
    resolve(8);
    await settled();
    expect(await known.read(asking)).toBe(8);
  });

  it('may be that there is nothing', async () => {
    const asking: Question<number | null> = { ...ofBadge(), atOnceMs: 60_000, ask: async () => null };
    expect(await isolate().read(asking)).toBeNull();
  });
});

describe('while the ledger answers', () => {
  it('asks it once in a while, and after that again', async () => {
    const known = isolate();
    const asking = question();
    expect(await known.read(asking)).toBe(7);
    answer = () => Promise.resolve(8);
    pass(4_999);
    expect(await known.read(asking)).toBe(7);
    expect(asked).toBe(1);
    pass(1);
    expect(await known.read(asking)).toBe(8);
    await settled();
  });

  it('asks it again when a clock was set back', async () => {
    const [known, asking] = [isolate(), question()];
    await known.read(asking);
    await settled();
    pass(-60_000);
    await known.read(asking);
    expect(asked).toBe(2);
    await settled();
  });

  it('asks it once for all isolates of a data centre', async () => {
    const asking = question();
    await isolate().read(asking);
    await settled();
    expect(await isolate().read(asking)).toBe(7);
    expect(asked).toBe(1);
    pass(5_000);
    await isolate().read(asking);
    expect(asked).toBe(2);
    await settled();
  });

  it('writes to KV when the value has changed, and never that there is nothing', async () => {
    const put = vi.spyOn(STORE, 'put');
    const asking = question();
    for (const value of [0, 7, 7, 8, 0]) {
      answer = () => Promise.resolve(value);
      await isolate().read(asking);
      await settled();
      pass(5_000);
    }
    const written = put.mock.calls.map(([, value]) => new TextDecoder().decode(value));
    expect(written).toEqual(['7', '8', '0']);
  });

  it('leaves KV alone while nothing changes', async () => {
    const known = isolate();
    const asking = question();
    await known.read(asking);
    await settled();
    const calls = [vi.spyOn(LAST_KNOWN, 'get'), vi.spyOn(LAST_KNOWN, 'put')];
    pass(5_000);
    await known.read(asking);
    await settled();
    expect(asked).toBe(2);
    for (const call of calls) expect(call).not.toHaveBeenCalled();
  });

  it('answers also when no place takes anything', async () => {
    const kv = { get: dead, put: dead } as unknown as SealedStore;
    const known = isolate({ cache: { match: dead, put: dead, delete: dead }, kv });
    const asking = question();
    expect(await known.read(asking)).toBe(7);
    await known.forget(asking.name);
    expect(await known.read(asking)).toBe(7);
    await settled();
  });

  it('asks it again for what was forgotten', async () => {
    const known = isolate();
    const asking = question();
    await known.read(asking);
    await settled();
    await known.forget(asking.name);
    await known.read(asking);
    expect(asked).toBe(2);
    await settled();
    await isolate().read(asking);
    expect(asked).toBe(2);
    await settled();
  });

  it('keeps no answer that was asked for before it was forgotten', async () => {
    const known = isolate();
    const asking = question();
    const slow = Promise.withResolvers<number>();
    answer = () => slow.promise;
    const early = known.read(asking);
    await expect.poll(() => asked).toBe(1);
    await known.forget(asking.name);
    slow.resolve(6);
    expect(await early).toBe(6);
    answer = () => Promise.resolve(7);
    expect([await known.read(asking), await isolate().read(asking)]).toEqual([7, 7]);
    await settled();
  });

  it('asks it each time if the answer is never fresh, and keeps the last one only for when it fails', async () => {
    const known = isolate();
    const asking = { ...question(), freshMs: 0 };
    expect(await known.read(asking)).toBe(7);
    answer = () => Promise.resolve(8);
    expect(await known.read(asking)).toBe(8);
    await settled();
    answer = dead;
    expect([await known.read(asking), await isolate().read(asking)]).toEqual([8, 8]);
    answer = () => Promise.resolve(9);
    expect([await known.read(asking), await isolate().read(asking)]).toEqual([9, 9]);
    await settled();
  });
});

describe('while the ledger is dead', () => {
  it('answers the last known value from memory, and asks again every five seconds', async () => {
    const known = isolate();
    const asking = question();
    await known.read(asking);
    await settled();
    answer = dead;
    pass(60_000);
    expect(await known.read(asking)).toBe(7);
    expect(failures).toHaveLength(1);
    pass(4_999);
    expect(await known.read(asking)).toBe(7);
    expect(asked).toBe(2);
    answer = () => Promise.resolve(9);
    pass(1);
    expect(await known.read(asking)).toBe(9);
    await settled();
  });

  it('answers the last known value from KV where it has never been asked before', async () => {
    const asking = question();
    await isolate().read(asking);
    await settled();
    answer = dead;
    expect(await farAway().read(asking)).toBe(7);
  });

  it('has no answer when there never was one', async () => {
    answer = dead;
    expect(await isolate().read(question())).toBeUndefined();
  });

  it('waits three seconds for it, or as long as the question says, and no longer', async () => {
    vi.useRealTimers();
    const waits = timingOutOnly(3_000, 9_000);
    const asking = question();
    await STORE.put(asking.name, new TextEncoder().encode('5'), 60_000);
    answer = silent;
    expect(await isolate().read(asking)).toBe(5);
    expect(waits[0]).toBe(3_000);
    expect(failures).toMatchObject([{ name: 'TimeoutError' }]);
    waits.length = 0;
    expect(await isolate().read({ ...asking, patienceMs: 9_000 })).toBe(5);
    expect(waits[0]).toBe(9_000);
  });

  it('waits two seconds for KV, and has no answer then', async () => {
    vi.useRealTimers();
    timingOutOnly(2_000);
    answer = dead;
    const kv = { get: silent } as unknown as SealedStore;
    expect(await isolate({ kv }).read(question())).toBeUndefined();
  });
});
