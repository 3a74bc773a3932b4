/**
 * How much is copied for the repositories of one owner within an hour. Whoever lets a branch of theirs jump to and fro
 * between two long histories would otherwise have the service carry all of it with each push, however small.
 */
import { HostError } from '../host-error.ts';

/** Twice the largest repository that the service takes by default. */
const MAX_BYTES = 1000 * 1024 * 1024;
const HOUR_MS = 60 * 60_000;
const MAX_OWNERS = 1_000;

export class CopyAllowance {
  readonly #maxBytes: number;
  readonly #used = new Map<string, { readonly since: number; bytes: number }>();

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** @param owner with the host. @param now milliseconds since 1970. @throws HostError if nothing is left. */
  take(owner: string, bytes: number, now: number): void {
    const key = owner.toLowerCase();
    const known = this.#used.get(key);
    const isRecent = known !== undefined && Math.abs(now - known.since) < HOUR_MS;
    const used = isRecent ? known : { since: now, bytes: 0 };
    if (used.bytes >= this.#maxBytes) {
      const message = 'This service has copied too much of this owner’s repositories. Push again in an hour.';
      throw new HostError('refused', message);
    }
    used.bytes += bytes;
    this.#used.delete(key);
    this.#used.set(key, used);
    const [oldest] = this.#used.keys();
    if (this.#used.size > MAX_OWNERS && oldest !== undefined) this.#used.delete(oldest);
  }
}

/** One for the isolate. */
export const isolateCopies = new CopyAllowance();
