/**
 * Where this code counts what the requests of an isolate share: memory and processor time
 * (src/isolate/memory-budget.ts, src/isolate/shared-work.ts). One value stands for one request, and
 * is handed along.
 * Proved by test/git/pack/kept-objects.test.ts.
 */

export interface Memory {
  /** For one thing that is held, which counts itself: nothing yet. */
  claim(): MemoryClaim;
  /** Whether memory is short, so that a caller that can work with less should. */
  readonly isShort: boolean;
  /** Counts bytes that were inflated, decoded or searched. Others may go on before it resolves. */
  worked(bytes: number): Promise<void>;
}

export interface MemoryClaim {
  readonly bytes: number;
  /**
   * Claims so many bytes from now on, before they are allocated; waits for what is more than
   * before.
   * @throws if there are none.
   * @param onWait called first: for giving back what others may wait for.
   */
  set(bytes: number, onWait?: () => void): Promise<void>;
  /**
   * The same at once, for what cannot wait. Never throws if they are fewer than before.
   * @throws as `set`.
   */
  setNow(bytes: number): void;
}

export const UNCOUNTED: Memory = {
  claim: () => ({ bytes: 0, set: async () => {}, setNow: () => {} }),
  isShort: false,
  worked: async () => {},
};
