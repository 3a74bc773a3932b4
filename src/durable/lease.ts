/**
 * Who works on something now: one at a time.
 *
 * Kept in the object's memory, so that it goes with a process that dies; where only the holder died, it runs out. An
 * object that was forgotten by its machine in the middle of a push forgets the lease, too: what the holder does must
 * bear that, and does, as the host compares and swaps each branch.
 */

/** Longer than any but the slowest pushes: nobody is to wait for long for a holder that has died. */
export const LEASE_MS = 5 * 60 * 1000;

export class Lease {
  #holder: number | null = null;
  #until = 0;
  #last = 0;

  /** A token to give back; null while someone else holds it. @param now milliseconds since 1970. */
  take(now: number): number | null {
    if (this.#holder !== null && now < this.#until) return null;
    this.#until = now + LEASE_MS;
    return (this.#holder = ++this.#last);
  }

  /** A token that has run out gives back nothing. False if someone else holds it now. */
  release(token: number): boolean {
    if (this.#holder !== null && this.#holder !== token) return false;
    this.#holder = null;
    return true;
  }
}
