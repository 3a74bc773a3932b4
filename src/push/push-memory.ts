/** What any push takes of the isolate's memory. What it takes besides is counted while its pack is read. */
import type { Memory } from '../git/memory.ts';

/** The smallest push: buffers and tables. */
const LEAST_BYTES = 256 * 1024;
/** A large one, which waits until a megabyte has come, and passes on what comes then. */
const MOST_BYTES = 2 * 1024 * 1024;
/** A small push waits as a whole: as it came, and as it leaves. */
const COPIES = 4;

/**
 * Waits until there is room for a push.
 * @param announcedBytes its length; 0: unknown.
 * @throws HostError `busy`
 */
export async function takeMemory(memory: Memory, announcedBytes: number): Promise<void> {
  const isUnknown = announcedBytes === 0;
  const bytes = isUnknown ? MOST_BYTES : Math.min(MOST_BYTES, LEAST_BYTES + COPIES * announcedBytes);
  await memory.makeRoom(bytes);
  memory.use(bytes);
}
