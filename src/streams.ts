/**
 * Between the platform's streams and the Git rooms, which know none.
 *
 * Reads are BYOB reads of 256 KiB: the default reader delivers chunks of 4 KiB, ten times slower. Writes go to an
 * `IdentityTransformStream` and are awaited, so that the slower side sets the pace and nothing piles up.
 */
import type { ByteReader, ChunkSource } from './git/byte-reader.ts';
import { isolate } from './metrics/isolate.ts';

const READ_BYTES = 256 * 1024;

/** A limit of the body that is being read: which one, for the caller to answer. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly code: 'too-large' | 'timeout' | 'aborted';

  constructor(code: BodyError['code'], cause?: unknown) {
    super(`body: ${code}`, { cause });
    this.code = code;
  }
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** How long to wait for bytes, in all; time in which nobody reads does not count. */
  readonly timeoutMs: number;
}

const EMPTY_SOURCE: ChunkSource = { read: async () => null, cancel: async () => {} };

/**
 * The chunks of a request's or an answer's body. A chunk that was given back is read into again: V8 is slow to notice
 * that buffers outside its own heap are garbage, and tens of megabytes of them would pile up in a long body.
 * `read` rejects with BodyError: `too-large`, `timeout`, or `aborted` when the sender is gone.
 */
export function chunksOf(body: ReadableStream<Uint8Array> | null, limits: BodyLimits): ChunkSource {
  if (body === null) return EMPTY_SOURCE;
  const reader = body.getReader({ mode: 'byob' });
  let lastBuffer: ArrayBuffer | null = null;
  let freeBuffer: ArrayBuffer | null = null;
  let bytesLeft = limits.maxBytes;
  let waitLeftMs = limits.timeoutMs;
  // What a body begins with (commands, sections) is worth reading before there is more of it.
  let atLeastBytes = 1;
  return {
    async read() {
      const startedAt = Date.now();
      const buffer = freeBuffer ?? new ArrayBuffer(READ_BYTES);
      freeBuffer = null;
      const { done, value } = await within(
        waitLeftMs,
        reader.readAtLeast(atLeastBytes, new Uint8Array(buffer)),
      );
      atLeastBytes = READ_BYTES;
      waitLeftMs -= Date.now() - startedAt;
      if (done || value === undefined || value.byteLength === 0) return null;
      // The memory of `buffer`, which itself is detached now.
      lastBuffer = value.buffer;
      isolate.buffered(value.buffer);
      const wasWithin = bytesLeft >= 0;
      bytesLeft -= value.byteLength;
      // Said once: whoever reads on does so to throw the rest away.
      if (wasWithin && bytesLeft < 0) throw new BodyError('too-large');
      return value;
    },
    recycle() {
      if (lastBuffer !== null) isolate.reusing(lastBuffer);
      freeBuffer = lastBuffer;
    },
    async cancel() {
      // A body that is already broken cannot be cancelled, and need not be.
      await reader.cancel().catch(() => {});
    },
  };
}

async function within<T>(timeoutMs: number, reading: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new BodyError('timeout')), Math.max(0, timeoutMs));
  });
  try {
    return await Promise.race([reading, timeout]);
  } catch (error) {
    throw error instanceof BodyError ? error : new BodyError('aborted', error);
  } finally {
    clearTimeout(timer);
  }
}

/** More than a client has on its way when the answer is ready; one that goes on after that is cut off. */
const MAX_DRAINED_BYTES = 128 * 1024 * 1024;

/**
 * Reads what the client still sends and throws it away, so that it comes to read our answer; a client whose pipe
 * breaks shows its own error instead. Ends quietly, also when the time for the body is up.
 */
export async function drain(reader: ByteReader): Promise<void> {
  for (let left = MAX_DRAINED_BYTES; left > 0;) {
    try {
      const chunk = await reader.nextChunk();
      if (chunk === null) return;
      left -= chunk.byteLength;
      reader.recycle();
    } catch (error) {
      if (!(error instanceof BodyError && error.code === 'too-large')) break;
    }
  }
  await reader.cancel();
}
