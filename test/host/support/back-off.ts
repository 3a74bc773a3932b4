/** An account that is never left alone for long, and whose token nobody looks at. */
import type { BackOff } from '../../../src/host/account/account-back-off.ts';
import { HostPause, limitOf } from '../../../src/host/failure.ts';

export const NO_BACK_OFF: BackOff = {
  throwIfPaused: async () => {},
  observe: (answer) => {
    const limit = limitOf(answer, Date.now());
    if (limit === null) return null;
    return new HostPause('host.test', limit.retryAfterMs ?? 60_000, limit, answer.status);
  },
};

const NOBODY = { observe: () => {} };

export const ACCOUNT = { backOff: NO_BACK_OFF, tokenWatch: NOBODY, callMeter: NOBODY };
