/**
 * The stages of a delayed push, and what may follow each of them. Pure. A stage has what belongs to
 * it, so that nothing has to be concluded from what is missing. A lease that has expired is lost as
 * soon as somebody else gets one; until then its holder may still use it.
 */
import type { PushIntent } from '../pending-push/pending-push.ts';
import { LEASE_MS } from '../lease.ts';
import { checkMove, type StageTable } from '../stages.ts';
import type { DelayedPush, LeasedPush, PublishedAs } from './delayed-push.ts';

interface Held {
  readonly lease: { readonly token: string; readonly until: number };
}

/** A moment at which it is to be published, in milliseconds since 1970. */
interface Timed {
  readonly dueAt: number;
}

/** The hash and date of what may be public in part. */
interface Begun {
  readonly intent: PushIntent;
}

export type Ending =
  | { readonly kind: 'failed' | 'given-up' | 'discarded' }
  | { readonly kind: 'published'; readonly as: PublishedAs };

export type HeldStage =
  | ({ readonly kind: 'leased' } & Timed & Held)
  | ({ readonly kind: 'publishing' } & Timed & Held & Begun)
  | ({ readonly kind: 'removing'; readonly isGivenUp: boolean } & Held & Begun);

type IdleStage =
  | { readonly kind: 'review' }
  | ({ readonly kind: 'due' } & Timed)
  | ({ readonly kind: 'begun' } & Timed & Begun)
  | ({ readonly kind: 'stopped' | 'unwanted' } & Begun);

/** Nobody works on it, and it is published when its moment comes. */
export type TimedStage = Extract<IdleStage, Timed>;

export type Stage = IdleStage | HeldStage | Ending;

export interface StagedPush<S extends Stage = Stage> extends Omit<DelayedPush, 'dueAt'> {
  readonly stage: S;
}

/** One of which a part may be public. */
export type BegunRow = StagedPush<Extract<Stage, Begun>>;

type Staged = Pick<StagedPush, 'stage'>;

export type StageEvent =
  | 'claim'
  | 'begin'
  | 'publish'
  | 'postpone'
  | 'ask the operator'
  | 'fail'
  | 'lose the lease'
  | 'give up'
  | 'discard'
  | 'remove'
  | 'approve'
  | 'roll back'
  | 'expire';

export const DELAYED_STAGES: StageTable<Stage['kind'], StageEvent> = {
  first: ['review', 'due'],
  stages: {
    review: {
      means: 'it waits for the operator; nothing is public',
      next: {
        approve: ['due'],
        'give up': ['given-up'],
        discard: ['discarded'],
        'roll back': ['discarded'],
        expire: ['discarded'],
      },
    },
    due: {
      means: 'it waits for its moment; nothing is public',
      next: {
        claim: ['leased'],
        'give up': ['given-up'],
        discard: ['discarded'],
        'roll back': ['discarded'],
        expire: ['failed'],
      },
    },
    leased: {
      means: 'the holder of its lease judges it again; nothing is public',
      next: {
        begin: ['publishing'],
        postpone: ['due'],
        'lose the lease': ['due'],
        'ask the operator': ['review'],
        fail: ['failed'],
        'roll back': ['discarded'],
      },
    },
    publishing: {
      means: 'the holder of its lease publishes it; part of it may be public',
      next: {
        begin: ['publishing'],
        publish: ['published'],
        postpone: ['begun'],
        'lose the lease': ['begun'],
        'ask the operator': ['stopped'],
        fail: ['failed'],
        'roll back': ['stopped'],
      },
    },
    begun: {
      means: 'it waits for the next attempt; part of it may be public',
      next: {
        claim: ['publishing'],
        'give up': ['removing'],
        discard: ['removing'],
        'roll back': ['stopped'],
        expire: ['failed'],
      },
    },
    stopped: {
      means: 'it waits for the operator; part of it may be public',
      next: {
        approve: ['begun'],
        'give up': ['removing'],
        discard: ['removing'],
        'roll back': ['removing'],
        expire: ['discarded'],
      },
    },
    unwanted: {
      means: 'its person gave it up, and it could not be removed from the code host yet',
      next: {
        'give up': ['removing'],
        discard: ['removing'],
        'roll back': ['removing'],
        expire: ['given-up'],
      },
    },
    removing: {
      means: 'the holder of its lease removes it from the code host',
      next: {
        remove: ['given-up', 'discarded'],
        postpone: ['stopped', 'unwanted'],
        'lose the lease': ['stopped', 'unwanted'],
        'ask the operator': ['stopped', 'unwanted'],
      },
    },
    published: { means: 'it is public, and its page shows the pull request', next: {} },
    failed: { means: 'it cannot be published, and its page says why', next: {} },
    'given-up': { means: 'its person gave it up', next: {} },
    discarded: { means: 'the operator discarded it, or did not review it in time', next: {} },
  },
};

export function isEnding(stage: Stage): stage is Ending {
  return Object.keys(DELAYED_STAGES.stages[stage.kind].next).length === 0;
}

