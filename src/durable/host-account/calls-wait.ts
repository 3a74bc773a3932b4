/** Who of those that write waits when the host allows few calls more: first the networks that have written most. Pure. */
import {
  CALLS_PER_WRITE,
  callsLeft,
  type KnownCalls,
  LONGEST_RESET_MS,
  resetMs,
} from '../../host/account/account-budget.ts';
import { type Asker, fairWait, type Use } from '../../limits/fairness.ts';
import { NO_WAIT, type Wait } from '../../limits/sliding-window.ts';

/**
 * How long the asker waits before it writes: those of this hour, and those for which calls are left, are a window that
 * all share. @param writes of this hour, oldest first. @param begun how many of them since the host said what is left.
 */
export function callsWait(
  calls: KnownCalls | null,
  writes: readonly Use[],
  begun: number,
  asker: Asker,
  now: number,
): Wait {
  const left = callsLeft(calls, begun, now);
  if (calls === null || left === null) return NO_WAIT;
  const most = writes.length + Math.floor(left / CALLS_PER_WRITE);
  const limit = { most, withinMs: LONGEST_RESET_MS };
  const fair = fairWait('calls', writes, [limit], asker, now);
  if (left >= CALLS_PER_WRITE && fair.waitMs === 0) return NO_WAIT;
  return { waitMs: resetMs(calls, now) ?? 0, withinMs: LONGEST_RESET_MS };
}
