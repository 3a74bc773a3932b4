/**
 * Parses an HTTP/1.1 response: its head (RFC 9112, sections 4 and 5), and where its body ends (6
 * and 7). The parser is our own because http-parser-js 0.5.10 accepts bare LF, folded lines,
 * `Content-Length` beside `Transfer-Encoding`, lengths such as `2abc`, and a second response behind
 * a body. Client and server could disagree about where a message ends, so these are errors, but for
 * bytes behind the body: they end the connection.
 */
import { latin1 } from '../git/bytes.ts';
import { malformedResponse, type OutgoingError } from './outgoing-error.ts';

export interface ResponseHead {
  readonly status: number;
  /** The minor version of HTTP/1.0 or HTTP/1.1. */
  readonly minorVersion: number;
  readonly statusText: string;
  readonly headers: Headers;
}

/** Maximum size of a head. GitHub's longest have some 6 KB, and browsers allow 256 KB. */
export const MAX_RESPONSE_HEAD_BYTES = 64 * 1024;
const MAX_FIELDS = 200;
const LINE_END = '\r\n';
const END = LINE_END + LINE_END;
/** Matches a line break other than CR LF. */
const WRONG_END = /(?<!\r)\n|\r[^\n]/;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: (.*))?$/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
/** Matches bytes without a defined meaning, about which workerd would log a warning. */
const OBSOLETE = /[\x80-\xff]/g;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Collects a head that arrives in chunks of any size. */
export class ResponseHeadReader {
  #text = '';
  /** The last characters so far, in which the end may begin. */
  #tail = '';
  #hasFirstLine = false;

  get hasBegun(): boolean {
    return this.#text !== '';
  }

