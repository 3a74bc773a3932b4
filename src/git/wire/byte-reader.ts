/**
 * Reads exact numbers of bytes from chunks of any size, and hands on chunks without copying them.
 */
import { concatBytes } from '../bytes.ts';

/**
 * Counts the bytes that have come over the wire. A compressed body has fewer of them than are read
 * from it. Limits are measured by these bytes, because only they cost the sender anything.
 */
export interface Arrived {
  readonly bytes: number;
}

/** A source of bytes: a request's body, a host's answer, or an array in a test. */
export interface ChunkSource {
  /**
   * Returns the next chunk, which is never empty, or null at the end. Rejects when the sender is
   * gone.
   */
  read(): Promise<Uint8Array | null>;
  /** The bytes that have arrived. Without it, every byte that was read counts. */
  readonly arrived?: Arrived | undefined;
  /**
   * Says that the chunks read so far are no longer used, so that the next one may overwrite them.
   */
  recycle?(): void;
  /** Says that nothing that is read from now on will be used, so that it may stay compressed. */
  discard?(): void;
  /** Tells the sender that nothing more will be read. */
  cancel(): Promise<void>;
}

export function sourceOf(...chunks: Uint8Array[]): ChunkSource {
  return { read: async () => chunks.shift() ?? null, cancel: async () => {} };
}

/** @param pieces each is valid until the next one is asked for. */
export function sourceFrom(pieces: AsyncGenerator<Uint8Array>): ChunkSource {
  return { read: async () => (await pieces.next()).value ?? null, cancel: async () => {} };
}

const EMPTY = new Uint8Array(0);
const LINE_FEED = 0x0a;

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
   * Reads exactly `length` bytes as a copy.
   * @param buffer takes the bytes instead of new memory.
   * @returns null if the stream ends before.
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
   * Returns the next `length` bytes without reading them, if the current chunk has all of them.
   * @returns a view that is valid until the next read, or null.
   */
  peek(length: number): Uint8Array | null {
    const end = this.#position + length;
    return end <= this.#chunk.byteLength ? this.#chunk.subarray(this.#position, end) : null;
  }

  /** Tells if the stream goes on with these bytes, which stay unread. */
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

  /**
   * Reads a line, and the line feed that ends it.
   * @param most bytes that are returned; the rest of a longer line is skipped.
   * @returns a copy without the line feed, or null if the stream ends before that.
   */
  async readLine(most: number): Promise<Uint8Array | null> {
    const pieces: Uint8Array[] = [];
    for (let left = most; !(await this.isAtEnd());) {
      const end = this.#chunk.indexOf(LINE_FEED, this.#position);
      const piece = this.#chunk.subarray(this.#position, end < 0 ? undefined : end).slice(0, left);
      if (piece.byteLength > 0) pieces.push(piece);
      left -= piece.byteLength;
      this.#position = end < 0 ? this.#chunk.byteLength : end + 1;
      if (end >= 0) return concatBytes(pieces);
    }
    return null;
  }

  /**
   * Reads the rest of the current chunk, or the next one, without copying it.
   * @returns null at the end.
   */
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

  /** Says that the chunks that were handed out are no longer used. */
  recycle(): void {
    if (this.#position === this.#chunk.byteLength) this.#source.recycle?.();
  }

  async cancel(): Promise<void> {
    await this.#source.cancel();
  }

  async #advance(): Promise<boolean> {
    // Everything in the current chunk has been copied.
    if (this.#chunk !== EMPTY) this.#source.recycle?.();
    [this.#chunk, this.#position] = [EMPTY, 0];
    const chunk = await this.#source.read();
    if (chunk === null) return false;
    this.#chunk = chunk;
    this.#read.bytes += chunk.byteLength;
    return true;
  }
}
