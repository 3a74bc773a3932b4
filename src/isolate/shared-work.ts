/**
 * Lets other requests of an isolate go on while one searches what it was sent. An isolate is one
 * thread, so a second of work in one piece is a second in which nobody else is answered. Work is
 * counted in bytes, because on Cloudflare the clock stands still while code runs.
 */

/** Inflating and searching so many bytes takes some ten milliseconds. */
export const TURN_BYTES = 1024 * 1024;

/** Waits until everything has run that is ready to run. */
const nextTurn = (): Promise<void> => scheduler.wait(0);

/** Counts the work of one request. */
export class SharedWork {
  /** Bytes that were inflated, decoded or searched so far. */
  bytes = 0;
  #turnEndsAt = TURN_BYTES;
  readonly #giveWay: () => Promise<void>;

  constructor(giveWay = nextTurn) {
    this.#giveWay = giveWay;
  }

  /** Counts work that was done, and gives way to others after each mebibyte. */
  async count(bytes: number): Promise<void> {
    this.bytes += bytes;
    if (this.bytes < this.#turnEndsAt) return;
    this.#turnEndsAt = this.bytes + TURN_BYTES;
    await this.#giveWay();
  }
}
