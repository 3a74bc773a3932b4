/**
 * Runs work in the order of the calls, never two pieces at once. A Durable Object accepts other calls while one waits
 * for the network, so work that must be exact goes through here.
 */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();
  #length = 0;

  /** How many pieces are waiting or running. */
  get length(): number {
    return this.#length;
  }

  /** Settles as `work` does. A failure does not block later work. */
  run<T>(work: () => Promise<T>): Promise<T> {
    this.#length += 1;
    const result = this.#last.then(work).finally(() => {
      this.#length -= 1;
    });
    this.#last = result.catch(() => {});
    return result;
  }
}
