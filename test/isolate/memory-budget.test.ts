/**
 * The memory that requests share: who waits, who is refused, and that nothing is lost or counted
 * twice. And turns: one request at a time for a key, also if one of them dies.
 */
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/isolate/clock.ts';
import { HostError } from '../../src/words/host-error.ts';
import { MemoryBudget } from '../../src/isolate/memory-budget.ts';
import { SingleFlight } from '../../src/isolate/waiting.ts';
import { PatientClock } from '../host/support/scripted-host.ts';
import { runs } from '../support/runs.ts';

const POOL = 100;
const MiB = 1024 * 1024;
const BUSY = { code: 'busy', publicMessage: 'The service is busy. Try again in a minute.' };

let clock: PatientClock;
let budget: MemoryBudget;

beforeEach(() => {
  [clock, budget] = [new PatientClock(), new MemoryBudget(POOL)];
});

/** A request with one claim. */
function request(client: string | null = null, from = budget, time: Clock = clock) {
  const hold = from.open(time, client);
  const claim = hold.claim();
  return {
    hold,
    take: (bytes: number, onWait?: () => void) => claim.set(claim.bytes + bytes, onWait),
    takeNow: (bytes: number) => claim.setNow(claim.bytes + bytes),
    give: (bytes: number) => claim.setNow(claim.bytes - bytes),
    end: () => hold.end(),
  };
}

function holding(bytes: number) {
  const taker = request();
  taker.takeNow(bytes);
  return taker;
}

describe('a request', () => {
  it('never waits on an idle isolate, whatever it needs', async () => {
    const hold = request();
    for (const bytes of [10, 80, 1_000_000]) await hold.take(bytes);
    expect([budget.heldBytes, clock.slept]).toEqual([1_000_090, []]);
    hold.give(1_000_000);
    expect(budget.heldBytes).toBe(90);
    hold.end();
    hold.end();
    expect(budget.heldBytes).toBe(0);
  });

  it('that releases all holds nothing, and what was claimed before counts no more', async () => {
    const large = holding(500);
    large.hold.release();
    expect([budget.heldBytes, large.hold.bytes]).toEqual([0, 0]);
    holding(POOL + 1).end();
    large.give(0);
    await large.take(30);
    expect(budget.heldBytes).toBe(30);
    large.end();
    expect(budget.heldBytes).toBe(0);
  });

  it('shares the pool with others, and one at a time may hold more', async () => {
    const [large, small] = [holding(500), holding(POOL - 10)];
    expect(() => holding(11)).toThrow(expect.objectContaining(BUSY));
    await expect(request().take(11)).rejects.toMatchObject(BUSY);
    expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(10_000);
    holding(10).end();
    large.takeNow(500);
    expect(() => small.takeNow(11)).toThrow(expect.objectContaining(BUSY));
    large.give(990);
    small.takeNow(11);
    expect(budget.heldBytes).toBe(10 + POOL + 1);
  });

  it('goes on as soon as there is room, those who need the large slot in their order', async () => {
    const first = holding(POOL + 1);
    const order: number[] = [];
    // Others look first after a wait, but do not pass those before them.
    const waiting = [1, 2, 3].map(async (number) => {
      const hold = request();
      await hold.take(POOL + number);
      order.push(number);
      expect(() => holding(2 * POOL)).toThrow(expect.objectContaining(BUSY));
      hold.end();
    });
    first.end();
    await Promise.all(waiting);
    expect([order, budget.heldBytes]).toEqual([[1, 2, 3], 0]);
  });

  it('tells that it waits before it does', async () => {
    const other = holding(2 * POOL);
    holding(POOL);
    await request().take(50, () => other.end());
    expect(budget.heldBytes).toBe(POOL + 50);
  });

  it('that has died loses what it held after two minutes, and takes from nobody when it was alive after all', async () => {
    const dead = holding(2 * POOL);
    holding(POOL);
    clock.at += 119_000;
    expect(() => holding(1)).toThrow(expect.objectContaining(BUSY));
    clock.at += 1_000;
    const next = holding(POOL);
    expect(budget.heldBytes).toBe(POOL);
    dead.give(50);
    expect(budget.heldBytes).toBe(POOL);
    next.give(POOL);
    await dead.take(5);
    expect(budget.heldBytes).toBeGreaterThan(0);
    next.end();
    dead.end();
    expect(budget.heldBytes).toBe(0);
  });

  it('that ends while it waits takes nothing when there is room', async () => {
    const [other, hold] = [holding(2 * POOL), request()];
    holding(POOL);
    const waiting = hold.take(50);
    hold.end();
    other.end();
    await expect(waiting).rejects.toMatchObject(BUSY);
    expect(budget.heldBytes).toBe(POOL);
  });

  it('counts each of its claims, also when they are taken at once', async () => {
    const { hold } = request();
    const claims = [hold.claim(), hold.claim()];
    await Promise.all(claims.map((claim) => claim.set(400)));
    expect(budget.heldBytes).toBe(800);
    // One claim says what it holds, not what it holds more.
    await Promise.all([claims[0]?.set(300), claims[0]?.set(300)]);
    expect(budget.heldBytes).toBe(700);
  });

  it('is small up to its allowance, also if there is more in the pool', async () => {
    budget = new MemoryBudget(POOL, 30);
    const [small, large] = [holding(30), holding(10)];
    await large.take(21);
    expect(() => small.takeNow(1)).toThrow(expect.objectContaining(BUSY));
    large.give(1);
    small.takeNow(1);
    expect(() => large.takeNow(1)).toThrow(expect.objectContaining(BUSY));
    expect(budget.heldBytes).toBe(61);
  });

  it('learns when half of the pool is taken by small ones', () => {
    const large = holding(2 * POOL);
    const small = holding(POOL / 2);
    expect([small.hold.isShort, large.hold.isShort]).toEqual([false, false]);
    small.takeNow(1);
    expect([small.hold.isShort, large.hold.isShort]).toEqual([true, true]);
  });

  it('that has ended gets nothing more, and takes nothing from others with what it gives back late', async () => {
    const ended = holding(10);
    const other = holding(20);
    ended.end();
    ended.give(10);
    expect(() => ended.takeNow(1)).toThrow(expect.objectContaining(BUSY));
    await expect(ended.take(1)).rejects.toMatchObject(BUSY);
    ended.end();
    expect(budget.heldBytes).toBe(20);
    other.end();
  });

  it('that shows signs of life keeps what it holds', async () => {
    const alive = holding(POOL);
    for (let i = 0; i < 5; i++) {
      clock.at += 100_000;
      await alive.take(0);
    }
    holding(POOL + 1);
    expect(() => holding(1)).toThrow(expect.objectContaining(BUSY));
  });

  it('that holds much for a minute is refused if another one waits', async () => {
    budget = new MemoryBudget(8 * MiB);
    const [dawdler, crawler, small] = [holding(9 * MiB), holding(4 * MiB), holding(MiB)];
    clock.at += 60_000;
    await Promise.all([dawdler.take(0), crawler.take(0), small.take(0)]);
    const waiting = request().take(5 * MiB);
    for (const slow of [dawdler, crawler]) await expect(slow.take(0)).rejects.toMatchObject(BUSY);
    await small.take(0);
    dawdler.end();
    await waiting;
    expect(budget.heldBytes).toBe(10 * MiB);
  });

  it('that has released much meanwhile has another minute', async () => {
    budget = new MemoryBudget(8 * MiB);
    const [large, waited] = [holding(9 * MiB), holding(4 * MiB)];
    clock.at += 50_000;
    waited.give(4 * MiB - 1);
    clock.at += 10_000;
    waited.takeNow(4 * MiB - 1);
    const queued = request().take(5 * MiB);
    await waited.take(0);
    large.end();
    await queued;
    expect(budget.heldBytes).toBe(9 * MiB);
  });
});

