/**
 * Waits for the bytes of a body as long as its sender is fast enough, and reads them with BYOB
 * reads, ten times faster than the default ones of 4 KiB.
 * Proved by test/streams/body.test.ts.
 */
import type { ChunkSource } from '../git/wire/byte-reader.ts';
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

export interface PatienceLimits {
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

export class PatientSource implements ChunkSource {
  readonly arrived = { bytes: 0 };
  readonly #reader: ReadableStreamBYOBReader;
  readonly #limits: PatienceLimits;
  /** The pace that the sender must keep; null: any. */
  readonly #pace: Pace | null;
  /** Time left for the next wait, or for all waits. */
  #leftMs: number;
  #lastChunk: Uint8Array<ArrayBuffer> | null = null;
  #freeBuffer: ArrayBuffer | null = null;
  #hasEnded = false;
  #isFast = false;
  /**
   * The first failure. After it, the body cannot be read again: one read is still waiting for
   * bytes.
   */
  #failure: BodyError | null = null;

  constructor(body: ReadableStream<Uint8Array>, limits: PatienceLimits) {
    const { timeoutMs, pace = 'steady' } = limits;
    this.#reader = body.getReader({ mode: 'byob' });
    this.#limits = limits;
    this.#pace = pace === 'steady' ? new Pace(timeoutMs) : null;
    this.#leftMs = timeoutMs;
  }

  async read(): Promise<Uint8Array | null> {
    const { of, onChunk } = this.#limits;
    if (this.#failure !== null) throw this.#failure;
    if (this.#hasEnded) return null;
    const chunk = await this.#readChunk().catch((error: BodyError) => {
      this.#failure = error;
      this.#forget();
      throw error;
    });
    if (this.#hasEnded || chunk === null) this.#forget();
    else if (of !== undefined) openBodies.read(of, Date.now());
    if (chunk === null) return null;
    this.#lastChunk = chunk;
    this.arrived.bytes += chunk.byteLength;
    isolate.buffered(chunk.buffer);
    await onChunk?.(chunk.byteLength);
    return chunk;
  }

  recycle(): void {
    if (this.#lastChunk !== null) isolate.reusing(this.#lastChunk.buffer);
    this.#freeBuffer = this.#lastChunk?.buffer ?? null;
  }

  async cancel(): Promise<void> {
    this.#forget();
    // A broken body cannot be cancelled, and need not be.
    await this.#reader.cancel().catch(() => {});
  }

  /** Counts the body no longer as one that is being read. */
  #forget(): void {
    const { of } = this.#limits;
    if (of !== undefined) openBodies.end(of);
  }

  /**
   * Reads a full chunk, or less at the beginning or the end of the body, or from a slow sender.
   * @returns null if there is nothing more.
   */
  async #readChunk(): Promise<Uint8Array<ArrayBuffer> | null> {
    const size = (this.#lastChunk?.byteLength ?? 0) < SLOW_READ_BYTES ? SLOW_READ_BYTES : READ_BYTES;
    let buffer = this.#freeBuffer?.byteLength === size ? this.#freeBuffer : new ArrayBuffer(size);
    this.#freeBuffer = null;
    const startedAt = Date.now();
    let filled = 0;
    // The first chunk is handed on at once, so that commands and sections are read before more
    // arrives.
    const fullAt = this.#lastChunk === null ? 1 : size;
    // Several short reads, because the time limit is for each read.
    while (filled < fullAt && !this.#hasEnded && (filled === 0 || Date.now() - startedAt < CHUNK_MS)) {
      const { bytes, moved } = await this.#readMore(buffer, filled);
      // A body that was cancelled keeps the buffer.
      if (moved === undefined) return null;
      buffer = moved;
      filled += bytes;
      this.#hasEnded = bytes === 0;
    }
    this.#isFast = filled === READ_BYTES && this.#pace !== null && Date.now() - startedAt < CHUNK_MS;
    return filled === 0 ? null : new Uint8Array(buffer, 0, filled);
  }

  /**
   * Reads once, behind the `filled` bytes of a buffer.
   * @returns how many bytes came (0 at the end), and the buffer, which a read transfers to new
   * memory.
   */
  async #readMore(buffer: ArrayBuffer, filled: number) {
    const { timeoutMs, pace } = this.#limits;
    const startedAt = Date.now();
    const view = new Uint8Array(buffer, filled);
    // Each read leaves garbage. A read from a fast sender waits for more bytes at once, but for no
    // more than the slowest sender delivers in time.
    const longBytes = Math.min(Math.floor(timeoutMs * SLOWEST_BYTES_PER_MS), view.byteLength);
    const reader = this.#reader;
    const reading = this.#isFast ? reader.readAtLeast(Math.max(1, longBytes), view) : reader.read(view);
    // A sender may be silent for nearly as long as allowed, and then send as slowly as allowed.
    const waitMs = this.#leftMs + (this.#isFast ? longBytes / SLOWEST_BYTES_PER_MS : 0);
    const { value } = await within(waitMs, reading, () => new BodyError('timeout')).catch(
      (error: unknown) => {
        throw error instanceof BodyError ? error : new BodyError('aborted', error);
      },
    );
    const bytes = value?.byteLength ?? 0;
    const waitedMs = Date.now() - startedAt;
    if (pace === 'whole') this.#leftMs -= waitedMs;
    if (bytes > 0 && this.#pace?.keepsUp(waitedMs, bytes) === false) throw new BodyError('timeout');
    return { bytes, moved: value?.buffer };
  }
}
