/** The object of the bot account: its pauses, its budget and the shares of clients in it, and whether its host can be used. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { FORM_LIFE_MS } from '../../../src/secret/form-token.ts';
import { isWithin, type Limit } from '../../../src/limits/sliding-window.ts';
import { restartObjects } from '../../support/all-objects.ts';

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LIMITS: readonly Limit[] = [
  { most: 80, withinMs: MINUTE_MS },
  { most: 500, withinMs: HOUR_MS },
];
const TEN_AN_HOUR = [{ most: 10, withinMs: HOUR_MS }];

let count = 0;
function sameAccount() {
  return bindings.HOST_ACCOUNTS.get(bindings.HOST_ACCOUNTS.idFromName(`account-${count}`));
}
function newAccount() {
  count += 1;
  return sameAccount();
}

function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

beforeEach(() => pass(0));
afterEach(() => vi.useRealTimers());

const creationsLeft = async (limits = LIMITS) => (await sameAccount().figures(limits)).creationsLeft;

describe('the code host', () => {
  it('is left alone by the account that it has asked, for as long as it said, also after a restart', async () => {
    const other = newAccount();
    const account = newAccount();
    await account.pauseHost(10 * MINUTE_MS);
    await account.pauseHost(MINUTE_MS);
    expect(await account.admit('a', true, LIMITS)).toMatchObject({ pauseMs: 10 * MINUTE_MS });
    expect(await other.admit('a', true, LIMITS)).toMatchObject({ pauseMs: 0 });
    await restartObjects();
    pass(4 * MINUTE_MS);
    expect(await sameAccount().hostPause()).toBe(6 * MINUTE_MS);
    pass(6 * MINUTE_MS);
    expect(await sameAccount().hostPause()).toBe(0);
  });

  it('is not left alone for longer when a clock was set back, and asks anew', async () => {
    const account = newAccount();
    await account.pauseHost(10 * MINUTE_MS);
    pass(-24 * HOUR_MS);
    expect(await account.hostPause()).toBe(0);
    await account.pauseHost(MINUTE_MS);
    expect(await account.hostPause()).toBe(MINUTE_MS);
  });
});

describe('what the account may create', () => {
  it('goes to ten thousand clients at once, to each once, and the greedy one is refused first', async () => {
    await runInDurableObject(newAccount(), (account) => {
      /** What the host sees. */
      const created: number[] = [];
      const of = new Map<string, number>();
      const refused = new Set<string>();
      let [taken, givenBack] = [0, 0];
      const write = (client: string, fails = false): number => {
        const { waitMs, taken: id } = account.admit(client, true, LIMITS);
        if (waitMs > 0) {
          expect(waitMs).toBeLessThanOrEqual(HOUR_MS);
          refused.add(client);
          return waitMs;
        }
        taken += 1;
        if (fails && id !== null) {
          givenBack += 1;
          // Once more changes nothing.
          for (let time = 0; time < 2; time++) account.giveBack(id);
          return 0;
        }
        created.push(Date.now());
        of.set(client, (of.get(client) ?? 0) + 1);
        for (const { most, withinMs } of LIMITS) {
          expect(created.filter((at) => isWithin(at, withinMs, Date.now())).length).toBeLessThanOrEqual(most);
        }
        return 0;
      };

      // At one moment: the greedy one is the first, a hundred times, and then the crowd, of which every tenth fails.
      for (let time = 0; time < 100; time++) write('greedy');
      expect(of.get('greedy')).toBe(64);
      expect(refused).toEqual(new Set(['greedy']));
      for (let client = 0; client < 10_000; client++) write(`crowd-${client}`, client % 10 === 9);
      expect(created).toHaveLength(80);
      expect(account.figures(LIMITS).creationsLeft).toEqual([0, 420]);
      expect(taken - givenBack).toBe(80);

      // For the rest of the hour: the greedy one each second, and a person every forty: as many as the last fifth is for.
      let unserved = 0;
      for (let second = 60; second < 3600; second++) {
        vi.setSystemTime(Date.now() + 1000);
        if (second === 60) pass(59_000);
        write('greedy');
        if (second % 40 === 0 && write(`person-${second}`) > 0) unserved += 1;
      }
      expect(unserved).toBe(0);
      expect(of.get('greedy')).toBeLessThanOrEqual(400);
      expect(taken - givenBack).toBe(created.length);
    });
  });

  it('is as much as before after a restart in the middle of a window, and so are the shares', async () => {
    const account = newAccount();
    for (let time = 0; time < 8; time++) await account.admit('greedy', true, TEN_AN_HOUR);
    expect((await account.admit('greedy', true, TEN_AN_HOUR)).waitMs).toBe(HOUR_MS);
    await restartObjects();
    pass(30 * MINUTE_MS);
    expect(await creationsLeft(TEN_AN_HOUR)).toEqual([2]);
    expect((await sameAccount().admit('greedy', true, TEN_AN_HOUR)).waitMs).toBe(30 * MINUTE_MS);
    expect((await sameAccount().admit('person', true, TEN_AN_HOUR)).waitMs).toBe(0);
    pass(30 * MINUTE_MS);
    expect(await creationsLeft(TEN_AN_HOUR)).toEqual([9]);
  });

  it('is free again within the window when a clock jumps, in either direction', async () => {
    for (const jump of [-24 * HOUR_MS, 24 * HOUR_MS]) {
      const account = newAccount();
      for (let time = 0; time < 10; time++) await account.admit(`${time}`, true, TEN_AN_HOUR);
      expect((await account.admit('late', true, TEN_AN_HOUR)).waitMs).toBe(HOUR_MS);
      pass(jump);
      expect((await account.admit('late', true, TEN_AN_HOUR)).waitMs).toBe(0);
      pass(-jump);
    }
  });

  it('is not taken by what creates nothing, nor by what was given back before a restart', async () => {
    const account = newAccount();
    expect(await account.admit('a', false, TEN_AN_HOUR)).toMatchObject({ waitMs: 0, taken: null });
    const { taken } = await account.admit('a', true, TEN_AN_HOUR);
    expect(await creationsLeft(TEN_AN_HOUR)).toEqual([9]);
    await account.giveBack(taken ?? '');
    await restartObjects();
    expect(await creationsLeft(TEN_AN_HOUR)).toEqual([10]);
  });

  it('is cleaned up hourly, however often the object sleeps or creates something', async () => {
    const nextAlarm = () => runInDurableObject(sameAccount(), (_, { storage }) => storage.getAlarm());
    const begun = Date.now();
    await newAccount().admit('a', true, LIMITS);
    for (let restart = 0; restart < 2; restart++) {
      await restartObjects();
      pass(25 * MINUTE_MS);
      await sameAccount().admit('b', true, LIMITS);
      expect(await nextAlarm()).toBe(begun + HOUR_MS);
    }
    pass(10 * MINUTE_MS);
    expect(await runDurableObjectAlarm(sameAccount())).toBe(true);
    expect(await nextAlarm()).toBe(begun + 2 * HOUR_MS);
  });

  it('is remembered with its client for an hour and no longer', async () => {
    const account = newAccount();
    await account.admit('somebody', true, LIMITS);
    const stored = () =>
      runInDurableObject(account, (_, { storage }) => JSON.stringify([...storage.kv.list()]));
    expect(await stored()).toContain('somebody');
    pass(HOUR_MS);
    expect(await runDurableObjectAlarm(account)).toBe(true);
    expect(await stored()).toBe('[]');
  });
});

