/**
 * How much is copied for the repositories of one owner within an hour. Otherwise an owner could move a branch back and
 * forth between two long histories, and make the service copy all of it with each push, however small.
 */
import { HostError } from '../../host-error.ts';
import { Recent } from '../../isolate/recent.ts';

/** Twice the largest repository that the service takes by default. */
const MAX_BYTES = 1000 * 1024 * 1024;
const HOUR_MS = 60 * 60_000;
const MAX_OWNERS = 1_000;

export class CopyAllowance {
  readonly #maxBytes: number;
  readonly #used = new Recent<{ bytes: number }>({ lifeMs: HOUR_MS, most: MAX_OWNERS });

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** @param owner with the host. @param now milliseconds since 1970. @throws HostError if nothing is left. */
  take(owner: string, bytes: number, now: number): void {
    const key = owner.toLowerCase();
    const known = this.#used.get(key, now);
    const used = known ?? { bytes: 0 };
    if (used.bytes >= this.#maxBytes) {
      const message = 'This service has copied too much of this owner’s repositories. Push again in an hour.';
      throw new HostError('refused', message);
    }
    used.bytes += bytes;
    if (known === null) this.#used.set(key, used, now);
  }
}

/** One for the isolate. */
export const isolateCopies = new CopyAllowance();
