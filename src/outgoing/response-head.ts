/**
 * The head of an HTTP/1.1 response: status line and header fields (RFC 9112, sections 4 and 5). Bytes in, values out.
 *
 * This is our own parser because the well-kept one in plain JavaScript is lax: http-parser-js 0.5.10 accepts bare LF,
 * folded lines, `Content-Length` beside `Transfer-Encoding`, lengths such as `2abc` and negative chunk sizes, and reads
 * what follows a body as a second response. With each of these, client and server can disagree about where a message
 * ends. Here they are errors.
 */
import { malformed } from './outgoing-error.ts';

export interface ResponseHead {
  readonly status: number;
  /** Of HTTP/1.0 or HTTP/1.1. */
  readonly minorVersion: number;
  readonly statusText: string;
  readonly headers: Headers;
}

/** GitHub's longest are some 6 KB; browsers allow 256 KB. */
export const MAX_HEAD_BYTES = 64 * 1024;
const MAX_FIELDS = 200;
const FIRST_CAPACITY = 4 * 1024;

const CRLF = '\r\n';
const CR = 0x0d;
const LF = 0x0a;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: (.*))?$/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
/** Bytes without a meaning. workerd would log a warning about them. */
const OBSOLETE = /[\x80-\xff]/g;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Collects a head that arrives in chunks of any size. */
export class ResponseHeadReader {
  #bytes = new Uint8Array(FIRST_CAPACITY);
  #length = 0;
  /** Where the current line begins. */
  #lineStart = 0;

  get hasBegun(): boolean {
    return this.#length > 0;
  }

  /**
   * Takes the bytes that belong to the head and says how many they are; null if the head goes on behind them.
   * @throws OutgoingError as soon as a line break or the status line is wrong, without waiting for the end of the head.
   */
  take(chunk: Uint8Array): number | null {
    for (let index = 0; index < chunk.byteLength; index++) {
      const byte = chunk[index] as number;
      const previous = this.#bytes[this.#length - 1];
      if ((byte === LF) !== (previous === CR)) {
        throw malformed('a line does not end with CR LF');
      }
      this.#append(byte);
      if (byte !== LF) continue;
      const isFirstLine = this.#lineStart === 0;
      const isEmptyLine = this.#length - this.#lineStart === 2;
      this.#lineStart = this.#length;
      // A server of another protocol may never send an empty line.
      if (isFirstLine) parseStatusLine(this.#textBefore(1));
      else if (isEmptyLine) return index + 1;
    }
    return null;
  }

  /** The head, once `take` has found its end. */
  parse(): ResponseHead {
    const [statusLine = '', ...fieldLines] = this.#textBefore(2).split(CRLF);
    return { ...parseStatusLine(statusLine), headers: parseFields(fieldLines) };
  }

  /** The text before so many line breaks at the end. */
  #textBefore(lineBreaks: number): string {
    const length = this.#length - lineBreaks * CRLF.length;
    return Buffer.from(this.#bytes.buffer, 0, length).toString('latin1');
  }

  #append(byte: number): void {
    if (this.#length === MAX_HEAD_BYTES) throw malformed('its head is too long');
    if (this.#length === this.#bytes.byteLength) {
      const larger = new Uint8Array(this.#length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#length++] = byte;
  }
}

function parseStatusLine(line: string): Omit<ResponseHead, 'headers'> {
  const [, minor, status, reason = ''] = STATUS_LINE.exec(line) ?? [];
  if (status === undefined || CONTROL.test(reason)) throw malformed('its status line');
  const statusText = PRINTABLE.test(reason) ? reason : '';
  return { status: Number(status), minorVersion: Number(minor), statusText };
}

function parseFields(lines: readonly string[]): Headers {
  if (lines.length > MAX_FIELDS) throw malformed('it has too many header fields');
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    const value = line.slice(colon + 1);
    // A folded line begins with white space, and so has no name.
    if (!TOKEN.test(name) || CONTROL.test(value)) throw malformed('a header field');
    headers.append(name, value.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '').replace(OBSOLETE, '?'));
  }
  return headers;
}
