/**
 * Reads bodies within limits of size and time: BYOB reads, ten times faster than the default ones
 * of 4 KiB.
 */
import { ByteReader, type ChunkSource, sourceOf } from '../git/wire/byte-reader.ts';
import { within } from '../isolate/within.ts';
import { isolate } from '../metrics/isolate.ts';
import { BodyError } from './body-error.ts';
import { openBodies } from './open-bodies.ts';
import { Pace, SLOWEST_BYTES_PER_MS } from './pace.ts';

const READ_BYTES = 64 * 1024;
/**
 * Size of a read while the sender is slow or has sent nothing yet, so that it takes little memory.
 */
const SLOW_READ_BYTES = 16 * 1024;
/** Time after which a chunk is handed on although it is not full. */
const CHUNK_MS = 1_000;

export interface BodyLimits {
  readonly maxBytes: number;
  /**
   * Maximum wait for the next bytes; up to twice as long behind a fast chunk. Time in which nobody
   * reads does not count.
   */
  readonly timeoutMs: number;
  /**
   * The pace that is required. `steady`, the default, is that of `Pace`. With `any`, it may be
   * slow, as long as no wait takes `timeoutMs`. With `whole`, `timeoutMs` is for all waits
   * together.
   */
  readonly pace?: 'steady' | 'any' | 'whole';
  /** The request that has the body. */
  readonly of?: Request;
  /** Is called with the size of each chunk, before it is read. */
  readonly onChunk?: (bytes: number) => Promise<void>;
}

export interface LimitedSource extends ChunkSource {
  /** True once the body has exceeded its limit. */
  readonly isOverLimit: boolean;
}

/**
 * Limits the size of a source. Beyond it, or beyond the limit of the source itself, `read` rejects
 * once with BodyError `too-large`.
 */
export function limited(source: ChunkSource, maxBytes: number): LimitedSource {
  let bytesLeft = maxBytes;
  let isOverLimit = false;
  return {
    ...source,
    get isOverLimit() {
      return isOverLimit;
    },
    async read() {
      try {
        const chunk = await source.read();
        bytesLeft -= chunk?.byteLength ?? 0;
        // Throw once: a caller that reads on discards the rest.
        if (bytesLeft >= 0 || isOverLimit) return chunk;
        throw new BodyError('too-large');
      } catch (error) {
        isOverLimit ||= error instanceof BodyError && error.code === 'too-large';
        throw error;
      }
    },
  };
}

/**
 * Reads a body within limits; `read` rejects with BodyError. After `recycle`, the buffer of a chunk
 * is reused, because V8 is slow to notice garbage outside its heap.
 */
export function chunksOf(body: ReadableStream<Uint8Array> | null, limits: BodyLimits): LimitedSource {
  return limited(body === null ? sourceOf() : patientSource(body, limits), limits.maxBytes);
}

