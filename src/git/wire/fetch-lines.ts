/**
 * Reads the lines of an upload-pack request as they arrive. Kilobytes can inflate to a hundred
 * thousand lines, too many to decode each alone, so each chunk becomes one text. A line keeps all
 * of that text in memory: callers copy what they keep.
 * Proved by test/git/wire/fetch-request.test.ts.
 */
import { latin1 } from '../bytes.ts';
import type { ByteReader } from './byte-reader.ts';
import type { Memory, MemoryClaim } from '../memory.ts';
import { endedEarly, LENGTH_BYTES, notPktLine, readPktLength } from './pkt-line.ts';
import { ProtocolError } from './protocol-error.ts';

/**
 * Maximum number of lines that name no object and no ref: capabilities, depths, filters, and
 * unknown ones. Clients send about a dozen.
 */
export const MAX_OTHER_LINES = 1_000;
/** Size of a request that is not counted, because it takes less memory than its connection. */
const UNCOUNTED_BYTES = 64 * 1024;
const LF = 0x0a;

export class FetchLines {
  readonly #reader: ByteReader;
  readonly #claim: MemoryClaim;
  readonly #keptBytes: () => number;
  /** The text that has arrived and is used up to `#at`. */
  #text = '';
  #at = 0;
  #otherLines = 0;

  /**
   * Starts to read a request.
   * @param memory counts a long request until it ends.
   * @param keptBytes returns the size of what the caller keeps of it.
   */
  constructor(reader: ByteReader, memory: Memory, keptBytes: () => number) {
    this.#reader = reader;
    this.#claim = memory.claim();
    this.#keptBytes = keptBytes;
  }

  /**
   * Reads the lines of a section, or all that follow until the end of the body.
   * @param take gets each line without its line feed, and tells if it names an object or a ref.
   * @returns what ended the section.
   * @throws ProtocolError, and what `take` and the memory throw.
   */
  async section(
    take: (line: string) => boolean,
    until: 'flush' | 'end' = 'flush',
  ): Promise<'flush' | 'delim' | 'end'> {
    for (;;) {
      const start = this.#at + LENGTH_BYTES;
      const isKnown = start <= this.#text.length;
      const length = isKnown ? readPktLength((at) => this.#text.charCodeAt(start - LENGTH_BYTES + at)) : 0;
      const end = this.#at + Math.max(length, LENGTH_BYTES);
      if (end > this.#text.length) {
        if (await this.#read()) continue;
        if (this.#at < this.#text.length) throw endedEarly();
        return 'end';
      }
      this.#at = end;
      if (length >= LENGTH_BYTES) {
        const hasLineFeed = end > start && this.#text.charCodeAt(end - 1) === LF;
        const line = this.#text.slice(start, hasLineFeed ? end - 1 : end);
        if (!take(line)) this.#countOther();
      } else if (length > 1) throw notPktLine();
      else if (length === 1) return 'delim';
      else if (until === 'flush') return 'flush';
      else this.#countOther();
    }
  }

  async hasMore(): Promise<boolean> {
    return this.#at < this.#text.length || (await this.#read());
  }

  /**
   * Reads the rest of the body, which nobody uses, so that its source enforces the maximum size.
   */
  async readRest(): Promise<void> {
    while ((await this.#reader.nextChunk()) !== null) this.#reader.recycle();
    await this.#count();
  }

  /**
   * Counts what the caller keeps, which also shows that the request is alive.
   * @throws what the memory throws.
   */
  async #count(): Promise<void> {
    // This rejects a slow client that holds much memory while others wait.
    await this.#claim.set(Math.max(0, this.#keptBytes() - UNCOUNTED_BYTES));
  }

  #countOther(): void {
    if (++this.#otherLines > MAX_OTHER_LINES) throw tooManyLines();
  }

  /**
   * Reads the next chunk.
   * @returns false at the end of the body.
   */
  async #read(): Promise<boolean> {
    await this.#count();
    const chunk = await this.#reader.nextChunk();
    if (chunk === null) return false;
    this.#text = this.#text.slice(this.#at) + latin1(chunk);
    this.#at = 0;
    this.#reader.recycle();
    return true;
  }
}

function tooManyLines(): ProtocolError {
  return new ProtocolError(
    'unsupported',
    `The fetch has more than ${MAX_OTHER_LINES} lines that name nothing. Is your Git client up to date?`,
  );
}
