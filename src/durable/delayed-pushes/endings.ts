/**
 * How a delayed push ends that is not published, and what its page says of it. Pure.
 * Proved by test/durable/delayed-pushes/delayed-pushes.test.ts.
 */
import { type Ending, isBegun, isTimed, isUnwanted, type StagedPush } from './stages.ts';

/** An end, and the lines that tell why, and what to do. */
export interface Told {
  readonly end: Ending;
  readonly said: readonly string[];
}

const EXPIRED = [
  'It could not be published within the time for which the service keeps a push.',
  'Fetch, and push it again.',
];
const UNSEEN = [
  'The operator of this service did not review it in time, so it was discarded.',
  'You may push it again.',
];
const LEFT = 'Look at the code host first: part of it may be there already.';

/** The end of one that its person gives up while nothing of it is public. */
export const GIVEN_UP: Told = {
  end: { kind: 'given-up' },
  said: ['You have given it up. Nothing of it was published.'],
};

/** The words on the page of a push that a rollback has discarded. */
export const ROLLED_BACK = [
  'It came with a burst of pushes, which the operator has rolled back. You may push it again.',
] as const;

export const DISCARD_REASONS = {
  spam: 'It looks like spam or advertising.',
  'off-topic': 'It has nothing to do with the repository.',
  illegal: 'It may break the law, or harm somebody.',
  private: 'It seems to hold private data of somebody.',
  other: 'It does not fit what this service is for.',
} as const;
export type DiscardReason = keyof typeof DISCARD_REASONS;

/** Ends what the operator does not want, while nothing of it is public. */
export function discarded(reason: DiscardReason): Told {
  const why = `The operator of this service has not published it. ${DISCARD_REASONS[reason]}`;
  return { end: { kind: 'discarded' }, said: [why] };
}

/** Ends one that has waited for too long. */
export function expired(push: StagedPush): Told {
  if (isUnwanted(push)) return told(push, 'given-up', ['You have given it up.']);
  if (isTimed(push)) return told(push, 'failed', [...push.said, ...EXPIRED]);
  return told(push, 'discarded', UNSEEN);
}

/** Ends one that no attempt can publish. @param said why */
export function unpublishable(push: StagedPush, said: readonly string[]): Told {
  return told(push, 'failed', said);
}

function told(push: StagedPush, kind: 'given-up' | 'failed' | 'discarded', said: readonly string[]): Told {
  return { end: { kind }, said: isBegun(push) ? [...said, LEFT] : said };
}
