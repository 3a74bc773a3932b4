/**
 * Limits what the pushes of an isolate keep in their spools.
 * Proved by test/spool/spool.test.ts.
 */
import type { Clock } from '../isolate/clock.ts';
import { onForget } from '../isolate/recent.ts';
import { busy } from '../isolate/waiting.ts';

/** Share of all bytes that the spools of one client may have. */
const MOST_OF_ONE_CLIENT = 1 / 10;
/**
 * Time without a sign of life after which a claim expires. The platform may end a request before it
 * can release anything. A living one shows itself much more often.
 */
const CLAIM_LIFE_MS = 10 * 60 * 1000;

/** The bytes that one spool has taken. */
export interface SpoolClaim {
  /** The client. It is null if it is not known; all such spools count as one client's. */
  readonly client: string | null;
  bytes: number;
  /** The last sign of life, in milliseconds since 1970. */
  seenAt: number;
}

/**
 * Limits the bytes that an isolate's pushes keep in their spools, in all and for one client. On one
 * machine, this bounds the disk space. On Cloudflare each isolate counts for itself, because one
 * object for all would be asked for each megabyte.
 */
export class SpoolBudget {
  readonly #claims = new Set<SpoolClaim>();

  /**
   * Takes bytes, perhaps 0, and shows that the claim's request is alive.
   * @throws HostError `busy` over the limits.
   */
  take(claim: SpoolClaim, bytes: number, mostBytes: number, clock: Clock): void {
    const now = clock.now();
    claim.seenAt = now;
    this.#claims.add(claim);
    let all = bytes;
    let ofClient = bytes;
    for (const other of this.#claims) {
      if (now - other.seenAt >= CLAIM_LIFE_MS) this.#claims.delete(other);
      else {
        all += other.bytes;
        if (other.client === claim.client) ofClient += other.bytes;
      }
    }
    if (bytes === 0) return;
    if (all > mostBytes || ofClient > MOST_OF_ONE_CLIENT * mostBytes) throw busy();
    claim.bytes += bytes;
  }

  release(claim: SpoolClaim): void {
    claim.bytes = 0;
    this.#claims.delete(claim);
  }

  /** The bytes of all claims. */
  get bytes(): number {
    return [...this.#claims].reduce((bytes, claim) => bytes + claim.bytes, 0);
  }
}

let ofIsolate = new SpoolBudget();
onForget(() => (ofIsolate = new SpoolBudget()));

/** The budget of all spools of this isolate. */
export const isolateSpools = (): SpoolBudget => ofIsolate;
