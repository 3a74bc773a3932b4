/**
 * Limits over the last minutes or hours. All limits must allow an attempt; one that is refused does
 * not count.
 */
import { isWithin } from '../isolate/clock.ts';
import type { Recent } from '../isolate/recent.ts';

const MINUTE_MS = 60_000;

const QUARTER_MS = 15 * MINUTE_MS;

export interface Limit {
  readonly most: number;
  readonly withinMs: number;
  /**
   * Gives room back at the quarter hour after that time, so that somebody who shares the address,
   * and asks every second, does not see when it was taken.
   */
  readonly untilQuarter?: true;
}

/** The time until a limit allows the next attempt. */
export interface Wait {
  /** The exact time; 0: it allows one now. */
  readonly waitMs: number;
  /** The window of the limit that refuses; 0: none does. */
  readonly withinMs: number;
}

/** A window in which attempts count. */
export interface Counter {
  readonly key: string;
  readonly limits: readonly Limit[];
}

/** `wider`: the limits of all networks around the client together, if these refuse. */
export interface TriedWait extends Wait {
  readonly wider?: readonly Limit[];
}

export const NO_WAIT: Wait = { waitMs: 0, withinMs: 0 };

/**
 * Rounds a wait up, for a client to be told: the exact one would say when somebody who shares the
 * address did something.
 */
export function toldMs({ waitMs, withinMs }: Wait): number {
  const unitMs = withinMs >= 60 * MINUTE_MS ? 15 * MINUTE_MS : MINUTE_MS;
  return Math.ceil(waitMs / unitMs) * unitMs;
}

/**
 * Counts an attempt at `now`, if no limit refuses it.
 * @param before when attempts were accepted, oldest first; milliseconds since 1970.
 * @returns those that still count, with this one if it was accepted, and the wait.
 */
export function hit(
  before: readonly number[],
  limits: readonly Limit[],
  now: number,
): { readonly hits: readonly number[]; readonly wait: Wait } {
  const longestMs = longestOf(limits);
  const hits = before.filter((at) => isWithin(at, longestMs, now));
  const wait = waitOf(hits, limits, now);
  return { hits: wait.waitMs > 0 ? hits : [...hits, now], wait };
}

/** The longest time for which a hit may count. */
export function longestOf(limits: readonly Limit[]): number {
  return Math.max(...limits.map(({ withinMs, untilQuarter }) => withinMs + (untilQuarter ? QUARTER_MS : 0)));
}

/**
 * The time in milliseconds for which a hit counts.
 * @param at when it was, in milliseconds since 1970.
 */
export function lifeOf({ withinMs, untilQuarter }: Limit, at: number): number {
  return untilQuarter ? Math.ceil((at + withinMs) / QUARTER_MS) * QUARTER_MS - at : withinMs;
}

export function longestWait(waits: readonly Wait[]): Wait {
  return waits.reduce((longest, wait) => (wait.waitMs > longest.waitMs ? wait : longest), NO_WAIT);
}

/**
 * The wait until enough hits have left each window. After a clock was set back, it is one window at
 * most.
 * @param hits oldest first.
 */
export function waitOf(hits: readonly number[], limits: readonly Limit[], now: number): Wait {
  const waits = limits.map((limit) => {
    const last = hits.filter((at) => isWithin(at, lifeOf(limit, at), now)).at(-limit.most);
    if (last === undefined) return NO_WAIT;
    const lifeMs = lifeOf(limit, last);
    return { waitMs: Math.min(lifeMs, last + lifeMs - now), withinMs: limit.withinMs };
  });
  return longestWait(waits);
}

/** Prefers a client's own wait to that of the networks around it, which others cause, too. */
export function triedWait(own: Wait, around: Wait, wider: Counter | null): TriedWait {
  if (own.waitMs > 0 || wider === null) return own;
  return around.waitMs > 0 ? { ...around, wider: wider.limits } : NO_WAIT;
}

/**
 * The hits of each client, by keyed hash, in memory. Of a crowd, only the last are kept, so limits
 * only get milder.
 */
export type ClientHits = Recent<readonly number[]>;

/** Counts an attempt for the client and for the networks around it, or for neither. */
export function hitBoth(own: Counter, wider: Counter | null, hits: ClientHits, now: number): TriedWait {
  const wait = (counter: Counter | null, isAttempt: boolean): Wait =>
    counter === null ? NO_WAIT : hitBy(counter.key, hits, counter.limits, now, isAttempt);
  const tried = triedWait(wait(own, false), wait(wider, false), wider);
  if (tried.waitMs === 0) for (const counter of [own, wider]) wait(counter, true);
  return tried;
}

/**
 * Does the same as `hit`, for one client.
 * @param isAttempt false: it is not counted.
 */
export function hitBy(
  client: string,
  hits: ClientHits,
  limits: readonly Limit[],
  now: number,
  isAttempt = true,
): Wait {
  const before = hits.get(client) ?? [];
  const after = hit(before, limits, now);
  hits.set(client, isAttempt ? after.hits : before);
  hits.dropOldest((others) => !isWithin(others.at(-1) ?? 0, longestOf(limits), now));
  return after.wait;
}

/** The end of a wait, in milliseconds since 1970. */
export const ending = ({ waitMs, withinMs }: Wait) => ({ until: Date.now() + waitMs, withinMs });
export type WindowEnding = Readonly<ReturnType<typeof ending>>;

/** A part of each limit, and at least one. */
export function partOf(limits: readonly Limit[], part: number): readonly Limit[] {
  return limits.map(({ most, withinMs }) => ({ most: Math.ceil(most * part), withinMs }));
}
