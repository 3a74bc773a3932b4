/**
 * A limit over the last minutes, exact to the millisecond. It keeps the time of each accepted attempt, so never more
 * times than the limit.
 *
 * Pure. A refused attempt does not lengthen the wait; it is only counted.
 */

export interface Limit {
  readonly most: number;
  readonly withinMs: number;
}

export interface SlidingWindow {
  /** When an attempt was accepted, oldest first; milliseconds since 1970. */
  readonly hits: readonly number[];
  /** How many attempts were refused since then. */
  readonly refused: number;
}

export const EMPTY_WINDOW: SlidingWindow = { hits: [], refused: 0 };

export interface Hit {
  readonly allowed: boolean;
  /** This attempt, those within the window, and those refused since the last accepted one. */
  readonly attempts: number;
}

/** An attempt at `now`: whether it is accepted, and the window after it. */
export function hit(
  before: SlidingWindow,
  { most, withinMs }: Limit,
  now: number,
): { readonly window: SlidingWindow; readonly hit: Hit } {
  const hits = before.hits.filter((at) => isWithin(at, withinMs, now));
  if (hits.length >= most) {
    const refused = before.refused + 1;
    return { window: { hits, refused }, hit: { allowed: false, attempts: hits.length + refused } };
  }
  return { window: { hits: [...hits, now], refused: 0 }, hit: { allowed: true, attempts: hits.length + 1 } };
}

/** Whether nothing in it counts any more. */
export function isQuiet({ hits }: SlidingWindow, { withinMs }: Limit, now: number): boolean {
  return !hits.some((at) => isWithin(at, withinMs, now));
}

/** Also drops times in the future, after a clock was set back: nothing may count for longer than the window. */
export function isWithin(at: number, withinMs: number, now: number): boolean {
  return Math.abs(now - at) < withinMs;
}
