/** How long to leave something alone that has failed. */
const FIRST_MS = 5_000;
const LONGEST_MS = 60 * 60 * 1000;

/** @param failures before this one. */
export function backOffMs(failures: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** failures);
}
