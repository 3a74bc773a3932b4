/** How long to wait after a failure: twice as long each time, up to a limit. */
const FIRST_MS = 5_000;
const HOUR_MS = 60 * 60 * 1000;

/** @param failures before this one. */
export function backOffMs(failures: number, longestMs = HOUR_MS): number {
  return Math.min(longestMs, FIRST_MS * 2 ** failures);
}
