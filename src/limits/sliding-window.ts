/**
 * Limits over the last minutes, exact to the millisecond: all of them must allow an attempt. It keeps the time of each
 * accepted attempt, so never more times than the limits allow.
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
  /** How long until the next attempt is allowed; 0 if this one is. */
  readonly waitMs: number;
}

/** An attempt at `now`: whether it is accepted, and the window after it. */
export function hit(
  before: SlidingWindow,
  limits: readonly Limit[],
  now: number,
): { readonly window: SlidingWindow; readonly hit: Hit } {
  const longestMs = longestOf(limits);
  const hits = before.hits.filter((at) => isWithin(at, longestMs, now));
  const waitMs = Math.max(...limits.map((limit) => waitOf(hits, limit, now)));
  if (waitMs > 0) {
    const refused = before.refused + 1;
    return { window: { hits, refused }, hit: { allowed: false, attempts: hits.length + refused, waitMs } };
  }
  return {
    window: { hits: [...hits, now], refused: 0 },
    hit: { allowed: true, attempts: hits.length + 1, waitMs: 0 },
  };
}

/** The longest time for which a hit counts. */
export function longestOf(limits: readonly Limit[]): number {
  return Math.max(...limits.map(({ withinMs }) => withinMs));
}

/** Whether nothing in it counts any more. */
export function isQuiet({ hits }: SlidingWindow, withinMs: number, now: number): boolean {
  return !hits.some((at) => isWithin(at, withinMs, now));
}

/** Also drops times in the future, after a clock was set back: nothing may count for longer than the window. */
export function isWithin(at: number, withinMs: number, now: number): boolean {
  return Math.abs(now - at) < withinMs;
}

/**
 * Whether something that ends at `until`, and takes at most `mostMs`, is still going on. If a clock was set back in
 * between, it is over.
 */
export function isAhead(until: number, mostMs: number, now: number): boolean {
  return now < until && until - now <= mostMs;
}

/** Until enough hits have left the window. After a clock was set back, at most the whole window. */
function waitOf(hits: readonly number[], { most, withinMs }: Limit, now: number): number {
  const counted = hits.filter((at) => isWithin(at, withinMs, now));
  const last = counted.at(-most);
  return last === undefined ? 0 : Math.min(withinMs, last + withinMs - now);
}
