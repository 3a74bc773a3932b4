/**
 * What a push takes of the isolate's memory besides its commits and the files that wait: buffers and tables.
 *
 * It is counted by what has arrived, never by what is announced, so that nobody can take memory by promising a push.
 */

/** Also the smallest push takes as much. */
const LEAST_BYTES = 256 * 1024;
/** A large one waits until a megabyte has come, and passes on what comes then. */
const MOST_BYTES = 2 * 1024 * 1024;
/** A small push waits as a whole: as it came, and as it leaves. */
const COPIES = 4;

/** @param arrivedBytes how much of the pack has arrived. */
export function bufferBytes(arrivedBytes: number): number {
  return Math.min(MOST_BYTES, LEAST_BYTES + COPIES * arrivedBytes);
}