function open(owner: string, bytes: number) {
  const taker = request(owner);
  taker.takeNow(bytes);
  return taker;
}

describe('one client', () => {
  it('leaves others a quarter of the pool, and gets the large slot like everybody', async () => {
    for (let hold = 0; hold < 3; hold++) open('dawdler', 25);
    const large = open('dawdler', 1);
    expect(() => open('dawdler', 1)).toThrow(expect.objectContaining(BUSY));
    await expect(request('dawdler').take(1)).rejects.toMatchObject(BUSY);
    open('person', 25);
    large.end();
    expect(budget.heldBytes).toBe(100);
  });

  it('does not keep the large slot for long if another one waits, however little it needs', async () => {
    for (let hold = 0; hold < 3; hold++) open('dawdler', 25);
    const large = open('dawdler', 1);
    clock.at += 60_000;
    await large.take(0);
    // Those who wait with it are no reason.
    const own = request('dawdler')
      .take(5)
      .catch(() => 'busy');
    await large.take(0);
    const waiting = request('person').take(30);
    await expect(large.take(0)).rejects.toMatchObject(BUSY);
    large.end();
    await waiting;
    expect([await own, budget.heldBytes]).toEqual(['busy', 75 + 30]);
  });

  it('that has had the large slot lets others go first', async () => {
    const first = open('dawdler', 101);
    const order: string[] = [];
    const waiting = ['dawdler', 'dawdler', 'person'].map(async (owner) => {
      const hold = request(owner);
      await hold.take(101);
      order.push(owner);
      hold.end();
    });
    first.end();
    await Promise.all(waiting);
    expect(order).toEqual(['person', 'dawdler', 'dawdler']);
  });
});

/** Time passes when everybody sleeps. */
class SharedClock implements Clock {
  #now = 0;
  readonly #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => this.#sleepers.push({ until: this.#now + ms, wake }));
  }

  /** Until nobody sleeps any more. */
  async run(): Promise<void> {
    for (;;) {
      for (let i = 0; i < 20; i++) await Promise.resolve();
      const [next] = this.#sleepers.toSorted((a, b) => a.until - b.until);
      if (next === undefined) return;
      this.#sleepers.splice(this.#sleepers.indexOf(next), 1);
      this.#now = Math.max(this.#now, next.until);
      next.wake();
    }
  }
}

