/**
 * Reads exact numbers of bytes from chunks of any size, and hands on chunks without copying them.
 */
import { concatBytes } from '../bytes.ts';

/**
 * Counts the bytes that have come over the wire. A compressed body has fewer of them than are read
 * from it. All that a sender makes the service do is measured by them, because only they cost the
 * sender anything.
 */
export interface Arrived {
  readonly bytes: number;
}

/** Where bytes come from: a request's body, a host's answer, an array in a test. */
export interface ChunkSource {
  /** The next chunk (never empty), or null at the end. Rejects when the sender is gone. */
  read(): Promise<Uint8Array | null>;
  /** Absent: what is read is what has arrived. */
  readonly arrived?: Arrived;
  /** The chunks read so far are no longer used, so the next one may overwrite them. */
  recycle?(): void;
  /** Nothing that is read from now on is used, so it may stay compressed. */
  discard?(): void;
  /** Tells the sender that nothing more will be read. */
  cancel(): Promise<void>;
}

export function sourceOf(...chunks: Uint8Array[]): ChunkSource {
  return { read: async () => chunks.shift() ?? null, cancel: async () => {} };
}

const EMPTY = new Uint8Array(0);

export class ByteReader {
  readonly #source: ChunkSource;
  #chunk: Uint8Array = EMPTY;
  #position = 0;
  readonly #read = { bytes: 0 };

  constructor(source: ChunkSource) {
    this.#source = source;
  }

  get arrived(): Arrived {
    return this.#source.arrived ?? this.#read;
  }

  /**
   * Exactly `length` bytes as a copy; null if the stream ends before.
   * @param buffer for them, if reused.
   */
  async readExactly(length: number, buffer?: Uint8Array): Promise<Uint8Array | null> {
    const bytes = buffer?.subarray(0, length) ?? new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      if (this.#position === this.#chunk.byteLength && !(await this.#advance())) return null;
      const taken = this.#chunk.subarray(this.#position, this.#position + length - filled);
      bytes.set(taken, filled);
      filled += taken.byteLength;
      this.#position += taken.byteLength;
    }
    return bytes;
  }

  /**
   * The next `length` bytes if they have arrived: a view, valid until the next read. Null: not all
   * of them have.
   */
  peek(length: number): Uint8Array | null {
    const end = this.#position + length;
    return end <= this.#chunk.byteLength ? this.#chunk.subarray(this.#position, end) : null;
  }

  /** Whether the next bytes are these. They stay unread. */
  async startsWith(bytes: Uint8Array): Promise<boolean> {
    while (this.#chunk.byteLength - this.#position < bytes.byteLength) {
      const arrived = this.#chunk.slice(this.#position);
      const hasMore = await this.#advance();
      // Copy both, because the source may reuse the bytes that it has given.
      if (arrived.byteLength > 0) this.#chunk = concatBytes([arrived, this.#chunk]);
      if (!hasMore) return false;
    }
    const next = this.#chunk.subarray(this.#position);
    return bytes.every((byte, at) => next[at] === byte);
  }

  skip(length: number): void {
    this.#position += length;
  }

  /** What is left of the current chunk, or the next one; null at the end. Not a copy. */
  async nextChunk(): Promise<Uint8Array | null> {
    if (this.#position === this.#chunk.byteLength && !(await this.#advance())) return null;
    const rest = this.#chunk.subarray(this.#position);
    this.#chunk = EMPTY;
    this.#position = 0;
    return rest;
  }

  async isAtEnd(): Promise<boolean> {
    return this.#position === this.#chunk.byteLength && !(await this.#advance());
  }

  /** The chunks that were handed out are no longer used, so the next one may overwrite them. */
  recycle(): void {
    if (this.#position === this.#chunk.byteLength) this.#source.recycle?.();
  }

  async cancel(): Promise<void> {
    await this.#source.cancel();
  }

  async #advance(): Promise<boolean> {
    // Everything in the current chunk was copied.
    if (this.#chunk !== EMPTY) this.#source.recycle?.();
    [this.#chunk, this.#position] = [EMPTY, 0];
    const chunk = await this.#source.read();
    if (chunk === null) return false;
    this.#chunk = chunk;
    this.#read.bytes += chunk.byteLength;
    return true;
  }
}
