/** Whether the account's code host can be used, as it was found out last. In memory: after a restart it is asked again. */
import type { HostCheck } from '../../host/host-check.ts';

/** A host that works is asked now and then, and one that does not, more often. */
const READY_FOR_MS = 60 * 60_000;
const PROBLEM_FOR_MS = 10 * 60_000;

export class Usability {
  #last: HostCheck | null = null;
  /** Milliseconds since 1970. */
  #askedAt = Number.NEGATIVE_INFINITY;

  /** What is wrong; null: nothing, as far as it is known. */
  get problem(): Exclude<HostCheck, { kind: 'ready' }> | null {
    return this.#last === null || this.#last.kind === 'ready' ? null : this.#last;
  }

  isDue(now: number): boolean {
    const lifeMs = this.problem === null ? READY_FOR_MS : PROBLEM_FOR_MS;
    return Math.abs(now - this.#askedAt) >= lifeMs;
  }

  /** Answers whether it is news: it was not so before. */
  async ask(check: () => Promise<HostCheck>, now: number): Promise<boolean> {
    // Before the answer, so that two runs do not ask at the same time.
    this.#askedAt = now;
    const before = this.problem?.sentence;
    this.#last = await check();
    return this.problem?.sentence !== before;
  }
}
