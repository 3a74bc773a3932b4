/** The body of a request on its way out: framed as RFC 9112, sections 6 and 7 say, at the pace of the slower side. */
import type { Connection } from './connection.ts';

const READ_BYTES = 256 * 1024;
/** A chunk's size in hexadecimal and CR LF. */
const CHUNK_HEAD_BYTES = READ_BYTES.toString(16).length + 2;
const CHUNK_TAIL_BYTES = 2;
const CR = 0x0d;
const LF = 0x0a;
const LAST_CHUNK = new TextEncoder().encode('0\r\n\r\n');

export type RequestBody =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** `length`: as announced; null if it is not known. */
  | {
      readonly kind: 'stream';
      readonly stream: ReadableStream<Uint8Array>;
      readonly length: number | null;
    };

/** Servers may insist on a length where the method lets them expect a body (RFC 9110, section 8.6). */
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** What a request's head says about its body; null: nothing. */
export function bodyLength(method: string, body: RequestBody | null): number | 'chunked' | null {
  if (body === null) return METHODS_WITH_BODY.has(method) ? 0 : null;
  return body.kind === 'bytes' ? body.bytes.byteLength : (body.length ?? 'chunked');
}

/**
 * Sends bytes piece by piece, because the platform copies what it writes. Once a response has come, their owner may
 * give their memory back, and the rest is not sent.
 * @returns whether the connection has taken it all.
 */
export async function sendBytes(bytes: Uint8Array, connection: Connection): Promise<boolean> {
  const { byteLength } = bytes;
  for (let at = 0; at < byteLength; at += READ_BYTES) {
    const isGivenBack = bytes.byteLength === 0;
    if (isGivenBack || !(await connection.write(bytes.subarray(at, at + READ_BYTES)))) return false;
  }
  return true;
}

/**
 * Sends a stream to its end. One that breaks off, or that is not as long as announced, is never ended properly: the
 * server must not take a part for the whole. The caller then destroys the connection.
 * @returns whether the connection has taken it all.
 * @throws what the stream failed with.
 */
export async function sendStream(
  reader: ReadableStreamBYOBReader,
  length: number | null,
  connection: Connection,
): Promise<boolean> {
  let buffer = new ArrayBuffer(CHUNK_HEAD_BYTES + READ_BYTES + CHUNK_TAIL_BYTES);
  let bytes = 0;
  for (;;) {
    const { value } = await reader.readAtLeast(1, new Uint8Array(buffer, CHUNK_HEAD_BYTES, READ_BYTES));
    if (value === undefined || value.byteLength === 0) break;
    buffer = value.buffer;
    bytes += value.byteLength;
    if (length !== null && bytes > length) throw new TypeError('the body is longer than announced');
    if (!(await connection.write(length === null ? chunkAround(value) : value))) return false;
  }
  if (length === null) return connection.write(LAST_CHUNK);
  if (bytes < length) throw new TypeError('the body is shorter than announced');
  return true;
}

/** The chunk whose data stands in a buffer with room before and behind it. */
function chunkAround(data: Uint8Array): Uint8Array {
  const size = data.byteLength.toString(16);
  const start = data.byteOffset - size.length - 2;
  const end = data.byteOffset + data.byteLength;
  const chunk = new Uint8Array(data.buffer, start, end + CHUNK_TAIL_BYTES - start);
  for (let index = 0; index < size.length; index++) chunk[index] = size.charCodeAt(index);
  chunk[size.length] = CR;
  chunk[size.length + 1] = LF;
  chunk[chunk.byteLength - 2] = CR;
  chunk[chunk.byteLength - 1] = LF;
  return chunk;
}
