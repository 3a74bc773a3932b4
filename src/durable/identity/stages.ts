/** The stages of a pseudonym's moderation (contract, 3.1), and what may follow each of them. */
import type { StageRow, StageTable } from '../stages.ts';

export type ModerationStage = 'registered' | 'cooling' | 'flagged' | 'blocked';

/** Events. `wait`: a cooldown ends, or reports become too old to count. */
export type ModerationEvent = 'report' | 'post' | 'wait' | 'pardon';

interface Row extends StageRow<ModerationStage, ModerationEvent> {
  /** The state as the contract names it. */
  readonly state: 'registered' | 'flagged' | 'blocked';
  /**
   * The right to post. `normal`: karma grows by one. `zero`: reports count, so karma is 0, and the
   * post starts another cooldown.
   */
  readonly posting: 'normal' | 'cooldown' | 'zero' | 'blocked';
}

export const MODERATION_STAGES = {
  first: ['registered'],
  stages: {
    registered: {
      means: 'it may post, and its karma grows',
      state: 'registered',
      posting: 'normal',
      next: { report: ['registered', 'cooling'], post: ['registered'], pardon: ['registered'] },
    },
    cooling: {
      means: 'it is flagged, and may not post for six hours',
      state: 'flagged',
      posting: 'cooldown',
      next: { report: ['cooling', 'blocked'], wait: ['flagged', 'registered'], pardon: ['registered'] },
    },
    flagged: {
      means: 'it is flagged, and may post with karma 0',
      state: 'flagged',
      posting: 'zero',
      next: {
        report: ['flagged', 'blocked'],
        post: ['cooling'],
        wait: ['registered'],
        pardon: ['registered'],
      },
    },
    blocked: {
      means: 'it may never post, unless the operator pardons it',
      state: 'blocked',
      posting: 'blocked',
      next: { report: ['blocked'], pardon: ['registered'] },
    },
  },
} as const satisfies StageTable<ModerationStage, ModerationEvent> & {
  readonly stages: Readonly<Record<ModerationStage, Row>>;
};
