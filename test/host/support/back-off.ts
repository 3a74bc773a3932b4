/** A back-off that reads answers, and remembers nothing. */
import type { BackOff } from '../../../src/host/account-back-off.ts';
import { pauseAskedBy } from '../../../src/host/rate-limit.ts';

export const NO_BACK_OFF: BackOff = {
  heed: async () => {},
  observe: (answer) => pauseAskedBy(answer, Date.now()),
};
