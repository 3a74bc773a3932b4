/**
 * Lines of an upload-pack request as they arrive, and what is passed on. Kilobytes can inflate to millions of lines,
 * too many for calls of a decoder: each chunk is one text. A line keeps all of that in memory: copy what you keep.
 */
import { latin1 } from '../bytes.ts';
import type { ByteReader } from './byte-reader.ts';
import type { Memory, MemoryClaim } from '../memory.ts';
import { endedEarly, LENGTH_BYTES, notPktLine, pktLengthDigits, readPktLength } from './pkt-line.ts';

const MiB = 1024 * 1024;
/** The buffer doubles from here to there. Beyond, half of it cannot be copied: it gets the most at once. */
const FIRST_BYTES = 4 * 1024;
const DOUBLED_BYTES = 2 * MiB;
/** Of a body of 50 MB, with a line feed for each line that came without one. */
const MOST_BYTES = 56 * MiB;
/** A request below this size takes less memory than its connection, so it is not counted. */
const UNCOUNTED_BYTES = 64 * 1024;
const MARKS = { flush: '0000', delim: '0001' } as const;
const LF = 0x0a;

export class FetchLines {
  readonly #reader: ByteReader;
  readonly #claim: MemoryClaim;
  readonly #keptBytes: () => number;
  /** The text that has arrived. It is used up to `#at`. */
  #text = '';
  #at = 0;
  /** What is passed on: the first `#length` bytes of the buffer, and then this text. */
  #buffer = Buffer.from(new ArrayBuffer(FIRST_BYTES));
  #length = 0;
  #added = '';

  /** @param memory where a long request is counted, to its end. @param keptBytes what the caller keeps of it. */
  constructor(reader: ByteReader, memory: Memory, keptBytes: () => number) {
    this.#reader = reader;
    this.#claim = memory.claim();
    this.#keptBytes = keptBytes;
  }

  /**
   * Reads the lines of a section (`end`: also of those that follow), and returns what ended it.
   * @param pass gets each line without its line feed; answers the line to go on instead, or null. @throws its errors.
   */
  async section(
    pass: (line: string) => string | null,
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
        const line = pass(this.#text.slice(start, hasLineFeed ? end - 1 : end));
        if (line !== null) this.add(line);
      } else if (length > 1) throw notPktLine();
      else if (length === 1) return 'delim';
      else if (until === 'flush') return 'flush';
    }
  }

  async hasMore(): Promise<boolean> {
    return this.#at < this.#text.length || (await this.#read());
  }

  /** Reads what is left. Nobody uses it, but the body may be too large. */
  async readRest(): Promise<void> {
    while ((await this.#reader.nextChunk()) !== null) this.#reader.recycle();
  }

  /** Goes on behind what was passed on. @param line without its line feed. */
  add(line: string): void {
    this.#added += `${pktLengthDigits(line.length + 1)}${line}\n`;
  }

  mark(packet: keyof typeof MARKS): void {
    this.#added += MARKS[packet];
  }

  async body(): Promise<Uint8Array<ArrayBuffer>> {
    await this.#write();
    return this.#buffer.subarray(0, this.#length);
  }

  /** False at the end of the body. */
  async #read(): Promise<boolean> {
    await this.#write();
    const chunk = await this.#reader.nextChunk();
    if (chunk === null) return false;
    this.#text = this.#text.slice(this.#at) + latin1(chunk);
    this.#at = 0;
    this.#reader.recycle();
    return true;
  }

  async #write(): Promise<void> {
    const needed = this.#length + this.#added.length;
    const enough = needed > DOUBLED_BYTES ? MOST_BYTES : 2 ** Math.ceil(Math.log2(needed));
    const capacity = Math.max(enough, this.#buffer.byteLength);
    // Also shows that the request is alive. If it holds much while others wait, it may not wait for long.
    await this.#claim.set(Math.max(0, capacity + this.#keptBytes() - UNCOUNTED_BYTES));
    // Gives the old memory back at once: the collector is slow to notice buffers.
    if (capacity > this.#buffer.byteLength)
      this.#buffer = Buffer.from(this.#buffer.buffer.transfer(capacity));
    this.#buffer.write(this.#added, this.#length, 'latin1');
    [this.#length, this.#added] = [needed, ''];
  }
}
