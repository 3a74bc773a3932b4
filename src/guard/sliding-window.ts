/**
 * A limit over the last minutes, exact to the millisecond: the moments of what was let through are kept, and there are
 * never more of them than the limit.
 *
 * Pure. What is refused does not lengthen the wait; it is only counted.
 */

export interface Limit {
  readonly most: number;
  readonly withinMs: number;
}

export interface SlidingWindow {
  /** When something was let through, oldest first; milliseconds since 1970. */
  readonly hits: readonly number[];
  /** How often something was refused since then. */
  readonly refused: number;
}

export const EMPTY_WINDOW: SlidingWindow = { hits: [], refused: 0 };

export interface Hit {
  readonly allowed: boolean;
  /** This one, those within the window, and those refused since something was last let through. */
  readonly attempts: number;
}

/** Something happened at `now`: whether it is let through, and the window after it. */
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

/** Whether nothing of it counts any more. */
export function isQuiet({ hits }: SlidingWindow, { withinMs }: Limit, now: number): boolean {
  return !hits.some((at) => isWithin(at, withinMs, now));
}

/** Also for a moment that lies ahead, after a clock was set back: nothing is to count for longer than the window. */
export function isWithin(at: number, withinMs: number, now: number): boolean {
  return Math.abs(now - at) < withinMs;
}
