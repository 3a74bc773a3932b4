/**
 * How many bytes the pushes of an isolate may keep in their spools at once: in all, and for one client.
 *
 * On one machine there is one isolate, so this is the most that its disk holds of pushes. On Cloudflare each isolate
 * counts for itself: objects of many pushes have no common counter, and one object that counts for all would be asked
 * with each megabyte. Rows of a process that died do not count; their object removes them (src/durable/spool/spool.ts).
 */
import type { Clock } from '../isolate/clock.ts';
import { onForget } from '../isolate/recent.ts';
import { busy } from '../isolate/waiting.ts';

/** Of all bytes, for the spools of one client. */
const MOST_OF_ONE_CLIENT = 1 / 10;
/** The platform may end a request so that it gives nothing back. Much longer than between two calls of one that lives. */
const SHARE_LIFE_MS = 10 * 60 * 1000;

/** What one spool has taken. */
export interface SpoolShare {
  /** On whose behalf; null: it is not known, and they count as one. */
  readonly client: string | null;
  bytes: number;
  /** Its last sign of life; milliseconds since 1970. */
  seenAt: number;
}

export class SpoolBudget {
  readonly #shares = new Set<SpoolShare>();

  /**
   * Takes bytes, and shows that the share's request is alive. @param bytes none: only that.
   * @throws HostError `busy` if there are too many.
   */
  take(share: SpoolShare, bytes: number, mostBytes: number, clock: Clock): void {
    const now = clock.now();
    share.seenAt = now;
    this.#shares.add(share);
    let [all, ofClient] = [bytes, bytes];
    for (const other of this.#shares) {
      if (now - other.seenAt >= SHARE_LIFE_MS) this.#shares.delete(other);
      else {
        all += other.bytes;
        if (other.client === share.client) ofClient += other.bytes;
      }
    }
    if (bytes === 0) return;
    if (all > mostBytes || ofClient > MOST_OF_ONE_CLIENT * mostBytes) throw busy();
    share.bytes += bytes;
  }

  /** Gives all of it back. */
  release(share: SpoolShare): void {
    share.bytes = 0;
    this.#shares.delete(share);
  }

  /** What all of them have taken. */
  get bytes(): number {
    let bytes = 0;
    for (const share of this.#shares) bytes += share.bytes;
    return bytes;
  }

  clear(): void {
    this.#shares.clear();
  }
}

/** The budget of the isolate that this code runs in. */
export const isolateSpools = new SpoolBudget();
onForget(() => isolateSpools.clear());