  /**
   * Takes a chunk.
   * @returns how many of its bytes belong to the head, or null if the head goes on.
   * @throws OutgoingError, at once for a wrong line break.
   */
  take(chunk: Uint8Array): number | null {
    const before = this.#text.length;
    const tail = this.#tail;
    const searched = tail + latin1(chunk, 0, Math.min(chunk.byteLength, MAX_RESPONSE_HEAD_BYTES - before));
    const end = searched.indexOf(END);
    const added = searched.slice(tail.length, end < 0 ? undefined : end + END.length);
    // The text is not searched again, because a head may come byte by byte.
    this.#text += added;
    this.#tail = searched.slice(1 - END.length);
    if (!this.#hasFirstLine && added.includes('\n')) {
      this.#hasFirstLine = true;
      parseStatusLine(this.#text.slice(0, this.#text.indexOf('\n') + 1));
    }
    if (WRONG_END.test(tail.endsWith('\r') ? `\r${added}` : added)) throw wrongLineEnd();
    if (end >= 0) return added.length;
    if (this.#text.length === MAX_RESPONSE_HEAD_BYTES) throw malformedResponse('its head is too long');
    return null;
  }

  /**
   * Parses the head, once `take` has found its end.
   * @throws OutgoingError
   */
  parse(): ResponseHead {
    const fieldsStart = this.#text.indexOf('\n') + 1;
    const fieldLines = this.#text.slice(fieldsStart).split(LINE_END).slice(0, -2);
    return { ...parseStatusLine(this.#text.slice(0, fieldsStart)), headers: parseFields(fieldLines) };
  }
}

/**
 * Parses the status line.
 * @param line includes its line break.
 * @throws OutgoingError
 */
function parseStatusLine(line: string): Omit<ResponseHead, 'headers'> {
  if (!line.endsWith(LINE_END)) throw wrongLineEnd();
  const [, minor, status, reason = ''] = STATUS_LINE.exec(line.slice(0, -LINE_END.length)) ?? [];
  if (status === undefined || CONTROL.test(reason)) throw malformedResponse('its status line');
  const statusText = PRINTABLE.test(reason) ? reason : '';
  return { status: Number(status), minorVersion: Number(minor), statusText };
}

function parseFields(lines: readonly string[]): Headers {
  if (lines.length > MAX_FIELDS) throw malformedResponse('it has too many header fields');
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    const value = line.slice(colon + 1);
    // A folded line begins with white space, so it has no valid name.
    if (!TOKEN.test(name) || CONTROL.test(value)) throw malformedResponse('a header field');
    headers.append(name, value.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '').replace(OBSOLETE, '?'));
  }
  return headers;
}

function wrongLineEnd(): OutgoingError {
  return malformedResponse('a line does not end with CR LF');
}

export interface BodyDecoder {
  /** True if the end of the connection ends the body. */
  readonly endsWithConnection: boolean;
  /**
   * Moves the body's bytes to the front of the chunk, so each read gives one run of bytes.
   * @throws OutgoingError
   */
  decode(chunk: Uint8Array): Decoded;
}

interface Decoded {
  /** Number of the body's bytes, which are now at the start of the chunk. */
  readonly bodyBytes: number;
  /**
   * Number of the chunk's bytes that belong to this response. It is less than all only at its end.
   */
  readonly usedBytes: number;
  readonly isEnd: boolean;
}

/** Statuses without a body. Over the wire, 205 may have an empty one, but a `Response` has none. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Creates the decoder of a response's body.
 * @returns null if there is no body.
 * @throws OutgoingError
 */
export function bodyDecoder(method: string, head: ResponseHead): BodyDecoder | null {
  const { status, minorVersion, headers } = head;
  const coding = headers.get('Transfer-Encoding');
  const length = headers.get('Content-Length');
  // Two parties that believe different lengths see different messages (request smuggling).
  if (coding !== null && length !== null) throw malformedResponse('its body has two lengths');
  // Several lengths, even equal ones, are joined by a comma, which is not a digit.
  if (length !== null && !/^\d{1,15}$/.test(length)) throw malformedResponse('the length of its body');
  if (coding !== null && (coding.toLowerCase() !== 'chunked' || minorVersion === 0))
    throw malformedResponse('the transfer coding of its body');
  if (method === 'HEAD' || BODILESS.has(status)) return null;
  if (coding !== null) return new ChunkedDecoder();
  let left = Number(length ?? Infinity);
  return {
    endsWithConnection: length === null,
    decode({ byteLength }) {
      const bodyBytes = Math.min(left, byteLength);
      left -= bodyBytes;
      return { bodyBytes, usedBytes: bodyBytes, isEnd: left === 0 };
    },
  };
}

const LF = 0x0a;
/**
 * Maximum length of the lines between two chunks' data, and behind the last. Servers send neither
 * extensions nor a trailer.
 */
const MAX_LINE_BYTES = 4 * 1024;
/** Matches the size of a chunk. With 13 digits, it stays below 2^53. */
const CHUNK_SIZE = /^([0-9a-f]{1,13})(?:;.*)?$/i;
const HEX_DIGIT = /^[0-9a-f]/i;
const LINE = /^.*\r\n$/;

class ChunkedDecoder implements BodyDecoder {
  readonly endsWithConnection = false;
  #state: 'size' | 'data' | 'data-end' | 'trailer' | 'end' = 'size';
  /** Bytes of the current chunk's data that are missing. */
  #left = 0;
  /** The part of the current line that has come. */
  #line = '';
  /** Bytes of lines since the last data. */
  #lineBytes = 0;

  decode(chunk: Uint8Array): Decoded {
    let bodyBytes = 0;
    let usedBytes = 0;
    while (usedBytes < chunk.byteLength && this.#state !== 'end') {
      if (this.#state === 'data') {
        const taken = Math.min(this.#left, chunk.byteLength - usedBytes);
        chunk.copyWithin(bodyBytes, usedBytes, usedBytes + taken);
        bodyBytes += taken;
        usedBytes += taken;
        this.#left -= taken;
        if (this.#left === 0) this.#state = 'data-end';
      } else {
        this.#takeByte(chunk[usedBytes++]!);
      }
    }
    return { bodyBytes, usedBytes, isEnd: this.#state === 'end' };
  }

  #takeByte(byte: number): void {
    if (++this.#lineBytes > MAX_LINE_BYTES) throw malformedResponse('a line of its body is too long');
    this.#line += String.fromCharCode(byte);
    // Refuse at once, because no line break need come after a wrong byte.
    if (this.#state === 'data-end' && !LINE_END.startsWith(this.#line)) {
      throw malformedResponse('a chunk does not end where it said');
    }
    if (this.#state === 'size' && !HEX_DIGIT.test(this.#line)) throw malformedResponse('the size of a chunk');
    if (byte !== LF) return;
    if (!LINE.test(this.#line)) throw malformedResponse('a line does not end with CR LF');
    this.#state = this.#stateAfter(this.#line.slice(0, -LINE_END.length));
    this.#line = '';
  }

  #stateAfter(line: string): 'size' | 'data' | 'trailer' | 'end' {
    // The fields of a trailer are ignored, because the response's head was passed on long ago.
    if (this.#state === 'trailer') return line === '' ? 'end' : 'trailer';
    if (this.#state === 'data-end') return 'size';
    const [, size] = CHUNK_SIZE.exec(line) ?? [];
    if (size === undefined) throw malformedResponse('the size of a chunk');
    this.#left = Number.parseInt(size, 16);
    if (this.#left === 0) return 'trailer';
    this.#lineBytes = 0;
    return 'data';
  }
}

/**
 * Reads a response into memory.
 * @param onLength is told the length so far, before the next part is kept.
 * @throws OutgoingError, and what `onLength` throws.
 */
export async function wholeResponse(
  response: Response,
  maxBytes: number,
  onLength: (bytes: number) => Promise<void> = async () => {},
): Promise<Response> {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw malformedResponse('it is too long');
    await onLength(bytes);
    // Copy the bytes, without the rest of their buffer.
    chunks.push(chunk.slice());
  }
  return new Response(new Blob(chunks), { status, statusText, headers });
}
