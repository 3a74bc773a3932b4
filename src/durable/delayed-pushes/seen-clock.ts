/**
 * Time for what waits, by a clock that may be wrong. Pure. The latest moment that was seen is stored. A clock that is
 * set back stands still until it has caught up, so nothing is published early. A jump forward of more than a day may be
 * a machine that was off, or a wrong clock: what is due is published, but nothing expires for a day, and a clock that
 * is corrected meanwhile goes on where it was.
 */

export const DAY_MS = 24 * 60 * 60 * 1000;

/** All in milliseconds since 1970. */
export interface SeenTime {
  readonly latest: number;
  /** Where the clock has jumped to, more than a day after `latest`; null: it has not. */
  readonly jumpedTo: number | null;
}

/** @param clock milliseconds since 1970. @returns what is to be stored now. */
export function see(before: SeenTime | null, clock: number): SeenTime {
  if (before === null) return { latest: clock, jumpedTo: null };
  const { latest, jumpedTo } = before;
  if (clock - latest <= DAY_MS) return { latest: Math.max(latest, clock), jumpedTo: null };
  const since = jumpedTo === null || clock < jumpedTo ? clock : jumpedTo;
  return clock - since >= DAY_MS ? { latest: clock, jumpedTo: null } : { latest, jumpedTo: since };
}
