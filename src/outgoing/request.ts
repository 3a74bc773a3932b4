/**
 * Writes an HTTP/1.1 request (RFC 9112). Header fields come from one list, so that nothing of a
 * client's is sent by mistake.
 */
import { utf8 } from '../git/bytes.ts';
import type { Connection } from './connection.ts';

/**
 * Header fields that callers may set, as they are written. `Host`, `Accept-Encoding` and the length
 * of the body are set here.
 */
const ALLOWED_FIELDS = [
  'User-Agent',
  'Accept',
  'Authorization',
  // The public key of the hosted database.
  'apikey',
  'Git-Protocol',
  'X-GitHub-Api-Version',
  'If-Modified-Since',
  'Content-Encoding',
  'Content-Type',
] as const;

const KNOWN_NAMES: ReadonlySet<string> = new Set(ALLOWED_FIELDS.map((name) => name.toLowerCase()));
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', ...METHODS_WITH_BODY]);
/** Matches printable ASCII without a space at either end, where it would be lost. */
const FIELD_VALUE = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;
const REQUEST_TARGET = /^\/[\x21-\x7e]*$/;

export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: RequestBody | null;
  readonly signal: AbortSignal | null;
}

/**
 * Encodes the head of a request.
 * @throws TypeError if the request must not be sent, which is an error of the service's own.
 */
export function encodeRequestHead(request: Omit<OutgoingRequest, 'signal'>): Uint8Array {
  const { method, url, headers, body } = request;
  if (!METHODS.has(method)) throw new TypeError('this method is not allowed');
  checkFields(headers);
  const target = `${url.pathname}${url.search}`;
  if (!REQUEST_TARGET.test(target)) throw new TypeError('the address cannot be asked for');
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${url.host}`];
  for (const name of ALLOWED_FIELDS) {
    const value = headers.get(name);
    if (value !== null) lines.push(`${name}: ${value}`);
  }
  lines.push('Accept-Encoding: gzip');
  const length = body?.kind === 'stream' ? body.length : (body?.bytes.byteLength ?? 0);
  if (length === null) lines.push('Transfer-Encoding: chunked');
  // Servers may insist on a length where the method lets them expect a body (RFC 9110, section
  // 8.6).
  else if (body !== null || METHODS_WITH_BODY.has(method)) lines.push(`Content-Length: ${length}`);
  return utf8(`${lines.join('\r\n')}\r\n\r\n`);
}

/**
 * Checks header fields.
 * @throws TypeError if one must not be sent.
 */
export function checkFields(headers: Headers): void {
  for (const [name, value] of headers) {
    if (!KNOWN_NAMES.has(name)) throw new TypeError(`the header field ${name} may not leave`);
    if (!FIELD_VALUE.test(value)) throw new TypeError(`the value of the header field ${name} may not leave`);
  }
}

const READ_BYTES = 256 * 1024;
/** Length of a chunk's size in hexadecimal and CR LF. */
const CHUNK_HEAD_BYTES = READ_BYTES.toString(16).length + 2;
const CHUNK_TAIL_BYTES = 2;
const CR_LF = utf8('\r\n');
const LAST_CHUNK = utf8('0\r\n\r\n');

export type RequestBody =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'stream'; readonly stream: ReadableStream<Uint8Array>; readonly length: number | null };

/**
 * Sends bytes in pieces, because the platform copies them. It stops when their owner frees them.
 * @returns whether all were taken.
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
 * Sends a stream to its end. One that breaks off, or is not as long as announced, gets no proper
 * end: the server must not take a part for the whole.
 * @returns whether the connection has taken it all.
 * @throws as the stream, and TypeError if the length is wrong.
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

/** Writes a chunk around data in a buffer with room before and after it. */
function chunkAround(data: Uint8Array): Uint8Array {
  const head = utf8(`${data.byteLength.toString(16)}\r\n`);
  const chunkBytes = head.byteLength + data.byteLength + CHUNK_TAIL_BYTES;
  const chunk = new Uint8Array(data.buffer, data.byteOffset - head.byteLength, chunkBytes);
  chunk.set(head);
  chunk.set(CR_LF, chunkBytes - CHUNK_TAIL_BYTES);
  return chunk;
}
