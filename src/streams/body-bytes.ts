/**
 * A body in memory, in one piece, for a reader that goes back and forth in it.
 * Proved by test/streams/body-bytes.test.ts.
 */
import type { Memory, MemoryClaim } from '../git/memory.ts';
import type { ByteReader } from '../git/wire/byte-reader.ts';

/** The first size in memory, which doubles until it is large enough. */
const FIRST_BYTES = 64 * 1024;

export class BodyBytes {
  readonly bytes: Uint8Array;
  readonly #claim: MemoryClaim;

  private constructor(bytes: Uint8Array, claim: MemoryClaim) {
    this.bytes = bytes;
    this.#claim = claim;
  }

  /**
   * Reads a body to its end. Memory is counted for bytes that have arrived, not for an announced
   * length, so that nobody takes it by a promise.
   * @param mostBytes that the body may have, so that no more is allocated.
   * @throws HostError `busy`, and what the reader throws
   */
  static async of(reader: ByteReader, memory: Memory, mostBytes: number): Promise<BodyBytes> {
    const claim = memory.claim();
    let buffer = new ArrayBuffer(0);
    let filled = 0;
    for (let chunk = await reader.nextChunk(); chunk !== null; chunk = await reader.nextChunk()) {
      const needed = filled + chunk.byteLength;
      if (needed > buffer.byteLength) {
        const doubled = Math.max(FIRST_BYTES, 2 * buffer.byteLength);
        const room = Math.max(needed, Math.min(doubled, mostBytes));
        await claim.set(room);
        buffer = buffer.transfer(room);
      }
      new Uint8Array(buffer).set(chunk, filled);
      filled = needed;
      reader.recycle();
    }
    await memory.worked(filled);
    return new BodyBytes(new Uint8Array(buffer, 0, filled), claim);
  }

  /** Frees the memory now, because the garbage collector is slow. */
  free(): void {
    (this.bytes.buffer as ArrayBuffer).transfer(0);
    this.#claim.setNow(0);
  }
}
