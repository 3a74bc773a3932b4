/** Reads bodies within limits of size and time, and drains those that nobody reads. */
import { type Arrived, ByteReader, type ChunkSource, sourceOf } from '../git/wire/byte-reader.ts';
import { within } from '../isolate/within.ts';
import { BodyError } from './body-error.ts';
import { type PatienceLimits, PatientSource } from './patient-source.ts';

export interface BodyLimits extends PatienceLimits {
  readonly maxBytes: number;
}

/**
 * Limits the size of a source. Beyond it, or beyond the limit of the source itself, `read` rejects
 * once with BodyError `too-large`.
 */
export class LimitedSource implements ChunkSource {
  readonly #source: ChunkSource;
  #bytesLeft: number;
  #isOverLimit = false;

  constructor(source: ChunkSource, maxBytes: number) {
    this.#source = source;
    this.#bytesLeft = maxBytes;
  }

  get arrived(): Arrived | undefined {
    return this.#source.arrived;
  }

  /** True once the body has exceeded its limit. */
  get isOverLimit(): boolean {
    return this.#isOverLimit;
  }

  async read(): Promise<Uint8Array | null> {
    try {
      const chunk = await this.#source.read();
      this.#bytesLeft -= chunk?.byteLength ?? 0;
      // Throw once: a caller that reads on discards the rest.
      if (this.#bytesLeft >= 0 || this.#isOverLimit) return chunk;
      throw new BodyError('too-large');
    } catch (error) {
      this.#isOverLimit ||= error instanceof BodyError && error.code === 'too-large';
      throw error;
    }
  }

  recycle(): void {
    this.#source.recycle?.();
  }

  discard(): void {
    this.#source.discard?.();
  }

  cancel(): Promise<void> {
    return this.#source.cancel();
  }
}

/**
 * Reads a body within limits; `read` rejects with BodyError. After `recycle`, the buffer of a chunk
 * is reused, because V8 is slow to notice garbage outside its heap.
 */
export function chunksOf(body: ReadableStream<Uint8Array> | null, limits: BodyLimits): LimitedSource {
  return new LimitedSource(body === null ? sourceOf() : new PatientSource(body, limits), limits.maxBytes);
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
