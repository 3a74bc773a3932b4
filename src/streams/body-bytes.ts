/**
 * A body in memory, in one piece, for a reader that goes back and forth in it.
 * Proved by test/streams/body-bytes.test.ts.
 */
import { freeBytes } from '../git/bytes.ts';
import type { Memory, MemoryClaim } from '../git/memory.ts';
import type { ByteReader } from '../git/wire/byte-reader.ts';

/** The first size in memory, which doubles until `MOST_DOUBLED`. */
const FIRST_BYTES = 64 * 1024;
/**
 * Size from which the expected length is allocated at once: each size that was too small stays in
 * memory for a while.
 */
const MOST_DOUBLED = 1024 * 1024;

export class BodyBytes {
  readonly bytes: Uint8Array;
  readonly #claim: MemoryClaim;

  private constructor(bytes: Uint8Array, claim: MemoryClaim) {
    this.bytes = bytes;
    this.#claim = claim;
  }

  /**
   * Reads a body to its end. The first megabyte is counted as it arrives, so that nobody takes much
   * memory by a promise.
   * @param expectedBytes of the body; it may have more if it is compressed.
   * @throws HostError `busy`, and what the reader throws
   */
  static async of(reader: ByteReader, memory: Memory, expectedBytes: number): Promise<BodyBytes> {
    const claim = memory.claim();
    let buffer = new ArrayBuffer(0);
    let filled = 0;
    for (let chunk = await reader.nextChunk(); chunk !== null; chunk = await reader.nextChunk()) {
      const needed = filled + chunk.byteLength;
      const isFull = needed > buffer.byteLength;
      const room = isFull
        ? Math.max(needed, roomAfter(buffer.byteLength, needed, expectedBytes))
        : buffer.byteLength;
      // Asked with each chunk, so that a slow sender does not keep what others wait for.
      await claim.set(room);
      if (isFull) buffer = buffer.transfer(room);
      new Uint8Array(buffer).set(chunk, filled);
      filled = needed;
      reader.recycle();
    }
    await memory.worked(filled);
    return new BodyBytes(new Uint8Array(buffer, 0, filled), claim);
  }

  free(): void {
    freeBytes(this.bytes);
    this.#claim.setNow(0);
  }
}

/** The size that follows one that was too small. */
function roomAfter(bytes: number, needed: number, expectedBytes: number): number {
  const doubled = Math.max(FIRST_BYTES, 2 * bytes);
  if (needed > expectedBytes) return doubled;
  return doubled > MOST_DOUBLED ? expectedBytes : Math.min(doubled, expectedBytes);
}