function patientSource(body: ReadableStream<Uint8Array>, limits: BodyLimits): ChunkSource {
  const { timeoutMs, pace = 'steady', of } = limits;
  const ended = (): void => of && openBodies.end(of);
  const reader = body.getReader({ mode: 'byob' });
  const steadyPace = pace === 'steady' ? new Pace(timeoutMs) : null;
  let lastChunk: Uint8Array<ArrayBuffer> | null = null;
  let freeBuffer: ArrayBuffer | null = null;
  let hasEnded = false;
  let isFast = false;
  let leftMs = timeoutMs;
  const arrived = { bytes: 0 };
  /**
   * The first failure. After it, the body cannot be read again: one read is still waiting for
   * bytes.
   */
  let failure: BodyError | null = null;

  /**
   * Reads once, behind the `filled` bytes of a buffer.
   * @returns how many bytes came (0 at the end), and the buffer, which a read transfers to new
   * memory.
   */
  async function readMore(buffer: ArrayBuffer, filled: number) {
    const startedAt = Date.now();
    const view = new Uint8Array(buffer, filled);
    // Each read leaves garbage. A read from a fast sender waits for more bytes at once, but for no
    // more than the slowest sender delivers in time.
    const longBytes = Math.min(Math.floor(timeoutMs * SLOWEST_BYTES_PER_MS), view.byteLength);
    const reading = isFast ? reader.readAtLeast(Math.max(1, longBytes), view) : reader.read(view);
    // A sender may be silent for nearly as long as allowed, and then send as slowly as allowed.
    const waitMs = leftMs + (isFast ? longBytes / SLOWEST_BYTES_PER_MS : 0);
    const { value } = await within(waitMs, reading, () => new BodyError('timeout')).catch(
      (error: unknown) => {
        throw error instanceof BodyError ? error : new BodyError('aborted', error);
      },
    );
    const bytes = value?.byteLength ?? 0;
    const waitedMs = Date.now() - startedAt;
    if (pace === 'whole') leftMs -= waitedMs;
    if (bytes > 0 && steadyPace?.keepsUp(waitedMs, bytes) === false) throw new BodyError('timeout');
    return { bytes, moved: value?.buffer };
  }

  /**
   * Reads a full chunk, or less at the beginning or the end of the body, or from a slow sender.
   * @returns null if there is nothing more.
   */
  async function readChunk(): Promise<Uint8Array<ArrayBuffer> | null> {
    const size = (lastChunk?.byteLength ?? 0) < SLOW_READ_BYTES ? SLOW_READ_BYTES : READ_BYTES;
    let buffer = freeBuffer?.byteLength === size ? freeBuffer : new ArrayBuffer(size);
    freeBuffer = null;
    const startedAt = Date.now();
    let filled = 0;
    // The first chunk is handed on at once, so that commands and sections are read before more
    // arrives.
    const fullAt = lastChunk === null ? 1 : size;
    // Several short reads, because the time limit is for each read.
    while (filled < fullAt && !hasEnded && (filled === 0 || Date.now() - startedAt < CHUNK_MS)) {
      const { bytes, moved } = await readMore(buffer, filled);
      // A body that was cancelled keeps the buffer.
      if (moved === undefined) return null;
      buffer = moved;
      filled += bytes;
      hasEnded = bytes === 0;
    }
    isFast = filled === READ_BYTES && steadyPace !== null && Date.now() - startedAt < CHUNK_MS;
    return filled === 0 ? null : new Uint8Array(buffer, 0, filled);
  }

  return {
    arrived,
    async read() {
      if (failure !== null) throw failure;
      if (hasEnded) return null;
      const chunk = await readChunk().catch((error: BodyError) => {
        failure = error;
        ended();
        throw error;
      });
      if (hasEnded || chunk === null) ended();
      else if (of !== undefined) openBodies.read(of, Date.now());
      if (chunk === null) return null;
      lastChunk = chunk;
      arrived.bytes += chunk.byteLength;
      isolate.buffered(chunk.buffer);
      await limits.onChunk?.(chunk.byteLength);
      return chunk;
    },
    recycle() {
      if (lastChunk !== null) isolate.reusing(lastChunk.buffer);
      freeBuffer = lastChunk?.buffer ?? null;
    },
    async cancel() {
      ended();
      // A broken body cannot be cancelled, and need not be.
      await reader.cancel().catch(() => {});
    },
  };
}

/**
 * Bytes that are drained: more than a client usually has in flight when the answer is ready. A
 * client that sends more is cut off.
 */
const MAX_DRAINED_BYTES = 128 * 1024 * 1024;
/** Time after which a client that is silent has ended sending. */
const ANSWERED_PATIENCE_MS = 1_000;

/**
 * Reads and discards what a client still sends. Otherwise it would see a broken pipe instead of the
 * answer. Never rejects.
 * @param until `limit` stops at the body's limit, so that the caller can answer. `end` goes on
 * until the client has ended or is silent.
 */
export async function drain(reader: ByteReader, until: 'limit' | 'end' = 'limit'): Promise<void> {
  for (let left = MAX_DRAINED_BYTES; left > 0;) {
    try {
      const reading = reader.nextChunk();
      const chunk = await (until === 'end' ? within(ANSWERED_PATIENCE_MS, reading) : reading);
      if (chunk === null) return;
      left -= chunk.byteLength;
      reader.recycle();
    } catch (error) {
      if (!(error instanceof BodyError && error.code === 'too-large')) break;
      if (until === 'limit') return;
    }
  }
  await reader.cancel();
}

/** Reads and discards what a client still sends, until it is silent. Never rejects. */
export async function discardBody(body: ChunkSource): Promise<void> {
  await drain(new ByteReader(body), 'end');
}