/** @throws Error if the table does not allow it */
export function moved<S extends Stage>(
  push: StagedPush,
  event: StageEvent,
  stage: S,
  changes: Partial<DelayedPush> = {},
): StagedPush<S> {
  checkMove(DELAYED_STAGES, push.stage.kind, event, stage.kind);
  return { ...push, ...changes, stage };
}

export function isHeld(push: StagedPush): push is StagedPush<HeldStage> {
  return 'lease' in push.stage;
}

export function isTimed(push: StagedPush): push is StagedPush<TimedStage> {
  return push.stage.kind === 'due' || push.stage.kind === 'begun';
}

export function isBegun(push: StagedPush): push is BegunRow {
  return 'intent' in push.stage;
}

export const isUnwanted = ({ stage }: Staged): boolean =>
  stage.kind === 'unwanted' || (stage.kind === 'removing' && stage.isGivenUp);

/**
 * Whether somebody works on it.
 * @param now by the clock of the object. A lease from a time to which that had jumped by mistake
 * is none.
 */
export function isAtWork(push: StagedPush, now: number): boolean {
  if (!isHeld(push)) return false;
  const { until } = push.stage.lease;
  return now < until && until <= now + LEASE_MS;
}

/** Answers it as all see it but the holder of a lost lease. That it was lost is a failure. */
export function withoutLostLease(push: StagedPush, now: number): StagedPush {
  if (!isHeld(push) || isAtWork(push, now)) return push;
  return moved(push, 'lose the lease', idle(push.stage), { failures: push.failures + 1 });
}

/** Answers the stage that is left without the lease. */
function idle(stage: HeldStage): IdleStage {
  const { lease: _, ...rest } = stage;
  switch (rest.kind) {
    case 'leased':
      return { ...rest, kind: 'due' };
    case 'publishing':
      return { ...rest, kind: 'begun' };
    case 'removing':
      return { kind: rest.isGivenUp ? 'unwanted' : 'stopped', intent: rest.intent };
  }
}

/** @param lease a new one */
export function claimed(push: StagedPush<TimedStage>, lease: Held['lease']): StagedPush<HeldStage> {
  const { stage } = push;
  return stage.kind === 'due'
    ? moved(push, 'claim', { ...stage, kind: 'leased', lease })
    : moved(push, 'claim', { ...stage, kind: 'publishing', lease });
}

/** Its holder decides, before anything is public. @throws Error if it is to be removed */
export function begun(push: StagedPush<HeldStage>, intent: PushIntent): StagedPush {
  const { lease } = push.stage;
  const dueAt = dueAtOf(push) ?? 0;
  return moved(push, 'begin', { kind: 'publishing', dueAt, lease, intent });
}

/** The operator has seen it. */
export function approved(
  push: StagedPush,
  dueAt: number,
  window: Pick<DelayedPush, 'from' | 'to' | 'until'>,
): StagedPush {
  const stage: TimedStage = isBegun(push)
    ? { kind: 'begun', dueAt, intent: push.stage.intent }
    : { kind: 'due', dueAt };
  return moved(push, 'approve', stage, { ...window, said: [], isApproved: true });
}

/**
 * Leases what may be public to whoever removes it. Even if they die, it is not published then: what
 * its person gave up never, the rest only if the operator approves it.
 * @param lease a new one
 */
export function toRemove(
  push: BegunRow,
  event: 'give up' | 'discard' | 'roll back',
  lease: Held['lease'],
): StagedPush<HeldStage> {
  const isGivenUp = event === 'give up' || isUnwanted(push);
  const { intent } = push.stage;
  return moved(push, event, { kind: 'removing', isGivenUp, intent, lease }, { said: [] });
}

/** Its holder has failed. @param dueAt when the next attempt is due */
export function postponed(
  push: StagedPush<HeldStage>,
  dueAt: number,
  changes: Pick<DelayedPush, 'said' | 'failures'>,
): StagedPush {
  const next = idle(push.stage);
  return moved(push, 'postpone', 'dueAt' in next ? { ...next, dueAt } : next, changes);
}

/** It waits for the operator. */
export function stopped(push: StagedPush, event: 'ask the operator' | 'roll back'): StagedPush {
  const { stage } = push;
  const next: IdleStage = !('intent' in stage)
    ? { kind: 'review' }
    : { kind: isUnwanted(push) ? 'unwanted' : 'stopped', intent: stage.intent };
  return moved(push, event, next, { said: [] });
}

/** The decision of who began to publish it; null: nobody has begun. */
export const intentOf = ({ stage }: Staged): PushIntent | null => ('intent' in stage ? stage.intent : null);

/** The moment when it is due; null: it waits for the operator, or has ended. */
export const dueAtOf = ({ stage }: Staged): number | null => ('dueAt' in stage ? stage.dueAt : null);

/** Answers it for the holder of its lease. */
export function leasedPush(push: StagedPush<HeldStage>): LeasedPush {
  const { stage, ...facts } = push;
  return { ...facts, dueAt: dueAtOf(push), intent: intentOf(push), lease: stage.lease.token };
}
