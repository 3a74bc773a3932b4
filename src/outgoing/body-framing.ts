/**
 * Where the body of a response ends (RFC 9112, sections 6 and 7). A decoder moves the body's bytes to the front of the
 * chunk that it is given. So each read gives one run of bytes, however small the server's chunks are.
 */
import { malformed } from './outgoing-error.ts';
import type { ResponseHead } from './response-head.ts';

export interface Decoded {
  /** How many bytes of the body are now at the chunk's beginning. */
  readonly bodyBytes: number;
  /** How many bytes of the chunk belonged to this response; less than all only at its end. */
  readonly usedBytes: number;
  readonly isEnd: boolean;
}

export interface BodyDecoder {
  /** Whether the end of the connection ends the body. */
  readonly endsWithConnection: boolean;
  /** @throws OutgoingError */
  decode(chunk: Uint8Array): Decoded;
}

/** 205 may have an empty one; a `Response` has none. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** The decoder for a response's body; null: it has none. @throws OutgoingError */
export function bodyDecoder(
  method: string,
  { status, minorVersion, headers }: ResponseHead,
): BodyDecoder | null {
  const coding = headers.get('Transfer-Encoding');
  const length = headers.get('Content-Length');
  // Request smuggling: two parties that believe different ones see different messages.
  if (coding !== null && length !== null) throw malformed('its body has two lengths');
  // Several lengths, even equal ones, are joined by a comma, which is not a digit.
  if (length !== null && !/^\d{1,15}$/.test(length)) throw malformed('the length of its body');
  if (coding !== null && (coding.toLowerCase() !== 'chunked' || minorVersion === 0)) {
    throw malformed('the transfer coding of its body');
  }
  if (method === 'HEAD' || BODILESS.has(status)) return null;
  if (coding !== null) return new ChunkedDecoder();
  return new LengthDecoder(length === null ? null : Number(length));
}

class LengthDecoder implements BodyDecoder {
  readonly endsWithConnection: boolean;
  #left: number;

  /** @param length null: up to the end of the connection. */
  constructor(length: number | null) {
    this.endsWithConnection = length === null;
    this.#left = length ?? Infinity;
  }

  decode(chunk: Uint8Array): Decoded {
    const bodyBytes = Math.min(this.#left, chunk.byteLength);
    this.#left -= bodyBytes;
    return { bodyBytes, usedBytes: bodyBytes, isEnd: this.#left === 0 };
  }
}

const LF = 0x0a;
const LINE_END = '\r\n';
/** Of what stands between data of chunks, or behind the last: servers send neither extensions nor a trailer. */
const MAX_LINE_BYTES = 4 * 1024;
/** 13 digits stay below 2^53. */
const CHUNK_SIZE = /^([0-9a-f]{1,13})(?:;.*)?$/i;
const HEX_DIGIT = /^[0-9a-f]/i;
const LINE = /^.*\r\n$/;

class ChunkedDecoder implements BodyDecoder {
  readonly endsWithConnection = false;
  #state: 'size' | 'data' | 'data-end' | 'trailer' | 'end' = 'size';
  /** Of the current chunk's data. */
  #left = 0;
  /** What has come of the current line. */
  #line = '';
  /** Since the last data. */
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
    if (++this.#lineBytes > MAX_LINE_BYTES) throw malformed('a line of its body is too long');
    this.#line += String.fromCharCode(byte);
    // At once: after a wrong byte no line break need come.
    if (this.#state === 'data-end' && !LINE_END.startsWith(this.#line)) {
      throw malformed('a chunk does not end where it said');
    }
    if (this.#state === 'size' && !HEX_DIGIT.test(this.#line)) throw malformed('the size of a chunk');
    if (byte !== LF) return;
    if (!LINE.test(this.#line)) throw malformed('a line does not end with CR LF');
    this.#state = this.#stateAfter(this.#line.slice(0, -LINE_END.length));
    this.#line = '';
  }

  #stateAfter(line: string): 'size' | 'data' | 'trailer' | 'end' {
    // Its fields are ignored: the response's head was passed on long ago.
    if (this.#state === 'trailer') return line === '' ? 'end' : 'trailer';
    if (this.#state === 'data-end') return 'size';
    const [, size] = CHUNK_SIZE.exec(line) ?? [];
    if (size === undefined) throw malformed('the size of a chunk');
    this.#left = Number.parseInt(size, 16);
    if (this.#left === 0) return 'trailer';
    this.#lineBytes = 0;
    return 'data';
  }
}
