/**
 * How slowly a body may come: at least 1 KiB a second over each minute of waiting; and it may make us wait for five
 * minutes beyond what 8 KiB a second would take.
 *
 * The minute stops a sender of a byte now and then. The five minutes stop one that crawls on purpose, and so keeps a
 * connection and its memory (at 1 KiB a second, 100 MB take a day): within six minutes, whenever it begins to crawl,
 * because no more than five can be saved up. A slow line is not given up: 15 KB a second, or Tor's 20 to 50, take 100
 * MB to their end, whatever the pauses, and 4 KB a second still get 2 MB through.
 *
 * Only waiting counts, so a slow receiver on our side never makes a sender look slow. The minutes do not overlap, which
 * needs two numbers and no list.
 */
const MINUTE_MS = 60_000;
export const SLOWEST_BYTES_PER_MS = 1024 / 1000;
const PATIENCE_MS = 5 * MINUTE_MS;
/** What a line gives that is slow, and honest. */
const PATIENT_BYTES_PER_MS = 8 * SLOWEST_BYTES_PER_MS;

export class Pace {
  readonly #windowMs: number;
  #waitedMs = 0;
  #bytes = 0;
  readonly #patienceMs: number;
  #patienceLeftMs: number;

  /** @param longestWaitMs over a minute, the pace is measured over that time, and the patience lasts for it. */
  constructor(longestWaitMs: number) {
    this.#windowMs = Math.max(MINUTE_MS, longestWaitMs);
    this.#patienceMs = Math.max(PATIENCE_MS, longestWaitMs);
    this.#patienceLeftMs = this.#patienceMs;
  }

  /** Counts one wait and what it brought; false if the sender is too slow. */
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
