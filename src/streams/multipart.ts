/**
 * Reads a form with a file as browsers send it (RFC 7578, multipart/form-data), part by part. What
 * stands in a part is handed on as it comes, so that a large file needs no memory.
 * Proved by test/streams/multipart.test.ts.
 */
import { latin1, utf8 } from '../git/bytes.ts';
import type { ChunkSource } from '../git/wire/byte-reader.ts';
import { BodyError } from './body-error.ts';

export interface Part {
  readonly name: string;
  /** Whether it is the content of a file, even of none that was chosen. */
  readonly isFile: boolean;
  /** Must be read before the next part. It rejects as the body does, and if that ends in it. */
  readonly content: ChunkSource;
}

const WINDOW_BYTES = 128 * 1024;
const MAX_HEADER_LINES = 8;
const MAX_LINE_BYTES = 2_048;
const LINE_END = utf8('\r\n');
const DISPOSITION = /^content-disposition:[ \t]*form-data;(.*)$/i;
const NAME = /(?:^|[; \t])name="([^"]*)"/i;
const FILE_NAME = /(?:^|[; \t])filename="/i;

/** Reads the boundary from a content type; null: it is no form with files. */
export function boundaryOf(contentType: string): string | null {
  const [, rest] = /^multipart\/form-data[ \t]*;(.*)$/i.exec(contentType) ?? [];
  const [, quoted, plain] = /(?:^|[; \t])boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))/i.exec(rest ?? '') ?? [];
  return quoted ?? plain ?? null;
}

export class MultipartReader {
  readonly #body: ChunkSource;
  readonly #delimiter: Uint8Array;
  /** The bytes that were read and not handed on, at the end of what is filled of the window. */
  #ahead = LINE_END;
  #window = new Uint8Array(WINDOW_BYTES);
  #isWindowFree = true;
  /** Whether a boundary is still to come. */
  #isInPart = true;

  constructor(body: ChunkSource, boundary: string) {
    this.#body = body;
    // The first one has no line end in front, but `ahead` begins with one.
    this.#delimiter = utf8(`\r\n--${boundary}`);
  }

  /** The next part; null: there is none, or the form is malformed. It rejects as the body does. */
  async next(): Promise<Part | null> {
    while (this.#isInPart && (await this.#upToDelimiter()) !== null) this.#isWindowFree = true;
    const end = await this.#line();
    if (end === null || end.trim() !== '') return null;
    let [name, isFile]: [string | null, boolean] = [null, false];
    for (let left = MAX_HEADER_LINES; left > 0; left--) {
      const line = await this.#line();
      if (line === null) return null;
      if (line === '') return name === null ? null : { name, isFile, content: this.#content() };
      const [, fields = ''] = DISPOSITION.exec(line) ?? [];
      name = NAME.exec(fields)?.[1] ?? name;
      isFile ||= FILE_NAME.test(fields);
    }
    return null;
  }

  #content(): ChunkSource {
    this.#isInPart = true;
    return {
      read: async () => (this.#isInPart ? this.#upToDelimiter() : null),
      recycle: () => {
        this.#isWindowFree = true;
      },
      cancel: () => this.#body.cancel(),
    };
  }

  /** Reads a piece of the part; null: it has ended. */
  async #upToDelimiter(): Promise<Uint8Array | null> {
    for (;;) {
      const at = placeOf(this.#delimiter, this.#ahead);
      if (at === 0) {
        this.#ahead = this.#ahead.subarray(this.#delimiter.byteLength);
        this.#isInPart = false;
        return null;
      }
      // A delimiter may have begun in the last bytes.
      const end = at > 0 ? at : this.#ahead.byteLength - this.#delimiter.byteLength + 1;
      if (end > 0) {
        const piece = this.#ahead.subarray(0, end);
        this.#ahead = this.#ahead.subarray(end);
        this.#isWindowFree = false;
        return piece;
      }
      if (!(await this.#readMore())) throw new BodyError('aborted');
    }
  }

  /** Reads a line of a header; null: it is too long, or the body ends. */
  async #line(): Promise<string | null> {
    for (;;) {
      const at = placeOf(LINE_END, this.#ahead);
      if (at >= 0) {
        const line = latin1(this.#ahead, 0, at);
        this.#ahead = this.#ahead.subarray(at + LINE_END.byteLength);
        return line;
      }
      if (this.#ahead.byteLength > MAX_LINE_BYTES || !(await this.#readMore())) return null;
    }
  }

  /** Puts the next chunk behind what was read. Answers whether there was one. */
  async #readMore(): Promise<boolean> {
    const chunk = await this.#body.read();
    if (chunk === null) return false;
    const ahead = this.#ahead;
    const bytes = ahead.byteLength + chunk.byteLength;
    if (!this.#isWindowFree || bytes > this.#window.byteLength)
      this.#window = new Uint8Array(Math.max(WINDOW_BYTES, bytes));
    this.#window.set(ahead);
    this.#window.set(chunk, ahead.byteLength);
    this.#ahead = this.#window.subarray(0, bytes);
    this.#isWindowFree = true;
    this.#body.recycle?.();
    return true;
  }
}

function placeOf(sought: Uint8Array, bytes: Uint8Array): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf(sought);
}
