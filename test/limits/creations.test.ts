/** Creations count in all of their windows or in none, once for a push, and are forgotten. */
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { clientIn, networkOf } from '../../src/limits/client.ts';
import { Creations } from '../../src/limits/creations.ts';
import { fairWait } from '../../src/limits/fairness.ts';
import {
  forkClaim,
  openingIn,
  pullRequestClaim,
  type Claim,
  windowName,
  writeClaim,
} from '../../src/limits/claim.ts';
import { runs } from '../support/runs.ts';

const HOUR_MS = 60 * 60_000;
const SECRET = 'x'.repeat(32);
const ACCOUNT = { creations: [{ most: 500, withinMs: HOUR_MS }], openings: [] };
const client = clientIn('2001:db8:1:1::/64', SECRET);
const busy = { key: 'busy', limits: [{ most: 1_000, withinMs: HOUR_MS }] };
const circuit = (number: number) => clientIn(networkOf(`fc00:dead:beef:4dad::${number}`), SECRET);
const repository = { key: 'repository', limits: [{ most: 100, withinMs: HOUR_MS }] };

let now = 1_800_000_000_000;
let creations = new Creations();
beforeEach(() => {
  now += 24 * HOUR_MS;
  creations = new Creations();
});

const quarterAfter = (at: number): number => Math.ceil(at / (15 * 60_000)) * 15 * 60_000;

let ids = 0;
function open(claim: Claim) {
  const refusal = creations.denial(claim, now);
  return refusal === null
    ? { kind: 'reserved' as const, ...creations.reserve(`${++ids}`, claim, now) }
    : { ...refusal, kind: refusal.window };
}
const pull = (push: string, of = client, target = repository): Claim =>
  openingIn(target, ACCOUNT, pullRequestClaim(of, push));
const created = () => creations.uses([windowName({ kind: 'account', key: '' })], now).length;

