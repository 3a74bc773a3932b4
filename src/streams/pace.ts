/**
 * How slowly a body may come: it may make us wait for five minutes, and each 8 KiB that it brings give back one second.
 *
 * The time limit on a single wait stops a sender that has died. It does not stop one that sends a little now and then,
 * and so keeps a connection and its memory: at 1 KiB a second, 100 MB take a day. Such a sender is given up within six
 * minutes, at whatever moment it begins to crawl, because no more than the five minutes can be saved up.
 *
 * A slow line is not: 15 KB a second, or Tor's 20 to 50, take 100 MB to their end, whatever the pauses between are that
 * the limit on a single wait allows, and a line of 4 KB a second still gets 2 MB through. Only waiting time counts, so a
 * slow receiver on our side never makes a sender look slow.
 */
const PATIENCE_MS = 5 * 60_000;
const SLOWEST_BYTES_PER_MS = (8 * 1024) / 1000;

export class Pace {
  readonly #mostMs: number;
  #leftMs: number;

  /** @param longestWaitMs the longest allowed wait, for which the patience lasts in any case. */
  constructor(longestWaitMs: number) {
    this.#mostMs = Math.max(PATIENCE_MS, longestWaitMs);
    this.#leftMs = this.#mostMs;
  }

  /** Counts one wait and what it brought; false if the sender is too slow. */
  keepsUp(waitedMs: number, bytes: number): boolean {
    this.#leftMs = Math.min(this.#mostMs, this.#leftMs - waitedMs + bytes / SLOWEST_BYTES_PER_MS);
    return this.#leftMs >= 0;
  }
}