describe('the calls of the account', () => {
  it('are for those who have written least when few are left, and for all when the host counts anew', async () => {
    const account = newAccount();
    for (let time = 0; time < 30; time++) await account.admit('greedy', false, LIMITS);
    await account.callsSaid({ limit: 5000, left: 250, resetsInMs: 20 * MINUTE_MS });
    expect((await account.figures(LIMITS)).calls).toEqual({ limit: 5000, left: 250 });
    expect((await account.admit('greedy', false, LIMITS)).waitMs).toBe(20 * MINUTE_MS);
    expect((await account.admit('person', false, LIMITS)).waitMs).toBe(0);
    expect((await account.figures(LIMITS)).calls).toEqual({ limit: 5000, left: 240 });
    pass(20 * MINUTE_MS);
    expect((await account.admit('greedy', false, LIMITS)).waitMs).toBe(0);
    expect((await account.figures(LIMITS)).calls).toBeNull();
  });

  it('are not used up by writes that were refused before they made any', async () => {
    const account = newAccount();
    await account.callsSaid({ limit: 5000, left: 5000, resetsInMs: HOUR_MS });
    await runInDurableObject(account, (object) => {
      for (let time = 0; time < 600; time++) {
        const { taken } = object.admit(`${time}`, true, [{ most: 10_000, withinMs: HOUR_MS }]);
        // Once more changes nothing.
        for (let again = 0; again < 2; again++) object.giveBack(taken ?? '');
      }
      object.admit('person', true, LIMITS);
    });
    expect((await account.figures(LIMITS)).calls).toEqual({ limit: 5000, left: 4990 });
  });
});

