/**
 * A copy of a value that is stored elsewhere, at most two seconds old. It is renewed while it is
 * still valid, so that a crowd of readers costs about one question a second, and none of them
 * waits. Readers that must wait do not share a question: a promise belongs to the request that
 * created it, and never settles once that client disconnects.
 */
import { isWithin } from './clock.ts';

const MOST_AGE_MS = 2_000;
const RENEWAL_AGE_MS = 1_000;

export class FreshCopy<T> {
  /** The copy. `at` is the time of the question, so that the value is never older than it seems. */
  #held: { readonly value: T; readonly at: number } | null = null;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #version = 0;

  /**
   * Returns the value. It rejects if that must be asked for and there is no answer.
   * @param later runs work for which no reader waits.
   */
  async read(ask: () => Promise<T>, later: (work: Promise<unknown>) => void): Promise<T> {
    const now = Date.now();
    if (this.#held === null || !isWithin(this.#held.at, MOST_AGE_MS, now)) return this.#renewed(ask);
    const isOld = !isWithin(this.#held.at, RENEWAL_AGE_MS, now);
    if (isOld && !isWithin(this.#renewedAt, RENEWAL_AGE_MS, now)) {
      this.#renewedAt = now;
      // If this fails, the next reader asks.
      later(this.#renewed(ask).catch(() => {}));
    }
    return this.#held.value;
  }

  /**
   * Forgets the value because it has changed. Answers that are on their way may be older than the
   * change, and are not kept.
   */
  forget(): void {
    this.#held = null;
    this.#version += 1;
  }

  async #renewed(ask: () => Promise<T>): Promise<T> {
    const [at, version] = [Date.now(), this.#version];
    const value = await ask();
    const held = this.#held;
    const isNews = held === null || held.at <= at || !isWithin(held.at, MOST_AGE_MS, Date.now());
    if (version === this.#version && isNews) this.#held = { value, at };
    return value;
  }
}
