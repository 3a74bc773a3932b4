/**
 * Limits over the last minutes, exact to the millisecond: all of them must allow an attempt. It keeps the time of each
 * accepted attempt, so never more times than the limits allow.
 *
 * Pure. A refused attempt does not lengthen the wait; it is only counted.
 */
import { isWithin } from '../isolate/clock.ts';

const MINUTE_MS = 60_000;
const QUARTER_HOUR_MS = 15 * MINUTE_MS;

export interface Limit {
  readonly most: number;
  readonly withinMs: number;
}

/** How long until a limit allows the next attempt. */
export interface Wait {
  /** Exact; 0: it allows one now. */
  readonly waitMs: number;
  /** The window of the limit that refuses; 0: none does. */
  readonly withinMs: number;
}

export const NO_WAIT: Wait = { waitMs: 0, withinMs: 0 };

/**
 * A wait as a client is told it: rounded up to the quarter hour if the window is an hour or longer, else to the minute.
 * The exact one says when somebody who shares the address did something.
 */
export function toldMs({ waitMs, withinMs }: Wait): number {
  const unitMs = withinMs >= 4 * QUARTER_HOUR_MS ? QUARTER_HOUR_MS : MINUTE_MS;
  return Math.ceil(waitMs / unitMs) * unitMs;
}

export interface SlidingWindow {
  /** When an attempt was accepted, oldest first; milliseconds since 1970. */
  readonly hits: readonly number[];
  /** How many attempts were refused since then. */
  readonly refused: number;
}

export const EMPTY_WINDOW: SlidingWindow = { hits: [], refused: 0 };

export interface Hit extends Wait {
  readonly allowed: boolean;
  /** This attempt, those within the window, and those refused since the last accepted one. */
  readonly attempts: number;
}

/** An attempt at `now`: whether it is accepted, and the window after it. */
export function hit(
  before: SlidingWindow,
  limits: readonly Limit[],
  now: number,
): { readonly window: SlidingWindow; readonly hit: Hit } {
  const longestMs = longestOf(limits);
  const hits = before.hits.filter((at) => isWithin(at, longestMs, now));
  const wait = longestWait(limits.map((limit) => waitOf(hits, limit, now)));
  if (wait.waitMs > 0) {
    const refused = before.refused + 1;
    return { window: { hits, refused }, hit: { allowed: false, attempts: hits.length + refused, ...wait } };
  }
  return {
    window: { hits: [...hits, now], refused: 0 },
    hit: { allowed: true, attempts: hits.length + 1, ...NO_WAIT },
  };
}

/** The longest time for which a hit counts. */
export function longestOf(limits: readonly Limit[]): number {
  return Math.max(...limits.map(({ withinMs }) => withinMs));
}

export function longestWait(waits: readonly Wait[]): Wait {
  return waits.reduce((longest, wait) => (wait.waitMs > longest.waitMs ? wait : longest), NO_WAIT);
}

/** Whether nothing in it counts any more. */
export function isQuiet({ hits }: SlidingWindow, withinMs: number, now: number): boolean {
  return !hits.some((at) => isWithin(at, withinMs, now));
}

/** Until enough hits have left the window. After a clock was set back, at most the whole window. @param hits oldest first. */
export function waitOf(hits: readonly number[], { most, withinMs }: Limit, now: number): Wait {
  const counted = hits.filter((at) => isWithin(at, withinMs, now));
  const last = counted.at(-most);
  return last === undefined ? NO_WAIT : { waitMs: Math.min(withinMs, last + withinMs - now), withinMs };
}
