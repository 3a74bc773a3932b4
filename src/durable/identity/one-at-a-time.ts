/**
 * Work in the order in which it was asked for, never two pieces at once. A Durable Object takes other calls in while
 * one waits for the network; what has to be exact goes through here.
 */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();
  #length = 0;

  /** How many pieces wait or run. */
  get length(): number {
    return this.#length;
  }

  /** Settles as `work` does; a failure holds nothing up. */
  run<T>(work: () => Promise<T>): Promise<T> {
    this.#length += 1;
    const result = this.#last.then(work).finally(() => {
      this.#length -= 1;
    });
    this.#last = result.catch(() => {});
    return result;
  }
}
