/** A pseudonym's moderation (contract, 3.1). Pure: facts in, facts and effects out. */
import { isAhead } from '../../isolate/clock.ts';
import { checkMove } from '../stages.ts';
import { MODERATION_STAGES, type ModerationEvent, type ModerationStage } from './stages.ts';

const HOUR_MS = 60 * 60 * 1000;

/** How long a report counts. */
export const REPORT_LIFE_MS = 30 * 24 * HOUR_MS;
export const COOLDOWN_MS = 6 * HOUR_MS;
/** How many active reports flag a pseudonym, and how many block it permanently. */
export const FLAG_THRESHOLD = 3;
export const BLOCK_THRESHOLD = 6;
/**
 * How many /64 of one /48 count: a free tunnel has 65,536, and two neighbours may share a
 * provider's /48.
 */
const REPORTS_PER_PREFIX = 2;

type Row = (typeof MODERATION_STAGES.stages)[ModerationStage];

/** The state as the contract names it. */
export type ModerationState = Row['state'];

/** The facts that the report page shows. */
export interface Standing {
  /** Reports of the last 30 days, without those before a pardon. */
  readonly reports: number;
  readonly state: ModerationState;
}

export const UNREPORTED: Standing = { reports: 0, state: 'registered' };

/** A reporter as keyed hashes, never an address. */
export interface Reporter {
  /** A hash of the network: one IPv4 address, or a /64. */
  readonly reporter: string;
  /** A hash of all networks that one subscriber may hold: one IPv4 address, or a /48. */
  readonly prefix: string;
}

type Report = Reporter & { readonly at: number };

export interface ModerationFacts {
  readonly reports: readonly Report[];
  /** The moment before which it may not post; 0: there is none. */
  readonly cooldownUntil: number;
  /** Whether it is blocked, permanently: pruning does not undo that. */
  readonly isBlocked: boolean;
  /**
   * The moment of its pardon; 0: there was none. Earlier reports do not count, but keep their
   * reporters from repeating them.
   */
  readonly pardonedAt: number;
}

export const NO_FACTS: ModerationFacts = { reports: [], cooldownUntil: 0, isBlocked: false, pardonedAt: 0 };

/**
 * The effect of a report. `flag`: karma becomes 0, and the footers of the comments are edited to
 * say so. `block`: the comments are deleted.
 */
type ReportEffect = 'none' | 'flag' | 'block';

/** Leaves out the reports that count no more. */
export function pruned(facts: ModerationFacts, now: number): ModerationFacts {
  return { ...facts, reports: facts.reports.filter(({ at }) => Math.abs(now - at) <= REPORT_LIFE_MS) };
}

export function stageOf(facts: ModerationFacts, now: number): ModerationStage {
  if (facts.isBlocked) return 'blocked';
  if (countOf(facts, now) < FLAG_THRESHOLD) return 'registered';
  return isAhead(facts.cooldownUntil, COOLDOWN_MS, now) ? 'cooling' : 'flagged';
}

export function standingOf(facts: ModerationFacts, now: number): Standing {
  return { reports: countOf(facts, now), state: MODERATION_STAGES.stages[stageOf(facts, now)].state };
}

/** Decides whether it may post now, and with which karma. */
export function postingDecision(facts: ModerationFacts, now: number): Row['posting'] {
  return MODERATION_STAGES.stages[stageOf(facts, now)].posting;
}

/** Lifts what the reports have led to, for the operator. */
export function pardoned(facts: ModerationFacts, now: number): ModerationFacts {
  // A clock that was set back must not leave reports of a later time.
  const pardonedAt = Math.max(now, ...facts.reports.map(({ at }) => at));
  const lifted = { ...facts, cooldownUntil: 0, isBlocked: false, pardonedAt };
  return moved(facts, 'pardon', lifted, now);
}

/**
 * Starts another cooldown: it has posted although reports count. They may have been lifted while
 * the code host took the comment.
 */
export function cooledDown(facts: ModerationFacts, now: number): ModerationFacts {
  if (stageOf(facts, now) !== 'flagged') return facts;
  return moved(facts, 'post', { ...facts, cooldownUntil: now + COOLDOWN_MS }, now);
}

/** Checks the move. @throws Error if the table of stages does not have it */
function moved(
  before: ModerationFacts,
  event: ModerationEvent,
  after: ModerationFacts,
  now: number,
): ModerationFacts {
  checkMove(MODERATION_STAGES, stageOf(before, now), event, stageOf(after, now));
  return after;
}

/**
 * Adds a report. The facts stay the same object if the network, or enough of its /48, have reported
 * already, or if the pseudonym is blocked.
 */
export function reported(
  before: ModerationFacts,
  by: Reporter,
  now: number,
): { readonly facts: ModerationFacts; readonly effect: ReportEffect } {
  const { reports } = pruned(before, now);
  const isRepeated = reports.some(({ reporter }) => reporter === by.reporter);
  const isOfMany = reports.filter(({ prefix }) => prefix === by.prefix).length >= REPORTS_PER_PREFIX;
  if (before.isBlocked || isRepeated || isOfMany) return { facts: before, effect: 'none' };
  const facts = { ...before, reports: [...reports, { ...by, at: now }] };
  const count = countOf(facts, now);
  if (count >= BLOCK_THRESHOLD)
    return { facts: moved(before, 'report', { ...facts, isBlocked: true }, now), effect: 'block' };
  // One that does not count, from before a pardon by a clock that was set back, flags nobody anew.
  const isReached = count === FLAG_THRESHOLD && countOf(before, now) < FLAG_THRESHOLD;
  if (!isReached) return { facts: moved(before, 'report', facts, now), effect: 'none' };
  const flagged = { ...facts, cooldownUntil: now + COOLDOWN_MS };
  return { facts: moved(before, 'report', flagged, now), effect: 'flag' };
}

function countOf(facts: ModerationFacts, now: number): number {
  return pruned(facts, now).reports.filter(({ at }) => at > facts.pardonedAt).length;
}
