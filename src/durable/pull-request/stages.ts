/** The stages of a pull request, and what may follow each of them. */
import type { StageTable } from '../stages.ts';

export type PullRequestStage = 'open' | 'merged' | 'closed' | 'withdrawn';

/** Events. `open`: a push opens one under its hash. `reopen`: the host shows that it is open. */
export type PullRequestEvent = 'open' | 'update' | 'reopen' | 'merge' | 'close' | 'withdraw';

/** The stages that may follow any end: the host may say something else later. */
const AFTER_END = {
  open: ['open'],
  update: ['open'],
  reopen: ['open'],
  merge: ['merged'],
  close: ['closed'],
  withdraw: ['withdrawn'],
} as const;
const { reopen: _, ...WHILE_OPEN } = AFTER_END;

export const PULL_REQUEST_STAGES: StageTable<PullRequestStage, PullRequestEvent> = {
  first: ['open'],
  stages: {
    open: { means: 'it is open', next: WHILE_OPEN },
    merged: { means: 'it was merged', next: AFTER_END },
    closed: { means: 'somebody closed it at the code host', next: AFTER_END },
    withdrawn: { means: 'its person withdrew it', next: AFTER_END },
  },
};
