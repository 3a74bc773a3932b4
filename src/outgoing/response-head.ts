/**
 * The head of an HTTP/1.1 response: status line and header fields (RFC 9112, sections 4 and 5).
 *
 * This is our own parser because http-parser-js 0.5.10 accepts bare LF, folded lines, `Content-Length` beside
 * `Transfer-Encoding`, lengths such as `2abc`, and reads what follows a body as a second response. With each of these,
 * client and server can disagree about where a message ends. Here they are errors.
 */
import { latin1 } from '../git/bytes.ts';
import { malformed, type OutgoingError } from './outgoing-error.ts';

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
const LINE_END = '\r\n';
const END = '\r\n\r\n';
/** A line break of another kind. */
const WRONG_END = /(?<!\r)\n|\r[^\n]/;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: (.*))?$/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
/** Bytes without a meaning. workerd would log a warning about them. */
const OBSOLETE = /[\x80-\xff]/g;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Collects a head that arrives in chunks of any size. */
export class ResponseHeadReader {
  #text = '';
  /** The last characters so far, with which the end may begin. */
  #tail = '';
  #hasFirstLine = false;

  get hasBegun(): boolean {
    return this.#text !== '';
  }

  /** How many bytes belong to the head; null: it goes on. @throws OutgoingError, at once for a wrong line break. */
  take(chunk: Uint8Array): number | null {
    const before = this.#text.length;
    const tail = this.#tail;
    const searched = tail + latin1(chunk, 0, Math.min(chunk.byteLength, MAX_HEAD_BYTES - before));
    const end = searched.indexOf(END);
    const added = searched.slice(tail.length, end < 0 ? undefined : end + END.length);
    // Not searched again: a head may come byte by byte.
    this.#text += added;
    this.#tail = searched.slice(1 - END.length);
    if (!this.#hasFirstLine && added.includes('\n')) {
      this.#hasFirstLine = true;
      parseStatusLine(this.#text.slice(0, this.#text.indexOf('\n') + 1));
    }
    if (WRONG_END.test(tail.endsWith('\r') ? `\r${added}` : added)) throw wrongLineEnd();
    if (end >= 0) return added.length;
    if (this.#text.length === MAX_HEAD_BYTES) throw malformed('its head is too long');
    return null;
  }

  /** The head, once `take` has found its end. */
  parse(): ResponseHead {
    const fieldsStart = this.#text.indexOf('\n') + 1;
    const fieldLines = this.#text.slice(fieldsStart).split(LINE_END).slice(0, -2);
    return { ...parseStatusLine(this.#text.slice(0, fieldsStart)), headers: parseFields(fieldLines) };
  }
}

/** @param line with its line break. */
function parseStatusLine(line: string): Omit<ResponseHead, 'headers'> {
  if (!line.endsWith(LINE_END)) throw wrongLineEnd();
  const [, minor, status, reason = ''] = STATUS_LINE.exec(line.slice(0, -LINE_END.length)) ?? [];
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

function wrongLineEnd(): OutgoingError {
  return malformed('a line does not end with CR LF');
}
