import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMPTY_WINDOW, hit, isQuiet, type SlidingWindow } from '../../src/limits/sliding-window.ts';
import { runs } from '../support/runs.ts';

const LIMIT = { most: 3, withinMs: 1000 };
const START = 1_800_000_000_000;

/** The same by its definition, over everything that ever happened. */
class Model {
  readonly #attempts: { at: number; allowed: boolean }[] = [];

  hit(now: number) {
    const counted = this.#attempts.filter(({ at, allowed }) => allowed && now - at < LIMIT.withinMs);
    const allowed = counted.length < LIMIT.most;
    this.#attempts.push({ at: now, allowed });
    const refused = this.#attempts.length - 1 - this.#attempts.findLastIndex((attempt) => attempt.allowed);
    const waitMs = allowed ? 0 : (counted.at(-LIMIT.most)?.at ?? 0) + LIMIT.withinMs - now;
    const withinMs = allowed ? 0 : LIMIT.withinMs;
    return { allowed, attempts: counted.length + (allowed ? 1 : refused), waitMs, withinMs };
  }
}

describe('a sliding window', () => {
  it('does what its definition says, whenever the attempts come', () => {
    const pauses = fc.array(fc.oneof(fc.nat(400), fc.constantFrom(0, 999, 1000, 1001)), { maxLength: 60 });
    fc.assert(
      fc.property(pauses, (gaps) => {
        const model = new Model();
        let window: SlidingWindow = EMPTY_WINDOW;
        let now = START;
        for (const gap of gaps) {
          now += gap;
          const after = hit(window, [LIMIT], now);
          expect(after.hit).toEqual(model.hit(now));
          expect(after.window.hits.length).toBeLessThanOrEqual(LIMIT.most);
          window = after.window;
        }
      }),
      runs(300),
    );
  });

  it('is quiet when the last hit has left it', () => {
    const { window } = hit(EMPTY_WINDOW, [LIMIT], START);
    expect(isQuiet(window, LIMIT.withinMs, START + 999)).toBe(false);
    expect(isQuiet(window, LIMIT.withinMs, START + 1000)).toBe(true);
  });

  it('does not close for good when the clock is set back', () => {
    let window: SlidingWindow = EMPTY_WINDOW;
    for (let count = 0; count < 3; count++) ({ window } = hit(window, [LIMIT], START));
    expect(hit(window, [LIMIT], START - 5000).hit.allowed).toBe(true);
  });

  it('holds every attempt against all of several limits, and says how long to wait', () => {
    const limits = [
      { most: 2, withinMs: 1000 },
      { most: 3, withinMs: 10_000 },
    ];
    let window: SlidingWindow = EMPTY_WINDOW;
    const waits = [0, 10, 20, 1000, 1010, 2000, 10_000].map((after) => {
      const { window: next, hit: outcome } = hit(window, limits, START + after);
      window = next;
      return outcome.waitMs;
    });
    expect(waits).toEqual([0, 0, 980, 0, 8990, 8000, 0]);
  });

  it('never asks to wait longer than the window, whatever the clock does', () => {
    let window: SlidingWindow = EMPTY_WINDOW;
    for (let count = 0; count < 3; count++) ({ window } = hit(window, [LIMIT], START));
    expect(hit(window, [LIMIT], START - 900).hit.waitMs).toBe(LIMIT.withinMs);
    expect(hit(window, [LIMIT], START + 5000).hit.allowed).toBe(true);
  });
});
