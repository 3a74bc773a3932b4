/**
 * A copy of a value that lives elsewhere, at most two seconds old. It is renewed while it is still good, so that a
 * crowd of readers costs about one question a second, and none of them waits.
 *
 * Questions are not shared between readers that must wait: a promise belongs to the request that created it, and never
 * settles once that client disconnects.
 */
import { isWithin } from './clock.ts';

const MOST_AGE_MS = 2_000;
const RENEWAL_AGE_MS = 1_000;

export interface FreshCopyWorld<T> {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly ask: () => Promise<T>;
  /** Runs work that no reader waits for. */
  readonly later: (work: Promise<unknown>) => void;
}

export class FreshCopy<T> {
  /** `at`: when it was asked for, so that it is never older than it seems. */
  #held: { readonly value: T; readonly at: number } | null = null;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #version = 0;

  /** Rejects if the value must be asked for and there is no answer. */
  async read(world: FreshCopyWorld<T>): Promise<T> {
    const now = world.now();
    if (this.#held === null || !isWithin(this.#held.at, MOST_AGE_MS, now)) return this.#ask(world);
    const isOld = !isWithin(this.#held.at, RENEWAL_AGE_MS, now);
    if (isOld && !isWithin(this.#renewedAt, RENEWAL_AGE_MS, now)) {
      this.#renewedAt = now;
      world.later(this.#ask(world).catch(() => {}));
    }
    return this.#held.value;
  }

  /** The value has changed. Answers that are on their way may be older than the change, and do not count any more. */
  forget(): void {
    this.#held = null;
    this.#version += 1;
  }

  async #ask({ now, ask }: FreshCopyWorld<T>): Promise<T> {
    const [at, version] = [now(), this.#version];
    const value = await ask();
    const isNews = this.#held === null || this.#held.at <= at || !isWithin(this.#held.at, MOST_AGE_MS, now());
    if (version === this.#version && isNews) this.#held = { value, at };
    return value;
  }
}
