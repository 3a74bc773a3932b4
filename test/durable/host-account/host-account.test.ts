/**
 * The object of the bot account: its pauses, its budget and the shares of clients in it, and
 * whether its host can be used.
 */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { FORM_LIFE_MS } from '../../../src/secret/form-token.ts';
import type { Limit } from '../../../src/limits/sliding-window.ts';
import type { Claim } from '../../../src/limits/claim.ts';
import {
  type AccountLimits,
  commentClaim,
  forkClaim,
  openingIn,
  pullRequestClaim,
  type Target,
  writeClaim,
} from '../../../src/limits/claim.ts';
import { clientIn } from '../../../src/limits/client.ts';
import { isWithin } from '../../../src/isolate/clock.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LIMITS: readonly Limit[] = [
  { most: 80, withinMs: MINUTE_MS },
  { most: 500, withinMs: HOUR_MS },
];
const ACCOUNT = { creations: LIMITS, openings: [] };
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

/** A write: of a network, with all that the account may create; null: it creates nothing. */
const write = (by: string, limits: readonly Limit[] | null = LIMITS): Claim =>
  limits === null ? writeClaim(by) : forkClaim(by, null, { creations: limits, openings: [] });
const reserve = (by: string, limits?: readonly Limit[] | null) => sameAccount().reserve(write(by, limits));
const waitMsOf = async (by: string, limits?: readonly Limit[] | null): Promise<number> => {
  const answer = await reserve(by, limits);
  return answer.kind === 'denied' ? answer.waitMs : 0;
};

const creationsLeft = async (limits = LIMITS) => (await sameAccount().figures(limits)).creationsLeft;