const MOST_STEPS = 6;
const MOST_BYTES = 80;
/** Stories of requests: one comes, needs more and more, gives some back, and ends or dies. */
const stories = fc.array(
  fc.record({
    startsAt: fc.nat(3_000),
    steps: fc.array(fc.record({ bytes: fc.nat(MOST_BYTES), sleepMs: fc.nat(400), isFreed: fc.boolean() }), {
      minLength: 1,
      maxLength: MOST_STEPS,
    }),
    dies: fc.boolean(),
  }),
  { maxLength: 14 },
);

describe('many requests', () => {
  it('hold together what the pool and one request allow; all come to an end, and nothing stays', async () => {
    await fc.assert(
      fc.asyncProperty(stories, async (plans) => {
        const shared = new SharedClock();
        const pool = new MemoryBudget(POOL);
        const used = new Map<number, number>();
        const endings: string[] = [];
        const check = (): void => {
          const sum = [...used.values()].reduce((total, bytes) => total + bytes, 0);
          expect(pool.heldBytes).toBeGreaterThanOrEqual(sum);
          expect(pool.heldBytes).toBeLessThanOrEqual(POOL + MOST_STEPS * MOST_BYTES);
        };
        const live = async ({ startsAt, steps, dies }: (typeof plans)[number], number: number) => {
          await shared.sleep(startsAt);
          const hold = request(null, pool, shared);
          used.set(number, 0);
          try {
            for (const { bytes, sleepMs, isFreed } of steps) {
              await hold.take(bytes);
              used.set(number, (used.get(number) ?? 0) + bytes);
              check();
              await shared.sleep(sleepMs);
              if (!isFreed) continue;
              hold.give(bytes);
              used.set(number, (used.get(number) ?? 0) - bytes);
              check();
            }
            if (dies) return endings.push('died');
            endings.push('done');
          } catch (error) {
            expect(error).toBeInstanceOf(HostError);
            endings.push('busy');
          }
          hold.end();
          used.delete(number);
          check();
          return null;
        };
        const all = Promise.all(plans.map((plan, number) => live(plan, number)));
        await shared.run();
        await all;
        expect(endings).toHaveLength(plans.length);
        if (plans.length === 1) expect(endings).not.toContain('busy');
        // What the dead held expires.
        const later = shared.sleep(120_000);
        await shared.run();
        await later;
        const fill = request(null, pool, shared);
        fill.takeNow(POOL + 1);
        const second = request(null, pool, shared);
        second.takeNow(POOL);
        fill.end();
        second.end();
        expect(pool.heldBytes).toBe(0);
      }),
      runs(60),
    );
  });
});

describe('a turn', () => {
  let turns: SingleFlight;

  beforeEach(() => {
    turns = new SingleFlight();
  });

  it('is taken at once if nobody has it, and by one key without regard to others', async () => {
    const startedAt = clock.now();
    const first = await turns.take('a', clock);
    const second = await turns.take('b', clock);
    first.end();
    const third = await turns.take('a', clock);
    expect([first, second, third].map(({ hasWaited }) => hasWaited)).toEqual([false, false, false]);
    expect(clock.now()).toBe(startedAt);
  });

  it('is given to one after the other', async () => {
    let [working, most, done] = [0, 0, 0];
    const work = async () => {
      const turn = await turns.take('a', clock);
      most = Math.max(most, (working += 1));
      for (let i = 0; i < 3; i++) await clock.sleep(10);
      working -= 1;
      done += 1;
      turn.end();
      return turn.hasWaited;
    };
    const hasWaited = await Promise.all(Array.from({ length: 6 }, work));
    expect(hasWaited).toEqual([false, true, true, true, true, true]);
    expect([most, done]).toEqual([1, 6]);
  });

  it('is noticed soon after the one before it has ended', async () => {
    const first = await turns.take('a', clock);
    const startedAt = clock.now();
    await turns.take('a', {
      now: () => clock.now(),
      async sleep(ms) {
        await clock.sleep(ms);
        if (clock.now() >= startedAt + 200) first.end();
      },
    });
    expect(clock.now() - startedAt).toBeLessThan(1.3 * 200);
  });

  it('passes on when its request has died, and what is late of that one ends no other', async () => {
    const dead = await turns.take('a', clock);
    const startedAt = clock.now();
    const next = await turns.take('a', clock);
    expect(next.hasWaited).toBe(true);
    expect(clock.now() - startedAt).toBeLessThan(31_000);
    dead.end();
    expect((await turns.take('a', clock)).hasWaited).toBe(true);
  });

  it('is refused as busy after a long wait', async () => {
    await turns.take('a', clock);
    // Others are always faster.
    const late = turns.take('a', {
      now: () => clock.now(),
      sleep: async () => {
        await turns.take('a', clock);
      },
    });
    await expect(late).rejects.toMatchObject({ code: 'busy' });
  });
});