const named = (name: string) => ({ name, content: 'text' });

describe('a form that was sent', () => {
  const posted = {
    kind: 'posted',
    posted: { url: 'https://host.test/octo/hello/issues/7', number: 7, karma: 3 },
  } as const;

  it('posts once for as long as it is valid, also after a restart, and is then forgotten', async () => {
    const account = newAccount();
    const at = Date.now();
    expect(await account.beginPost(named('form'))).toEqual({ kind: 'new' });
    expect(await account.beginPost(named('form'))).toEqual({ kind: 'sending' });
    expect(await account.beginPost(named('other'))).toEqual({ kind: 'new' });
    await account.endPost('form', posted);
    expect(await account.beginPost({ name: 'form', content: 'another' })).toEqual({ kind: 'other' });
    await restartObjects();
    vi.setSystemTime(at + FORM_LIFE_MS);
    expect(await sameAccount().beginPost(named('form'))).toEqual(posted);
    expect(await runDurableObjectAlarm(sameAccount())).toBe(true);
    expect(await sameAccount().beginPost(named('form'))).toEqual({ kind: 'new' });
  });

  it('without result is not posted again, and one that was refused is', async () => {
    const account = newAccount();
    await account.beginPost(named('dead'));
    await account.beginPost(named('lost'));
    await account.beginPost(named('refused'));
    await account.endPost('lost', { kind: 'unknown' });
    await account.endPost('refused', { kind: 'new' });
    expect(await account.beginPost(named('lost'))).toEqual({ kind: 'unknown' });
    expect(await account.beginPost(named('refused'))).toEqual({ kind: 'new' });
    await restartObjects();
    expect(await sameAccount().beginPost(named('dead'))).toEqual({ kind: 'sending' });
    pass(-HOUR_MS);
    expect(await sameAccount().beginPost(named('dead'))).toEqual({ kind: 'unknown' });
    pass(HOUR_MS + MINUTE_MS);
    expect(await sameAccount().beginPost(named('dead'))).toEqual({ kind: 'unknown' });
  });

  it('keeps no share of a client for longer than an hour', async () => {
    const account = newAccount();
    await account.beginPost(named('form'));
    await account.admit('a', true, LIMITS);
    for (let hour = 1; hour <= 2; hour++) {
      pass(HOUR_MS);
      expect(await runDurableObjectAlarm(account)).toBe(true);
    }
    await runInDurableObject(account, async (_, { storage }) => {
      expect([...storage.kv.list({ prefix: 'creation ' })]).toEqual([]);
      expect(await storage.getAlarm()).toBeLessThanOrEqual(Date.now() + HOUR_MS);
    });
  });
});
