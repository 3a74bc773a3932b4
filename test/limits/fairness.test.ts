/** Who waits first in a window that all share. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Claimant, fairWait, type SharedWindow, type Use } from '../../src/limits/fairness.ts';
import type { Limit } from '../../src/limits/sliding-window.ts';
import { runs } from '../support/runs.ts';

const NOW = 1_800_000_000_000;
const HOUR_MS = 60 * 60_000;
const WINDOWS: readonly SharedWindow[] = ['account', 'repository', 'comments', 'thread'];
const hourly = (most: number): readonly Limit[] => [{ most, withinMs: HOUR_MS }];

const claimant = (by: string, repository: string | null = null, takesPart = false): Claimant => ({
  by,
  repository,
  takesPart,
});

/** Each network asks in turn, as long as any gets something. Answers what each has had. */
function flood(
  window: SharedWindow,
  most: number,
  askers: readonly Claimant[],
  uses: Use[] = [],
): ReadonlyMap<string, number> {
  const had = new Map<string, number>();
  for (let isOver = false; !isOver;) {
    isOver = true;
    for (const each of askers) {
      if (fairWait(window, uses, hourly(most), each, NOW).waitMs > 0) continue;
      isOver = false;
      uses.push({ at: NOW, ...each });
      had.set(each.by, (had.get(each.by) ?? 0) + 1);
    }
  }
  return had;
}

const crowd = (size: number, repository: string | null = null): Claimant[] =>
  Array.from({ length: size }, (_, index) => claimant(`attacker ${index}`, repository));
const seventeen = (by: string): Use[] =>
  Array.from({ length: 17 }, () => ({ at: NOW, by, repository: null }));
const total = (had: ReadonlyMap<string, number>): number =>
  [...had.values()].reduce((sum, one) => sum + one, 0);

const someUses = fc.array(
  fc.record({
    at: fc.integer({ min: NOW - 2 * HOUR_MS, max: NOW }),
    by: fc.constantFrom('a', 'b', 'c', 'd'),
    repository: fc.constantFrom('x', 'y', 'z', null),
  }),
  { maxLength: 150 },
);
const oldestFirst = (uses: readonly Use[]): Use[] => uses.toSorted((a, b) => a.at - b.at);
const anyAsker = fc.record({
  by: fc.constantFrom('a', 'b', 'new'),
  repository: fc.constantFrom('x', 'y', null),
  takesPart: fc.boolean(),
});
const anyWindow = fc.constantFrom(...WINDOWS);

describe('in every window', () => {
  it('a network that has got another name meanwhile has had what it had before', () => {
    const others = crowd(3).map(({ by }) => ({ at: NOW, by, repository: null }));
    const renamed = { ...claimant('now'), byEarlier: ['before'] };
    for (const window of WINDOWS) {
      const waits = [
        fairWait(window, [...seventeen('now'), ...others], hourly(30), claimant('now'), NOW),
        fairWait(window, [...seventeen('before'), ...others], hourly(30), renamed, NOW),
      ];
      expect(waits[0]?.waitMs).toBeGreaterThan(0);
      expect(waits[1]).toEqual(waits[0]);
    }
  });

  it('nobody gets more than the limit, and nobody waits longer than the window', () => {
    fc.assert(
      fc.property(
        anyWindow,
        someUses,
        anyAsker,
        fc.integer({ min: 1, max: 120 }),
        (window, uses, who, most) => {
          const within = uses.filter(({ at }) => NOW - at < HOUR_MS);
          const { waitMs } = fairWait(window, oldestFirst(uses), hourly(most), who, NOW);
          expect(waitMs).toBeGreaterThanOrEqual(0);
          expect(waitMs).toBeLessThanOrEqual(HOUR_MS);
          if (within.length >= most) expect(waitMs).toBeGreaterThan(0);
        },
      ),
      runs(100),
    );
  });

  it('whoever has waited as long as told is served, if nobody came meanwhile', () => {
    fc.assert(
      fc.property(
        anyWindow,
        someUses,
        anyAsker,
        fc.integer({ min: 1, max: 120 }),
        (window, uses, who, most) => {
          const { waitMs } = fairWait(window, oldestFirst(uses), hourly(most), who, NOW);
          expect(fairWait(window, oldestFirst(uses), hourly(most), who, NOW + waitMs).waitMs).toBe(0);
        },
      ),
      runs(100),
    );
  });

  it('whoever has had less never waits longer than whoever has had more', () => {
    fc.assert(
      fc.property(anyWindow, someUses, fc.integer({ min: 1, max: 120 }), (window, uses, most) => {
        // What was opened in a repository that waits makes only its own network's part smaller.
        const within = oldestFirst(uses)
          .filter(({ at }) => NOW - at < HOUR_MS)
          .map(({ at, by }) => ({ at, by, repository: null }));
        const had = (by: string): number => within.filter((use) => use.by === by).length;
        const isRefused = (by: string): boolean =>
          fairWait(window, within, hourly(most), claimant(by), NOW).waitMs > 0;
        const [less, more] = ['a', 'b'].toSorted((one, other) => had(one) - had(other)) as [string, string];
        if (isRefused(less)) expect(isRefused(more)).toBe(true);
      }),
      runs(100),
    );
  });

  it('before its last third, nobody waits', () => {
    fc.assert(
      fc.property(anyWindow, someUses, anyAsker, (window, uses, who) => {
        const most = Math.floor(uses.length * 1.5) + 1;
        expect(fairWait(window, oldestFirst(uses), hourly(most), who, NOW).waitMs).toBe(0);
      }),
      runs(100),
    );
  });

  it('a network that is alone has all but the kept tenth', () => {
    for (const window of WINDOWS) expect(total(flood(window, 100, crowd(1)))).toBe(90);
    // Of a small limit, a tenth is nothing.
    for (const window of WINDOWS) expect(total(flood(window, 9, crowd(1)))).toBe(9);
  });

  it.each([2, 10, 50])('of %i greedy networks each leaves a part to whoever comes next', (size) => {
    for (const window of WINDOWS) {
      const uses: Use[] = [];
      flood(window, 300, crowd(size), uses);
      const newcomer = total(flood(window, 300, [claimant('new')], uses));
      // Of all but the kept tenth: the crowd, the newcomer, and whoever comes next.
      expect(newcomer).toBeGreaterThanOrEqual(Math.floor(270 / (size + 2)));
    }
  });
});

