/**
 * The parts of a delayed push that others may know: its page, the operator, and `/metrics`. Pure.
 * Proved by test/durable/delayed-pushes/delayed-pushes.test.ts.
 */
import { earliest } from '../due-rows.ts';
import type { DelayedPush, DelayedView, DelayReason } from './delayed-push.ts';
import { dueAtOf, isAtWork, isBegun, isEnding, isUnwanted, type StagedPush } from './stages.ts';

/** Counts for /metrics and the operator. A push that was approved waits for its time. */
export interface DelayedCounts {
  readonly waiting: Readonly<Record<DelayReason, number>>;
  /** The moment since which the oldest one waits; null: there is none. */
  readonly oldestAt: number | null;
}

/** Selects what its page may tell. */
export function viewOf(push: StagedPush, now: number): DelayedView {
  const { name, reason, from, to, until, said, stage } = push;
  const state = isEnding(stage) ? stage.kind : 'waiting';
  return {
    name,
    reason,
    from,
    to,
    until,
    said,
    state,
    published: stage.kind === 'published' ? stage.as : null,
    isGivenUp: isUnwanted(push),
    waitsForReview: state === 'waiting' && dueAtOf(push) === null,
    isBeingPublished: isAtWork(push, now),
    isBegun: isBegun(push),
  };
}

/** Selects what the operator may see. */
export function listedOf(push: StagedPush): DelayedPush {
  const { stage: _, ...facts } = push;
  return { ...facts, dueAt: dueAtOf(push) };
}

/** @param waiting all pushes that wait */
export function countsOf(waiting: readonly StagedPush[]): DelayedCounts {
  const counts = { delay: 0, busy: 0, review: 0 };
  for (const push of waiting) {
    const reason = push.reason === 'review' ? 'delay' : push.reason;
    counts[dueAtOf(push) === null ? 'review' : reason] += 1;
  }
  return { waiting: counts, oldestAt: earliest(...waiting.map(({ keptAt }) => keptAt)) };
}
