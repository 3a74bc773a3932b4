/**
 * The slowest allowed pace of a body: 1 KiB a second, over each minute of waiting.
 *
 * The time limit on a single wait stops a sender that has died. It does not stop one that sends a byte now and then,
 * and so keeps the connection and its memory for hours. Only waiting time counts, so a slow receiver on our side never
 * makes a sender look slow. The minutes follow each other without overlap, which needs two numbers and no list.
 */
const MINUTE_MS = 60_000;
export const SLOWEST_BYTES_PER_MS = 1024 / 1000;

export class Pace {
  readonly #windowMs: number;
  #waitedMs = 0;
  #bytes = 0;

  /**
   * @param longestWaitMs the longest allowed wait. If it is over a minute, the pace is measured over that time instead.
   */
  constructor(longestWaitMs: number) {
    this.#windowMs = Math.max(MINUTE_MS, longestWaitMs);
  }

  /** Counts one wait and what it brought; false if the sender is too slow. */
  keepsUp(waitedMs: number, bytes: number): boolean {
    this.#waitedMs += waitedMs;
    this.#bytes += bytes;
    if (this.#waitedMs < this.#windowMs) return true;
    const isFastEnough = this.#bytes >= this.#waitedMs * SLOWEST_BYTES_PER_MS;
    this.#waitedMs = 0;
    this.#bytes = 0;
    return isFastEnough;
  }
}
