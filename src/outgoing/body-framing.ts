/**
 * Where the body of a response ends (RFC 9112, sections 6 and 7). Bytes in, bytes out.
 *
 * A decoder moves the body's bytes to the front of the chunk that it is given. So each read gives one run of bytes,
 * however small the server's chunks are, and nothing is allocated.
 */
import { hexDigit } from '../git/bytes.ts';
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
  /** The announced length; null if there is none. */
  readonly length: number | null;
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
  return length === null ? UNTIL_CLOSE : new LengthDecoder(Number(length));
}

const UNTIL_CLOSE: BodyDecoder = {
  length: null,
  endsWithConnection: true,
  decode: ({ byteLength }) => ({ bodyBytes: byteLength, usedBytes: byteLength, isEnd: false }),
};

class LengthDecoder implements BodyDecoder {
  readonly length: number;
  readonly endsWithConnection = false;
  #left: number;

  constructor(length: number) {
    this.length = length;
    this.#left = length;
  }

  decode(chunk: Uint8Array): Decoded {
    const bodyBytes = Math.min(this.#left, chunk.byteLength);
    this.#left -= bodyBytes;
    return { bodyBytes, usedBytes: bodyBytes, isEnd: this.#left === 0 };
  }
}

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
/** Limit for a chunk's extensions, and for the trailer. Real servers send neither. */
const MAX_LINE_BYTES = 4 * 1024;
/** 13 digits stay below 2^53. */
const MAX_SIZE_DIGITS = 13;

type ChunkedState =
  | 'size'
  /** Ignored, as the standard demands. */
  | 'extension'
  | 'size-lf'
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'trailer-start'
  /** Ignored: the response's head was passed on long ago. */
  | 'trailer'
  | 'trailer-lf'
  | 'last-lf'
  | 'end';

class ChunkedDecoder implements BodyDecoder {
  readonly length = null;
  readonly endsWithConnection = false;
  #state: ChunkedState = 'size';
  /** The current chunk's announced size while it is read, and then the bytes that are still missing. */
  #left = 0;
  #digits = 0;
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
        if (this.#left === 0) this.#state = 'data-cr';
      } else {
        this.#state = this.#step(chunk[usedBytes++] as number);
      }
    }
    return { bodyBytes, usedBytes, isEnd: this.#state === 'end' };
  }

  #step(byte: number): ChunkedState {
    switch (this.#state) {
      case 'size':
        return this.#sizeByte(byte);
      case 'extension':
        return byte === CR ? 'size-lf' : this.#ignored(byte);
      case 'size-lf':
        return this.#afterSize(byte);
      case 'data-cr':
        return expected(byte, CR, 'data-lf');
      case 'data-lf':
        return this.#nextLine(byte, 'size');
      case 'trailer-start':
        return byte === CR ? 'last-lf' : this.#ignored(byte, 'trailer');
      case 'trailer':
        return byte === CR ? 'trailer-lf' : this.#ignored(byte);
      case 'trailer-lf':
        return expected(byte, LF, 'trailer-start');
      case 'last-lf':
        return expected(byte, LF, 'end');
      case 'data':
      case 'end':
        return this.#state;
    }
  }

  #sizeByte(byte: number): ChunkedState {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      if (++this.#digits > MAX_SIZE_DIGITS) throw malformed('a chunk is too long');
      this.#left = this.#left * 16 + digit;
      return 'size';
    }
    if (this.#digits === 0) throw malformed('a chunk has no size');
    if (byte === CR) return 'size-lf';
    if (byte === SEMICOLON) return this.#ignored(byte, 'extension');
    throw malformed('the size of a chunk');
  }

  #afterSize(byte: number): ChunkedState {
    const isLast = this.#left === 0;
    return this.#nextLine(byte, isLast ? 'trailer-start' : 'data');
  }

  #nextLine(byte: number, state: ChunkedState): ChunkedState {
    this.#digits = 0;
    this.#lineBytes = 0;
    return expected(byte, LF, state);
  }

  #ignored(byte: number, state: ChunkedState = this.#state): ChunkedState {
    if (byte === LF) throw malformed('a line does not end with CR LF');
    if (++this.#lineBytes > MAX_LINE_BYTES) throw malformed('a line of its body is too long');
    return state;
  }
}

function expected(byte: number, wanted: number, state: ChunkedState): ChunkedState {
  if (byte !== wanted) throw malformed('a chunk does not end where it said');
  return state;
}
