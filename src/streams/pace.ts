/**
 * Bounds how slowly a body may arrive: at least 1 KiB a second over each minute of waiting, which
 * stops a sender of a byte now and then; and at most five minutes longer than 8 KiB a second would
 * take, which stops one that crawls on purpose to keep a connection and its memory. A slow line
 * gets through: 15 KB a second, or Tor's 20 to 50, take 100 MB to their end. Only time spent
 * waiting for the sender counts, so a slow reader on our side makes no sender look slow.
 */
const MINUTE_MS = 60_000;
export const SLOWEST_BYTES_PER_MS = 1024 / 1000;
const PATIENCE_MS = 5 * MINUTE_MS;
/** Speed of a slow but honest sender. */
const PATIENT_BYTES_PER_MS = 8 * SLOWEST_BYTES_PER_MS;

export class Pace {
  readonly #windowMs: number;
  #waitedMs = 0;
  #bytes = 0;
  readonly #patienceMs: number;
  #patienceLeftMs: number;

  /**
   * Starts to measure.
   * @param longestWaitMs is the longest pause that is allowed. The pace is measured over at least
   * that time, and the patience lasts at least as long.
   */
  constructor(longestWaitMs: number) {
    this.#windowMs = Math.max(MINUTE_MS, longestWaitMs);
    this.#patienceMs = Math.max(PATIENCE_MS, longestWaitMs);
    this.#patienceLeftMs = this.#patienceMs;
  }

  /**
   * Counts one wait and the bytes that it brought.
   * @returns false if the sender is too slow.
   */
  keepsUp(waitedMs: number, bytes: number): boolean {
    const leftMs = this.#patienceLeftMs - waitedMs + bytes / PATIENT_BYTES_PER_MS;
    this.#patienceLeftMs = Math.min(this.#patienceMs, leftMs);
    this.#waitedMs += waitedMs;
    this.#bytes += bytes;
    if (leftMs < 0) return false;
    if (this.#waitedMs < this.#windowMs) return true;
    const isFastEnough = this.#bytes >= this.#waitedMs * SLOWEST_BYTES_PER_MS;
    this.#waitedMs = 0;
    this.#bytes = 0;
    return isFastEnough;
  }
}
