/**
 * A lock for one holder, in the object's memory. It expires. If it is lost, the host still compares
 * each branch before it is changed.
 * Proved by test/durable/pending-push/pending-push.test.ts and
 * test/durable/pull-request/claims.test.ts.
 */

/**
 * Long enough for slow pushes, short enough that a crashed holder does not block others for long.
 */
export const LEASE_MS = 5 * 60 * 1000;

/** The last token. No two leases of an isolate have the same one. */
let last = 0;

export class Lease {
  #holder: number | null = null;
  #until = 0;

  /** Takes the lease. @returns a token for `release`; null while someone else holds it. */
  take(now: number): number | null {
    if (this.#holder !== null && now < this.#until) return null;
    this.#until = now + LEASE_MS;
    return (this.#holder = ++last);
  }

  isHeldBy(token: number): boolean {
    return this.#holder === token;
  }

  /** Releases the lease, unless someone else holds it now. @returns false in that case. */
  release(token: number): boolean {
    if (this.#holder !== null && this.#holder !== token) return false;
    this.#holder = null;
    return true;
  }
}
