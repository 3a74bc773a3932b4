/** An account that is never left alone for long, and whose token nobody looks at. */
import type { BackOff } from '../../../src/host/account/account-back-off.ts';
import { GITHUB_RULES } from '../../../src/host/github/account-rules.ts';
import { pauseAskedBy } from '../../../src/host/account/rate-limit.ts';

export const NO_BACK_OFF: BackOff = {
  heed: async () => {},
  observe: (answer) => pauseAskedBy(answer, Date.now(), GITHUB_RULES.limitText),
};

const NOBODY = { observe: () => {} };

export const ACCOUNT = { backOff: NO_BACK_OFF, tokenWatch: NOBODY, callMeter: NOBODY };
