/**
 * The pull requests that one address, or all of a /48, may open within an hour (contract, section 8; limits.ts).
 *
 * Pure. A push takes a place before its work begins, so that none of many simultaneous pushes gets through too much.
 * When the pull request is open, the place is confirmed and its hour begins. When the push fails, it is returned. If a
 * push dies, its place becomes free after a while.
 */
import { CONTRACT_LIMITS } from './limits.ts';
import { isWithin } from './sliding-window.ts';

export const MOST_PULL_REQUESTS = CONTRACT_LIMITS.pullRequests.most;
const WITHIN_MS = CONTRACT_LIMITS.pullRequests.withinMs;
/**
 * Longer than the slowest possible push: 30 s for the client's bytes, and about ten calls to the host with three
 * attempts of up to 30 s each.
 */
export const RESERVATION_MS = 20 * 60 * 1000;
/** One alert for an address within this time. */
const ALERT_PAUSE_MS = 60 * 60 * 1000;

interface HeldPlace {
  /** Of the push that holds it, as long as that is under way; then empty, as the same push may open another one. */
  readonly key: string;
  /** When it was taken; for an open pull request, when that was opened. Milliseconds since 1970. */
  readonly at: number;
  readonly isOpen: boolean;
}

export interface Places {
  readonly held: readonly HeldPlace[];
  /** How many were refused since a place was last given. */
  readonly refused: number;
  readonly alertedAt: number | null;
}

export const NO_PLACES: Places = { held: [], refused: 0, alertedAt: null };

export interface Reservation {
  readonly isReserved: boolean;
  /** Held places, and those refused since one was last given. */
  readonly attempts: number;
  /** True: alert the operator now, and not again for an hour. */
  readonly isAlertDue: boolean;
}

/**
 * @param key of the push: if it is repeated because nobody knows how it ended, it keeps the place that it has.
 * @param most how many places there are.
 */
export function reserve(
  before: Places,
  key: string,
  most: number,
  now: number,
): { readonly places: Places; readonly reservation: Reservation } {
  const held = stillHeld(before, now);
  const own = held.find((place) => place.key === key);
  if (own === undefined && held.length >= most) {
    const refused = before.refused + 1;
    const isAlertDue = mayAlert(before, now);
    return {
      places: { held, refused, alertedAt: isAlertDue ? now : before.alertedAt },
      reservation: { isReserved: false, attempts: held.length + refused, isAlertDue },
    };
  }
  const place = { key, at: now, isOpen: false };
  const others = held.filter((other) => other !== own);
  const after = [...others, place];
  return {
    places: { ...before, held: after, refused: 0 },
    reservation: { isReserved: true, attempts: after.length, isAlertDue: false },
  };
}

/**
 * The pull request is open: it counts from now on, even if its reservation has expired. Called again because an answer
 * was lost, it counts twice, which costs its client a place for an hour.
 */
export function confirm(before: Places, key: string, now: number): Places {
  const others = stillHeld(before, now).filter((place) => place.key !== key);
  return { ...before, held: [...others, { key: '', at: now, isOpen: true }] };
}

/** Nothing was opened. */
export function release(before: Places, key: string, now: number): Places {
  return { ...before, held: stillHeld(before, now).filter((place) => place.key !== key) };
}

/** Whether nothing in it counts any more. */
export function hasForgotten(places: Places, now: number): boolean {
  return mayAlert(places, now) && stillHeld(places, now).length === 0;
}

function mayAlert({ alertedAt }: Places, now: number): boolean {
  return alertedAt === null || !isWithin(alertedAt, ALERT_PAUSE_MS, now);
}

function stillHeld({ held }: Places, now: number): HeldPlace[] {
  return held.filter(({ at, isOpen }) => isWithin(at, isOpen ? WITHIN_MS : RESERVATION_MS, now));
}
