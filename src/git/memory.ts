/**
 * The port through which this room counts what the requests of an isolate share: memory and
 * processor time. `src/isolate/memory-budget.ts` and `src/isolate/shared-work.ts` implement it.
 * Each request has one `Memory`.
 * Proved by test/git/pack/kept-objects.test.ts.
 */

export interface Memory {
  /** Creates a claim of no bytes for one thing that is kept in memory. */
  claim(): MemoryClaim;
  /** Tells a caller that can work with less memory that it should. */
  readonly isShort: boolean;
  /**
   * Counts bytes that were inflated, decoded or searched. Other requests may run before it
   * resolves.
   * @param isShared says that other requests wait for the result, so that it waits for nobody.
   */
  worked(bytes: number, isShared?: boolean): Promise<void>;
}

export interface MemoryClaim {
  readonly bytes: number;
  /**
   * Sets the number of bytes that are claimed, before they are allocated. An increase may wait
   * until other requests release memory.
   * @throws if the memory is not available.
   * @param onWait is called before it waits, to release what other requests may wait for.
   */
  set(bytes: number, onWait?: () => void): Promise<void>;
  /**
   * Sets the number at once, for callers that cannot wait.
   * @throws if it is an increase and the memory is not available.
   */
  setNow(bytes: number): void;
}

export const UNCOUNTED: Memory = {
  claim: () => ({ bytes: 0, set: async () => {}, setNow: () => {} }),
  isShort: false,
  worked: async () => {},
};
