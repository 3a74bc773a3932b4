/**
 * The pull requests that one address, or all of a /48, may open within an hour (contract, section 8; limits.ts).
 *
 * Pure. A push takes a place before the first write at the host, so that none of many simultaneous pushes gets through
 * too much. It counts for an hour, and is given back if the push fails. A push that dies while it is published leaves it
 * to the one that repeats it. One that dies before that costs its address a place: nobody can tell it from one that was
 * answered and opens another pull request when it is repeated.
 */
import { CONTRACT_LIMITS } from './limits.ts';
import { isWithin } from './sliding-window.ts';

export const MOST_PULL_REQUESTS = CONTRACT_LIMITS.pullRequests.most;
const WITHIN_MS = CONTRACT_LIMITS.pullRequests.withinMs;
/** One alert for an address within this time. */
const ALERT_PAUSE_MS = 60 * 60 * 1000;

interface HeldPlace {
  /** Of the push that took it. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly at: number;
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
  /** It is the place that an attempt at the same push took before. Whether that was answered, the caller knows. */
  readonly isShared: boolean;
  /** Held places, and those refused since one was last given. */
  readonly attempts: number;
  /** True: alert the operator now, and not again for an hour. */
  readonly isAlertDue: boolean;
  /** If no place is left now. */
  readonly full?: FullPlaces;
}

/** All places are taken. */
export interface FullPlaces {
  /** The keys of the pushes that hold them. */
  readonly holders: readonly string[];
  /** How long until there is one again, if none is given back. */
  readonly waitMs: number;
}

/**
 * @param key of the push: one that is repeated shares the place that it has. @param most how many places there are.
 * @param isAnother it is not the same push after all: it takes a place of its own.
 */
export function reserve(
  before: Places,
  key: string,
  most: number,
  now: number,
  isAnother = false,
): { readonly places: Places; readonly reservation: Reservation } {
  const held = stillHeld(before, now);
  const isShared = !isAnother && held.some((place) => place.key === key);
  if (!isShared && held.length >= most) {
    const refused = before.refused + 1;
    const isAlertDue = mayAlert(before, now);
    return {
      places: { held, refused, alertedAt: isAlertDue ? now : before.alertedAt },
      reservation: {
        isReserved: false,
        isShared,
        attempts: held.length + refused,
        isAlertDue,
        full: fullPlaces(held, now),
      },
    };
  }
  const after = isShared ? held : [...held, { key, at: now }];
  return {
    places: { ...before, held: after, refused: 0 },
    reservation: {
      isReserved: true,
      isShared,
      attempts: after.length,
      isAlertDue: false,
      ...(after.length >= most && { full: fullPlaces(after, now) }),
    },
  };
}

function fullPlaces(held: readonly HeldPlace[], now: number): FullPlaces {
  return {
    holders: held.map(({ key }) => key),
    waitMs: Math.min(...held.map(({ at }) => at + WITHIN_MS - now)),
  };
}

/** Nothing was opened. Gives back one place of the push, the newest. */
export function release(before: Places, key: string, now: number): Places {
  const held = stillHeld(before, now);
  const newest = held.findLast((place) => place.key === key);
  return { ...before, held: held.filter((place) => place !== newest) };
}

/** Whether nothing in it counts any more. */
export function hasForgotten(places: Places, now: number): boolean {
  return mayAlert(places, now) && stillHeld(places, now).length === 0;
}

function mayAlert({ alertedAt }: Places, now: number): boolean {
  return alertedAt === null || !isWithin(alertedAt, ALERT_PAUSE_MS, now);
}

function stillHeld({ held }: Places, now: number): HeldPlace[] {
  return held.filter(({ at }) => isWithin(at, WITHIN_MS, now));
}
