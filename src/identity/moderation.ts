/**
 * Community moderation of one pseudonym (contract, 3.1): what reports lead to, and whether it may post.
 *
 * Pure: the facts go in with the time, new facts and what is to be done about them come out. Times are milliseconds
 * since 1970.
 */

const HOUR_MS = 60 * 60 * 1000;

/** Reports that are older are pruned. */
export const REPORT_LIFE_MS = 30 * 24 * HOUR_MS;
export const COOLDOWN_MS = 6 * HOUR_MS;
/** So many standing reports flag a pseudonym, and so many block it for good. */
export const FLAG_THRESHOLD = 3;
export const BLOCK_THRESHOLD = 6;

export type ModerationState = 'registered' | 'flagged' | 'blocked';

/** What the report page shows. */
export interface Standing {
  /** Reports of the last 30 days. */
  readonly reports: number;
  readonly state: ModerationState;
}

export const UNREPORTED: Standing = { reports: 0, state: 'registered' };

export interface Report {
  /** The keyed hash of the reporter's network, never the address. */
  readonly reporter: string;
  readonly at: number;
}

export interface ModerationFacts {
  readonly reports: readonly Report[];
  /** No post before this moment; 0 if it was never flagged. */
  readonly cooldownUntil: number;
  /** Blocked is for good: no pruning undoes it. */
  readonly isBlocked: boolean;
}

export const NO_FACTS: ModerationFacts = { reports: [], cooldownUntil: 0, isBlocked: false };

export type ReportEffect =
  | 'none'
  /** Karma becomes 0, and the footers of the comments are edited to say so. */
  | 'flag'
  /** The comments are deleted. */
  | 'block';

/** `normal`: karma grows by one. `zero`: reports stand, so karma is 0, and the post starts another cooldown. */
export type PostingDecision = 'blocked' | 'cooldown' | 'normal' | 'zero';

export function pruned(facts: ModerationFacts, now: number): ModerationFacts {
  return { ...facts, reports: facts.reports.filter(({ at }) => now - at <= REPORT_LIFE_MS) };
}

export function standingOf(facts: ModerationFacts, now: number): Standing {
  const reports = pruned(facts, now).reports.length;
  if (facts.isBlocked) return { reports, state: 'blocked' };
  return { reports, state: reports >= FLAG_THRESHOLD ? 'flagged' : 'registered' };
}

/** `accepted` is false for a reporter whose earlier report still stands. */
export function reported(
  facts: ModerationFacts,
  reporter: string,
  now: number,
): { accepted: boolean; facts: ModerationFacts; effect: ReportEffect } {
  const before = pruned(facts, now);
  if (before.reports.some((report) => report.reporter === reporter)) {
    return { accepted: false, facts: before, effect: 'none' };
  }
  const after = { ...before, reports: [...before.reports, { reporter, at: now }] };
  if (before.isBlocked) return { accepted: true, facts: after, effect: 'none' };
  if (after.reports.length >= BLOCK_THRESHOLD) {
    return { accepted: true, facts: { ...after, isBlocked: true }, effect: 'block' };
  }
  if (after.reports.length !== FLAG_THRESHOLD) return { accepted: true, facts: after, effect: 'none' };
  return { accepted: true, facts: { ...after, cooldownUntil: now + COOLDOWN_MS }, effect: 'flag' };
}

export function postingDecision(facts: ModerationFacts, now: number): PostingDecision {
  const { state } = standingOf(facts, now);
  if (state === 'blocked') return 'blocked';
  if (state === 'registered') return 'normal';
  return now < facts.cooldownUntil ? 'cooldown' : 'zero';
}