describe('a repository', () => {
  it('that has had a fifth of the account waits in the last third, whoever asks, and others do not', () => {
    const uses: Use[] = [];
    expect(total(flood('account', 300, crowd(1000, 'flooded'), uses))).toBe(200);
    const isServed = (repository: string): boolean =>
      fairWait('account', uses, hourly(300), claimant('new', repository), NOW).waitMs === 0;
    expect([isServed('flooded'), isServed('another')]).toEqual([false, true]);
    expect(total(flood('account', 300, [claimant('new', 'another')], uses))).toBe(60);
  });

  it('that loses its fifth while somebody waits makes parts smaller again, which the wait counts', () => {
    const minutesAgo = (minutes: number, by: string, repository: string | null = null): Use => ({
      at: NOW - minutes * 60_000,
      by,
      repository,
    });
    const uses = [
      minutesAgo(59, 'x0', 'flooded'),
      minutesAgo(58, 'a'),
      ...[1, 2, 3, 4, 5].map((number) => minutesAgo(0, `x${number}`, 'flooded')),
      ...Array.from({ length: 8 }, () => minutesAgo(0, 'a')),
      ...Array.from({ length: 7 }, () => minutesAgo(0, 'b')),
    ];
    expect(fairWait('account', uses, hourly(30), claimant('a'), NOW).waitMs).toBe(HOUR_MS);
  });

  it('has a tenth left for networks that have opened nothing in it', () => {
    const uses: Use[] = [];
    flood('repository', 100, crowd(1), uses);
    expect(total(flood('repository', 100, crowd(50), uses))).toBe(10);
  });
});

describe('one network that has taken all it can, by itself', () => {
  it.each([...WINDOWS, 'calls'] as const)(
    'leaves room in the %s for people who come for the first time',
    (window) => {
      const uses: Use[] = [];
      flood(window, 100, crowd(1), uses);
      expect(total(flood(window, 100, crowd(1).concat(claimant('new', null)), uses))).toBeGreaterThan(0);
      expect(fairWait(window, uses, hourly(100), claimant('newer'), NOW).waitMs).toBe(0);
    },
  );

  it.each(['account', 'comments', 'thread'] as const)(
    'leaves some of the %s to others, also if it has prepared itself to take part',
    (window) => {
      const uses: Use[] = [];
      flood(window, 100, [claimant('attacker', null, true)], uses);
      expect(total(flood(window, 100, [claimant('new')], uses))).toBeGreaterThan(0);
      expect(fairWait(window, uses, hourly(100), claimant('member', null, true), NOW).waitMs).toBe(0);
    },
  );
});

describe('people who take part in a thread', () => {
  it.each(['account', 'comments', 'thread'] as const)(
    'have most of the last tenth of the %s, against any crowd',
    (window) => {
      const uses: Use[] = [];
      // Of a third of it, each network has one at most.
      expect(total(flood(window, 100, crowd(1000), uses))).toBe(93);
      expect(fairWait(window, uses, hourly(100), claimant('new'), NOW).waitMs).toBe(HOUR_MS);
      const members = Array.from({ length: 50 }, (_, index) => claimant(`member ${index}`, null, true));
      expect(total(flood(window, 100, members, uses))).toBe(7);
    },
  );

  it('go on where their repository has to wait', () => {
    const uses: Use[] = [];
    flood('account', 300, crowd(1000, 'flooded'), uses);
    expect(fairWait('account', uses, hourly(300), claimant('member', 'flooded', true), NOW).waitMs).toBe(0);
  });
});

it('a clock that was set back frees everything that counts from the future', () => {
  const uses = Array.from({ length: 100 }, () => ({ at: NOW + 2 * HOUR_MS, ...claimant('a') }));
  for (const window of WINDOWS) expect(fairWait(window, uses, hourly(10), claimant('b'), NOW).waitMs).toBe(0);
});
