/**
 * How many calls to the host the notifications feed may make in an hour: anybody can draw the bot's attention to any
 * number of threads, and the account's calls (5,000 an hour on GitHub) are needed for pushes and comments.
 *
 * Pure. Hours are those of the clock, so that a sum for each is enough.
 */
const HOUR_MS = 60 * 60 * 1000;

/** All calls of the feed. */
export const CALLS_PER_HOUR = 2_000;
/** Looks at pull requests that are not yet known to be the service's own: the ones that strangers can cause. */
export const LOOKS_PER_HOUR = 500;

export interface SpentCalls {
  /** Hours since 1970. */
  readonly hour: number;
  readonly calls: number;
  readonly looks: number;
}

/** The sums after one more call or look; null if the hour has no more of them to give. */
export function afterOneMore(
  spent: SpentCalls | null,
  kind: 'calls' | 'looks',
  now: number,
): SpentCalls | null {
  const hour = Math.floor(now / HOUR_MS);
  const current = spent?.hour === hour ? spent : { hour, calls: 0, looks: 0 };
  const most = kind === 'calls' ? CALLS_PER_HOUR : LOOKS_PER_HOUR;
  return current[kind] >= most ? null : { ...current, [kind]: current[kind] + 1 };
}
