/**
 * Where this code counts the memory that it takes, so that the requests of an isolate can share it:
 * src/isolate/memory-budget.ts.
 */

export interface Memory {
  /** Counts bytes before they are allocated. @throws what the caller wants, if there are none. */
  use(bytes: number): void;
  /** Waits until so many bytes can be used. @throws as `use`. */
  makeRoom(bytes: number): Promise<void>;
  /** So many bytes are no longer used. */
  free(bytes: number): void;
}

/** Counts nothing. */
export const UNCOUNTED: Memory = { use: () => {}, makeRoom: async () => {}, free: () => {} };
