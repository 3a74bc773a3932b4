/**
 * The lines of an upload-pack request as they arrive, and as they are passed on. A request has no length of its own: a
 * hundred kilobytes that inflate to millions of lines would fill an isolate. So it is read up to a limit, and counted.
 */
import type { ByteReader } from './byte-reader.ts';
import { decodeUtf8 } from '../bytes.ts';
import type { Memory, MemoryShare } from '../memory.ts';
import { encodePktLine, type Packet, readPacket, takePayload } from './pkt-line.ts';
import { ProtocolError } from './protocol-error.ts';

const MiB = 1024 * 1024;
/** Some 330,000 wants or haves: more than the branches and tags of most of the largest repositories. */
export const MAX_FETCH_BYTES = 16 * MiB;
/** All other lines. Git sends some ten of them. */
export const MAX_OTHER_BYTES = MiB;
/** Of each of the other lines, because reading a short one costs as much. */
export const LEAST_COUNTED_BYTES = 64;
const ID_LINE = /^(?:want|have|shallow) [0-9a-f]{40}$/;
/** What counts of a short request is less than what its connection takes. */
const UNCOUNTED_BYTES = 64 * 1024;
/** So much is counted ahead. */
const COUNTED_STEP = 64 * 1024;
/** What is kept of a byte at most: an id as text, or a buffer that has just grown. */
const KEPT_OF_BYTE = 2;
const FIRST_BYTES = 4 * 1024;

export type FetchLine =
  /** Without its line feed. */
  { readonly kind: 'data'; readonly text: string } | Exclude<Packet, { kind: 'data' }>;

export class FetchLineReader {
  readonly #reader: ByteReader;
  readonly #share: MemoryShare;
  #bytes = 0;
  #otherBytes = 0;

  /** @param memory where what is kept of a long request is counted; it stays counted. */
  constructor(reader: ByteReader, memory: Memory) {
    this.#reader = reader;
    this.#share = memory.share();
  }

  /** @throws ProtocolError, `too-large` beyond a limit; or what the memory throws. */
  async next(): Promise<FetchLine> {
    const payload = takePayload(this.#reader);
    // Shows that the request is alive. If it holds much while others wait, it may not wait for long.
    if (payload === null) await this.#share.set(this.#share.bytes);
    const packet = payload === null ? await readPacket(this.#reader) : { kind: 'data' as const, payload };
    const line = packet.kind === 'data' ? { kind: packet.kind, text: textOf(packet.payload) } : packet;
    const isId = line.kind === 'data' && ID_LINE.test(line.text);
    const bytes = packet.kind === 'data' ? 4 + packet.payload.byteLength : 4;
    this.#count(isId ? bytes : Math.max(bytes, LEAST_COUNTED_BYTES), isId);
    const kept = KEPT_OF_BYTE * (this.#bytes - UNCOUNTED_BYTES);
    if (kept > this.#share.bytes) await this.#share.set(kept + COUNTED_STEP);
    return line;
  }

  /** The lines up to a flush. @throws as `next` */
  async *section(): AsyncGenerator<string> {
    for (let line = await this.next(); line.kind !== 'flush'; line = await this.next()) {
      if (line.kind !== 'data') throw malformed();
      yield line.text;
    }
  }

  /** Whether nothing more comes. */
  isAtEnd(): Promise<boolean> {
    return this.#reader.isAtEnd();
  }

  /** Reads what is left. Nobody uses it, but it counts. @throws as `next` */
  async end(): Promise<void> {
    for (;;) {
      const chunk = await this.#reader.nextChunk();
      if (chunk === null) return;
      this.#count(chunk.byteLength, false);
      this.#reader.recycle();
    }
  }

  #count(bytes: number, isId: boolean): void {
    this.#bytes += bytes;
    if (!isId) this.#otherBytes += bytes;
    if (this.#bytes > MAX_FETCH_BYTES || this.#otherBytes > MAX_OTHER_BYTES) throw tooManyLines();
  }
}

export function tooManyLines(): ProtocolError {
  return new ProtocolError('too-large', 'The fetch has too many lines. Fetch fewer refs at once.');
}

function textOf(payload: Uint8Array): string {
  const text = decodeUtf8(payload);
  if (text === null) throw malformed();
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

function malformed(): ProtocolError {
  return new ProtocolError('bad-request', 'The fetch has a malformed line. Is your Git client up to date?');
}

/** A request that is written line by line into one buffer. */
export class FetchWriter {
  #buffer = new Uint8Array(FIRST_BYTES);
  #length = 0;

  /** All that was written: a view, valid until the next line. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  line(text: string): void {
    this.packet(encodePktLine(`${text}\n`));
  }

  packet(bytes: Uint8Array): void {
    const length = this.#length + bytes.byteLength;
    let capacity = this.#buffer.byteLength;
    while (capacity < length) capacity *= 2;
    // Gives the old memory back at once: the collector is slow to notice buffers.
    if (capacity > this.#buffer.byteLength)
      this.#buffer = new Uint8Array(this.#buffer.buffer.transfer(capacity));
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
  }
}
