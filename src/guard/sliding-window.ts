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
export function hit(before: SlidingWindow, limit: Limit, now: number): { window: SlidingWindow; hit: Hit } {
  const hits = before.hits.filter((at) => isWithin(at, limit.withinMs, now));
  const allowed = hits.length < limit.most;
  const refused = allowed ? 0 : before.refused + 1;
  const window = { hits: allowed ? [...hits, now] : hits, refused };
  return { window, hit: { allowed, attempts: hits.length + (allowed ? 1 : refused) } };
}

/** A moment in the future, after a clock was set back, is no reason to wait longer than the window. */
export function isWithin(at: number, withinMs: number, now: number): boolean {
  return Math.abs(now - at) < withinMs;
}