describe('the code host', () => {
  it('is left alone by the account that it has asked, for as long as it said, also after a restart', async () => {
    const other = newAccount();
    const account = newAccount();
    await account.pauseHost(10 * MINUTE_MS);
    await account.pauseHost(MINUTE_MS);
    expect(await account.reserve(write('a'))).toMatchObject({ pauseMs: 10 * MINUTE_MS });
    expect(await other.reserve(write('a'))).toMatchObject({ pauseMs: 0 });
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
  it(
    'goes to ten thousand networks at once, to each once, and the greedy one is refused first',
    exhaustive,
    async () => {
      newAccount();
      await runInDurableObject(sameAccount(), (account) => {
        /** The creations that the host sees. */
        const created: number[] = [];
        const of = new Map<string, number>();
        const refused = new Set<string>();
        const attempt = (by: string, fails = false): number => {
          const answer = account.reserve(write(by));
          if (answer.kind === 'denied') {
            expect(answer.waitMs).toBeLessThanOrEqual(HOUR_MS);
            refused.add(by);
            return answer.waitMs;
          }
          if (fails) {
            // Once more changes nothing.
            for (let time = 0; time < 2; time++) account.release(answer.id ?? '');
            return 0;
          }
          created.push(Date.now());
          of.set(by, (of.get(by) ?? 0) + 1);
          for (const { most, withinMs } of LIMITS) {
            expect(created.filter((at) => isWithin(at, withinMs, Date.now())).length).toBeLessThanOrEqual(
              most,
            );
          }
          return 0;
        };

        // At one moment: the greedy one is the first, a hundred times, and then the crowd, of which
        // every tenth fails.
        for (let time = 0; time < 100; time++) attempt('greedy');
        expect(of.get('greedy')).toBe(72);
        expect(refused).toEqual(new Set(['greedy']));
        expect(attempt('failing', true)).toBe(0);

        // For the rest of the hour: the greedy one each second, and a person every forty.
        let unserved = 0;
        for (let second = 60; second < 3600; second++) {
          vi.setSystemTime(Date.now() + 1000);
          if (second === 60) pass(59_000);
          attempt('greedy');
          if (second % 40 === 0 && attempt(`person-${second}`) > 0) unserved += 1;
        }
        expect(unserved).toBe(0);
        expect(of.get('greedy')).toBeLessThanOrEqual(400);
        expect(account.figures(LIMITS).creationsLeft[1]).toBe(500 - created.length);
      });
    },
  );

  it('is as much as before after a restart in the middle of a window, and so are the parts', async () => {
    newAccount();
    await reserve('person', TEN_AN_HOUR);
    for (let time = 0; time < 7; time++) await reserve('greedy', TEN_AN_HOUR);
    expect(await waitMsOf('greedy', TEN_AN_HOUR)).toBe(HOUR_MS);
    await restartObjects();
    pass(30 * MINUTE_MS);
    expect(await creationsLeft(TEN_AN_HOUR)).toEqual([3]);
    expect(await waitMsOf('greedy', TEN_AN_HOUR)).toBe(30 * MINUTE_MS);
    expect(await waitMsOf('another', TEN_AN_HOUR)).toBe(0);
    pass(30 * MINUTE_MS);
    expect(await creationsLeft(TEN_AN_HOUR)).toEqual([9]);
  });

  it('is free again within the window when a clock jumps, in either direction', async () => {
    for (const jump of [-24 * HOUR_MS, 24 * HOUR_MS]) {
      newAccount();
      for (let time = 0; time < 10; time++) await reserve(`${time}`, TEN_AN_HOUR);
      expect(await waitMsOf('late', TEN_AN_HOUR)).toBe(HOUR_MS);
      pass(jump);
      expect(await waitMsOf('late', TEN_AN_HOUR)).toBe(0);
      pass(-jump);
    }
  });

  it('is not taken by what creates nothing, nor by what was released before a restart', async () => {
    const account = newAccount();
    expect(await reserve('a', null)).toMatchObject({ kind: 'granted', id: null });
    const granted = await reserve('a', TEN_AN_HOUR);
    expect(await creationsLeft(TEN_AN_HOUR)).toEqual([9]);
    await account.release(granted.kind === 'granted' ? (granted.id ?? '') : '');
    await restartObjects();
    expect(await creationsLeft(TEN_AN_HOUR)).toEqual([10]);
  });

  it('is cleaned up hourly, however often the object sleeps or creates something', async () => {
    const nextAlarm = () => runInDurableObject(sameAccount(), (_, { storage }) => storage.getAlarm());
    const begun = Date.now();
    newAccount();
    await reserve('a');
    for (let restart = 0; restart < 2; restart++) {
      await restartObjects();
      pass(25 * MINUTE_MS);
      await reserve('b');
      expect(await nextAlarm()).toBe(begun + HOUR_MS);
    }
    pass(10 * MINUTE_MS);
    expect(await runDurableObjectAlarm(sameAccount())).toBe(true);
    expect(await nextAlarm()).toBe(begun + 2 * HOUR_MS);
  });

  it('is remembered with its client for an hour and no longer', async () => {
    const account = newAccount();
    await reserve('somebody');
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
    await reserve('person', null);
    for (let time = 0; time < 200; time++) await reserve('greedy', null);
    await account.callsSaid({ limit: 5000, left: 250, resetsInMs: 20 * MINUTE_MS });
    expect((await account.figures(LIMITS)).calls).toEqual({ limit: 5000, left: 250 });
    expect(await waitMsOf('greedy', null)).toBe(20 * MINUTE_MS);
    expect(await waitMsOf('another', null)).toBe(0);
    expect((await account.figures(LIMITS)).calls).toEqual({ limit: 5000, left: 240 });
    pass(20 * MINUTE_MS);
    expect(await waitMsOf('greedy', null)).toBe(0);
    expect((await account.figures(LIMITS)).calls).toBeNull();
  });

  it('are not used up by writes that were refused before they made any', async () => {
    const account = newAccount();
    await account.callsSaid({ limit: 5000, left: 5000, resetsInMs: HOUR_MS });
    await runInDurableObject(account, (object) => {
      for (let time = 0; time < 600; time++) {
        const answer = object.reserve(write(`${time}`, [{ most: 10_000, withinMs: HOUR_MS }]));
        // Once more changes nothing.
        for (let again = 0; again < 2; again++)
          object.release(answer.kind === 'granted' ? (answer.id ?? '') : '');
      }
      object.reserve(write('person'));
    });
    expect((await account.figures(LIMITS)).calls).toEqual({ limit: 5000, left: 4990 });
  });

  it('are taken once by a push that is sent again', async () => {
    const account = newAccount();
    await account.callsSaid({ limit: 5000, left: 5000, resetsInMs: HOUR_MS });
    const again = { ...write('person'), push: { key: 'push', isAnother: false } };
    for (let time = 0; time < 3; time++) await account.reserve(again);
    expect((await account.figures(LIMITS)).calls).toEqual({ limit: 5000, left: 4990 });
  });
});

const rows = () => runInDurableObject(sameAccount(), (_, { storage }) => [...storage.kv.list()]);

describe('a pull request', () => {
  const repository: Target = { key: 'repository', limits: [{ most: 1000, withinMs: HOUR_MS }] };
  const pull = (push: string, address = '192.0.2.1', target = repository): Claim =>
    openingIn(target, ACCOUNT, pullRequestClaim(clientIn(address, 'secret'), push));

  it('of a hundred at once is one of five, and raises one alert', async () => {
    newAccount();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => sameAccount().reserve(pull(`${index}`))),
    );
    const refused = answers.filter((answer) => answer.kind === 'denied');
    expect(refused).toHaveLength(95);
    expect(refused.filter(({ full }) => full?.isAlertDue)).toHaveLength(1);
    expect(await creationsLeft()).toEqual([75, 495]);
  });

  it('that has no room writes nothing after the alert, takes nothing, and is counted, also when only asked', async () => {
    newAccount();
    for (const push of ['a', 'b', 'c', 'd', 'e', 'f']) await sameAccount().reserve(pull(push));
    const before = await rows();
    expect(before).toHaveLength(6);
    expect(await sameAccount().reserve(pull('g'))).toMatchObject({
      window: 'address',
      full: { attempts: 7 },
    });
    expect(await sameAccount().denial(pull('g'), true)).toMatchObject({ full: { attempts: 8 } });
    expect(await sameAccount().denial(pull('g'), false)).toMatchObject({ full: { attempts: 5 } });
    expect(await sameAccount().reserve(pull('g'))).toMatchObject({ full: { attempts: 9 } });
    expect(await rows()).toEqual(before);
  });

  it('raises another alert an hour later', async () => {
    newAccount();
    const few = [1, 2].map((hour) => async () => {
      for (let push = 0; push < 5; push++) await sameAccount().reserve(pull(`${hour} ${push}`));
      return sameAccount().reserve(pull(`${hour} sixth`));
    });
    for (const refused of few) {
      expect(await refused()).toMatchObject({ full: { isAlertDue: true } });
      // A window is over at the quarter hour after its hour.
      pass(HOUR_MS + 15 * 60_000);
    }
  });

  it('gives the last room of a repository to one of two at once', async () => {
    newAccount();
    const last = { key: 'last', limits: [{ most: 1, withinMs: HOUR_MS }] };
    const answers = await Promise.all(
      ['192.0.2.1', '192.0.2.2'].map((address) => sameAccount().reserve(pull(address, address, last))),
    );
    expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['denied', 'granted']);
  });

  it('whose process died before it was released is over with its window, and leaves nothing', async () => {
    newAccount();
    const long = { key: 'repository', limits: [{ most: 1, withinMs: 3 * HOUR_MS }] };
    await sameAccount().reserve(pull('a', undefined, long));
    await restartObjects();
    pass(HOUR_MS);
    expect(await sameAccount().reserve(pull('b', undefined, long))).toMatchObject({ window: 'repository' });
    expect(await runDurableObjectAlarm(sameAccount())).toBe(true);
    expect(await rows()).toHaveLength(1);
    pass(2 * HOUR_MS);
    expect(await runDurableObjectAlarm(sameAccount())).toBe(true);
    expect(await rows()).toEqual([]);
    expect(await runInDurableObject(sameAccount(), (_, { storage }) => storage.getAlarm())).toBeNull();
  });

  it('is forgotten without the host’s pause', async () => {
    const account = newAccount();
    await account.pauseHost(3 * HOUR_MS);
    await account.reserve(pull('a'));
    pass(2 * HOUR_MS);
    expect(await runDurableObjectAlarm(account)).toBe(true);
    await restartObjects();
    expect(await sameAccount().hostPause()).toBe(HOUR_MS);
  });
});