describe('a pull request', () => {
  it('is one of five of its address, and of twenty of its /48; what refuses it takes nothing', () => {
    for (let push = 0; push < 5; push++) expect(open(pull(`${push}`)).kind).toBe('reserved');
    expect(open(pull('sixth'))).toMatchObject({
      kind: 'address',
      waitMs: quarterAfter(now + HOUR_MS) - now,
      full: { holders: ['0', '1', '2', '3', '4'] },
    });
    for (let network = 2; network <= 4; network++) {
      for (let push = 0; push < 5; push++)
        open(pull(`${network}-${push}`, clientIn(`2001:db8:1:${network}::/64`, SECRET)));
    }
    const last = clientIn('2001:db8:1:5::/64', SECRET);
    expect(open(pull('21st', last)).kind).toBe('prefix');
    expect(created()).toBe(20);
    expect(creations.rows.size).toBe(20);
  });

  it('is one of a hundred of an onion service, of which anybody can have circuits', () => {
    for (let push = 0; push < 100; push++)
      expect(open(pull(`${push}`, circuit(Math.floor(push / 5)), busy)).kind).toBe('reserved');
    expect(open(pull('more', circuit(99), busy)).kind).toBe('prefix');
  });

  it('never gets through as the sixth until the quarter hour after an hour, and then it does', () => {
    const gaps = fc.array(
      fc.oneof(fc.nat(30 * 60_000), fc.constantFrom(0, 1, HOUR_MS - 1, HOUR_MS, 75 * 60_000)),
      {
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(gaps, (pauses) => {
        creations = new Creations();
        const opened: number[] = [];
        for (const [push, pause] of pauses.entries()) {
          now += pause;
          const counted = opened.filter((at) => now < quarterAfter(at + HOUR_MS));
          const answer = open(pull(`${push}`));
          expect(answer.kind).toBe(counted.length < 5 ? 'reserved' : 'address');
          if (answer.kind === 'reserved') opened.push(now);
        }
      }),
      runs(100),
    );
  });

  it('gets its room back in a moment that does not tell when others were opened', () => {
    const freedAt = [1, 7 * 60_000, 14 * 60_000, 15 * 60_000].map((second) => {
      const start = quarterAfter(now + 24 * HOUR_MS);
      now = start + second;
      creations = new Creations();
      for (let push = 0; push < 5; push++) open(pull(`${push}`));
      // As a spy does, who asks every second.
      const asked = (after: number) => creations.denial(pull('spy'), start + after) === null;
      for (let after = HOUR_MS - 1_000; ; after += 1_000) if (asked(after)) return after;
    });
    expect(new Set(freedAt).size).toBe(1);
  });

  it('that the repository does not take leaves its address and the account alone', () => {
    const full = { key: 'full', limits: [{ most: 1, withinMs: HOUR_MS }] };
    open(pull('first', clientIn('192.0.2.1', SECRET), full));
    for (let time = 0; time < 9; time++) expect(open(pull(`${time}`, client, full)).kind).toBe('repository');
    expect([created(), creations.rows.size]).toEqual([1, 1]);
  });

  it('of a push that is repeated counts once; of one that opens another, twice', () => {
    const first = open(pull('a'));
    expect(first).toMatchObject({ kind: 'reserved', windows: expect.any(Array) });
    expect(open(pull('a'))).toMatchObject({ id: null, windows: [] });
    expect(created()).toBe(1);
    const again = pull('a');
    expect(open({ ...again, push: { key: 'a', isAnother: true } })).toMatchObject({ kind: 'reserved' });
    expect(created()).toBe(2);
  });

  it('of a push whose client has given its part already counts only for the rest', () => {
    open(pullRequestClaim(client, 'delayed'));
    expect(created()).toBe(0);
    expect(open(pull('delayed'))).toMatchObject({ windows: ['repository repository', 'account '] });
    expect(created()).toBe(1);
    for (let push = 0; push < 4; push++) expect(open(pull(`${push}`)).kind).toBe('reserved');
    expect(open(pull('sixth')).kind).toBe('address');
  });

  it('that was not opened counts nowhere; the second time, nothing happens', () => {
    for (let push = 0; push < 5; push++) open(pull(`${push}`));
    creations.release(`${ids}`);
    creations.release(`${ids}`);
    expect([created(), creations.rows.size]).toEqual([4, 4]);
    expect(open(pull('sixth')).kind).toBe('reserved');
  });

  it('says which networks have no room left with it', () => {
    for (let push = 0; push < 4; push++) expect(open(pull(`${push}`))).toMatchObject({ full: [] });
    expect(open(pull('fifth'))).toMatchObject({
      full: [{ waitMs: quarterAfter(now + HOUR_MS) - now, holders: ['0', '1', '2', '3', 'fifth'] }],
    });
  });
});

it('two at once for the last room: one is reserved', () => {
  const last = { key: 'last', limits: [{ most: 1, withinMs: HOUR_MS }] };
  const kinds = ['192.0.2.1', '192.0.2.2'].map((at) => open(pull(at, clientIn(at, SECRET), last)).kind);
  expect(kinds).toEqual(['reserved', 'repository']);
});

it('what nobody releases counts until its windows are over, also if a clock was set back', () => {
  for (let push = 0; push < 5; push++) open(pull(`${push}`));
  now = quarterAfter(now + HOUR_MS) - 1;
  expect(open(pull('sixth'))).toMatchObject({ kind: 'address', waitMs: 1 });
  now -= 48 * HOUR_MS;
  expect(open(pull('sixth')).kind).toBe('reserved');
  now += 48 * HOUR_MS + 1;
  creations.forgetOld(now);
  expect([creations.rows.size, created()]).toEqual([0, 0]);
});

it('the attempts of an address are those of its hour, however long the repository counts', () => {
  const daily = { key: 'repository', limits: [{ most: 100, withinMs: 24 * HOUR_MS }] };
  for (let push = 0; push < 5; push++) open(pull(`morning ${push}`, client, daily));
  now += 5 * HOUR_MS;
  for (let push = 0; push < 5; push++) open(pull(`afternoon ${push}`, client, daily));
  const { full } = creations.denial(pull('sixth', client, daily), now) ?? {};
  expect(full?.attempts).toBe(5);
  expect(creations.countRefused(full?.name ?? '')).toBe(1);
  expect(full?.holders).toHaveLength(5);
});

const EPOCH_MS = 6 * HOUR_MS;
const pullNow = (push: string) => openingIn(repository, ACCOUNT, pullRequestClaim(client, push, now));
const forkNow = (of: string) => forkClaim('by', { client, repository: of }, ACCOUNT, now);
const rowsOf = (of: Creations) => JSON.stringify([...of.rows.values()]);

describe('a network', () => {
  it('has no name in common in two copies of what is stored, made on two days', () => {
    open(pullNow('a'));
    open(forkNow('octo/hello'));
    const [first, names] = [rowsOf(creations), /[0-9a-f]{64}/g];
    creations = new Creations();
    now += 2 * 24 * HOUR_MS;
    open(pullNow('b'));
    open(forkNow('octo/hello'));
    const second = rowsOf(creations).match(names) ?? [];
    expect(second.length).toBeGreaterThan(0);
    expect(second.filter((name) => first.includes(name))).toEqual([]);
  });

  it('opens no sixth pull request within the hour in which it gets another name', () => {
    now = Math.ceil(now / EPOCH_MS) * EPOCH_MS - 3;
    for (let push = 0; push < 5; push++) {
      expect(open(pullNow(`${push}`)).kind).toBe('reserved');
      now += 1;
    }
    expect(open(pullNow('sixth'))).toMatchObject({
      kind: 'address',
      full: { holders: ['0', '1', '2', '3', '4'] },
    });
    now += HOUR_MS + 15 * 60_000;
    expect(open(pullNow('sixth')).kind).toBe('reserved');
  });

  it('is asked for no second fork of one repository after it has got another name', () => {
    now = Math.ceil(now / EPOCH_MS) * EPOCH_MS - 1;
    open(forkNow('octo/hello'));
    now += 2;
    open(forkNow('Octo/hello'));
    expect(created()).toBe(1);
  });

  it('counts as before an upgrade from 1.0.0, which gave it one name for all time', () => {
    const key = client.hash('quota');
    const old = { ...writeClaim('x', [{ kind: 'address', key, limits: [{ most: 5, withinMs: HOUR_MS }] }]) };
    for (let push = 0; push < 5; push++) open({ ...old, push: { key: `${push}`, isAnother: false } });
    expect(open(pullNow('sixth')).kind).toBe('address');
  });
});

it('a fork counts once for its network and the account, and for no five an hour', () => {
  const fork = (of: string) => open(forkClaim('by', { client, repository: of }, ACCOUNT)).kind;
  for (let forked = 0; forked < 10; forked++) expect(fork(`octo/${forked}`)).toBe('reserved');
  expect(fork('octo/10')).toBe('forks');
  // However often a fork is asked for, and however its repository is written.
  for (const name of ['octo/0', 'Octo/9']) expect(fork(name)).toBe('reserved');
  expect(open(pull('a')).kind).toBe('reserved');
  expect(created()).toBe(11);
});

it('what creates nothing leaves no row', () => {
  expect(open(writeClaim('by'))).toMatchObject({ kind: 'reserved', id: null });
  expect(creations.rows.size).toBe(0);
});

describe('what all share', () => {
  it('costs no more looks after thousands of creations, while the last third is free', () => {
    const many = { creations: [{ most: 10_000, withinMs: HOUR_MS }], openings: [] };
    const roomy = { key: 'busy', limits: [200, 10_000].map((most) => ({ most, withinMs: 60 * most })) };
    const looksAfter = (count: number): number => {
      let looks = 0;
      const windows = { 'account ': HOUR_MS, 'repository busy': HOUR_MS };
      const rows = Array.from({ length: count }, (_, back) => ({
        get at() {
          looks += 1;
          return now - 100 * back;
        },
        by: `${back}`,
        repository: 'busy',
        push: null,
        windows,
      }));
      creations = new Creations(rows.map((row, index) => [`row ${index}`, row]));
      looks = 0;
      expect(open(openingIn(roomy, many, pullRequestClaim(client, 'new'))).kind).toBe('reserved');
      return looks;
    };
    expect([100, 1_000, 5_000].map(looksAfter).filter((looks) => looks > 10)).toEqual([]);
  });

  it('is judged by the rules alone, also after a clock was set back', () => {
    const steps = fc.array(fc.oneof(fc.nat(HOUR_MS / 3), fc.constantFrom(-2 * HOUR_MS, -60_000)), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 12 }), (pauses, most) => {
        creations = new Creations();
        const limits = [{ most, withinMs: HOUR_MS }];
        const claim = writeClaim('by', [{ kind: 'repository', key: 'busy', limits }]);
        for (const pause of pauses) {
          now += pause;
          const { waitMs } = fairWait(
            'repository',
            creations.uses(['repository busy'], now),
            limits,
            claim,
            now,
          );
          expect(creations.denial(claim, now)?.waitMs ?? 0).toBe(waitMs);
          if (waitMs === 0) open(claim);
        }
      }),
    );
  });
});

it('is bounded: of very many, the oldest are forgotten', () => {
  const roomy = { creations: [{ most: 1_000_000, withinMs: HOUR_MS }], openings: [] };
  for (let fork = 0; fork < 20_050; fork++) {
    creations.reserve(`${fork}`, forkClaim(`${fork}`, null, roomy), now + fork);
  }
  expect(creations.forgetSurplus()).toBe('0');
  expect(creations.forgetSurplus()).toBe('1');
  for (let left = 48; left > 0; left--) creations.forgetSurplus();
  expect([creations.rows.size, creations.forgetSurplus()]).toEqual([20_000, null]);
});