const named = (name: string) => ({ name, content: 'text' });

const turnOf = async (claim: Claim) => {
  const answer = await sameAccount().reserve(claim);
  return answer.kind === 'granted' ? answer.turnMs : { window: answer.window, waitMs: answer.waitMs };
};
const said = (points: number) =>
  sameAccount().callsSaid({ limit: 5000, left: 4000, resetsInMs: HOUR_MS }, points);

describe('at a host that limits what is opened', () => {
  const SPACED: AccountLimits = { creations: LIMITS, openings: [{ most: 20, withinMs: MINUTE_MS }] };
  const target: Target = { key: 'repository', limits: [{ most: 1000, withinMs: HOUR_MS }] };
  const opening = (by: string) => openingIn(target, SPACED, writeClaim(by));
  const saying = (by: string) => commentClaim(by, 'repository', target, SPACED);

  it('two creations of whatever kind begin a second apart, and ten seconds of them at most wait', async () => {
    newAccount();
    const kinds = [opening, saying, (by: string) => forkClaim(by, null, SPACED)];
    const turns = await Promise.all(kinds.map(async (claim, index) => turnOf(claim(`${index}`))));
    expect(turns).toEqual([0, 1_000, 2_000]);
    pass(500);
    for (let second = 0; second < 8; second++)
      expect(await turnOf(saying(`more ${second}`))).toBe(2_500 + second * 1_000);
    expect(await turnOf(saying('late'))).toEqual({ window: 'account', waitMs: 500 });
    // It has taken nothing.
    expect(await creationsLeft()).toEqual([69, 489]);
    pass(10_500);
    expect(await turnOf(saying('late'))).toBe(0);
    pass(-24 * HOUR_MS);
    expect(await turnOf(saying('a clock was set back'))).toBe(0);
  });

  it('a network of which something waits leaves the last of the ten seconds to others', async () => {
    newAccount();
    for (let second = 0; second <= 7; second++) expect(await turnOf(saying('greedy'))).toBe(second * 1_000);
    expect(await turnOf(saying('greedy'))).toEqual({ window: 'account', waitMs: 1_000 });
    expect(await turnOf(saying('person'))).toBe(8_000);
    expect(await turnOf(saying('person'))).toEqual({ window: 'account', waitMs: 2_000 });
    expect(await turnOf(saying('another'))).toBe(9_000);
    pass(1_000);
    expect(await turnOf(saying('greedy'))).toEqual({ window: 'account', waitMs: 2_000 });
    pass(7_500);
    expect(await turnOf(saying('greedy'))).toBe(1_500);
  });

  it('what creates nothing, or is at another host, waits for nobody', async () => {
    newAccount();
    for (let second = 0; second < 11; second++) await turnOf(saying(`${second}`));
    await said(900);
    expect(await turnOf(writeClaim('update'))).toBe(0);
    expect(await turnOf(write('another host'))).toBe(0);
  });

  it('nothing is created when the minute’s points are spent, until they are free again', async () => {
    newAccount();
    await said(500);
    pass(20_000);
    await said(299);
    expect(await turnOf(saying('a'))).toBe(0);
    await said(1);
    expect(await turnOf(saying('b'))).toEqual({ window: 'account', waitMs: 40_000 });
    pass(40_000);
    expect(await turnOf(saying('b'))).toBe(0);
  });

  it('pull requests and issues have less than comments, and new networks the last of it', async () => {
    newAccount();
    for (let time = 0; time < 18; time++) {
      expect(await turnOf(opening('one'))).toBe(0);
      pass(1_000);
    }
    expect(await turnOf(opening('one'))).toMatchObject({ window: 'openings' });
    expect(await turnOf(saying('one'))).toBe(0);
  });
});

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
    await account.beginPost(named('private'));
    await account.endPost('private', { kind: 'sent' });
    expect(await account.beginPost(named('private'))).toEqual({ kind: 'sent' });
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
    await account.reserve(write('a'));
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
