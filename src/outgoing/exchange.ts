/**
 * An exchange of one request and its response (RFC 9112), both at the same time. The connection is
 * reused only if both ended properly.
 * Proved by test/outgoing/http-client.test.ts and test/outgoing/connection-pool.test.ts.
 */
import { concatBytes, NO_BYTES } from '../git/bytes.ts';
import { type ChunkSource, sourceOf } from '../git/wire/byte-reader.ts';
import { gunzipped } from '../git/zlib/gunzip.ts';
import { bodyDecoder, type BodyDecoder, type ResponseHead, ResponseHeadReader } from './response.ts';
import type { Connection } from './connection.ts';
import { malformedResponse, OutgoingError } from './outgoing-error.ts';
import { type OutgoingRequest, sendBytes, sendStream } from './request.ts';

/**
 * Maximum wait between the bytes of a response. Callers decide how long to wait for its first byte.
 */
export const STALL_TIMEOUT_MS = 30_000;
/**
 * Maximum number of interim responses: `100 Continue`, which is never requested, and `103 Early
 * Hints`.
 */
const MAX_INTERIM_RESPONSES = 8;
/** Maximum size of a body that is sent in one piece with the head. */
const JOINED_BYTES = 64 * 1024;

/** A request with the head that `encodeRequestHead` makes. */
type EncodedRequest = OutgoingRequest & { readonly head: Uint8Array };

export class Exchange {
  readonly #connection: Connection;
  readonly #request: EncodedRequest;
  readonly #onEnd: (isReusable: boolean) => void;
  readonly #abort = (): void => this.#connection.destroy(this.#request.signal?.reason);
  #stopSending: () => void = () => {};
  #isSent = false;
  #isOver = false;
  /** True once a byte of the response has come. */
  hasResponseBegun = false;

  /**
   * Prepares an exchange.
   * @param onEnd is called once, when the connection is free again or destroyed.
   */
  constructor(connection: Connection, request: EncodedRequest, onEnd: (isReusable: boolean) => void) {
    this.#connection = connection;
    this.#request = request;
    this.#onEnd = onEnd;
  }

  /**
   * Sends the request, and returns the response as soon as its head has come.
   * @throws OutgoingError, the reason of the request's signal, or the error of the stream that is
   * sent.
   */
  async response(): Promise<Response> {
    const { signal, method } = this.#request;
    signal?.addEventListener('abort', this.#abort);
    try {
      this.#send().catch((error: unknown) => this.#connection.destroy(error));
      const { head, rest } = await this.#readHead();
      return this.#answer(head, bodyDecoder(method, head), rest);
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  async #send(): Promise<void> {
    const { head, body } = this.#request;
    if (body?.kind !== 'stream') {
      const isShort = body !== null && body.bytes.byteLength <= JOINED_BYTES;
      this.#isSent = await this.#connection.write(isShort ? concatBytes([head, body.bytes]) : head);
      if (body !== null && !isShort) this.#isSent &&= await sendBytes(body.bytes, this.#connection);
      return;
    }
    const reader = body.stream.getReader({ mode: 'byob' });
    // The stream's own failure adds nothing to that of the exchange.
    this.#stopSending = () => void reader.cancel().catch(() => {});
    this.#isSent =
      (await this.#connection.write(head)) && (await sendStream(reader, body.length, this.#connection));
    if (!this.#isSent) this.#stopSending();
  }

  async #readHead(): Promise<{ head: ResponseHead; rest: Uint8Array }> {
    let rest: Uint8Array = NO_BYTES;
    for (let interim = 0; interim <= MAX_INTERIM_RESPONSES; interim++) {
      const reader = new ResponseHeadReader();
      let usedBytes = reader.take(rest);
      while (usedBytes === null) {
        const chunk = await this.#connection.read(reader.hasBegun ? STALL_TIMEOUT_MS : null);
        if (chunk === null) throw brokenOff();
        rest = chunk;
        this.hasResponseBegun = true;
        usedBytes = reader.take(rest);
      }
      rest = rest.subarray(usedBytes);
      const head = reader.parse();
      if (head.status >= 200) return { head, rest };
      if (head.status === 101) break;
    }
    throw malformedResponse('interim responses that nobody asked for');
  }

  #answer(head: ResponseHead, decoder: BodyDecoder | null, rest: Uint8Array): Response {
    if (decoder === null) {
      this.#finish(head, rest.byteLength);
      return toResponse(head, null);
    }
    const { bodyBytes, usedBytes, isEnd } = decoder.decode(rest);
    if (!isEnd) {
      const chunks = this.#bodyChunks(head, decoder, rest.subarray(0, bodyBytes));
      const read = async () => (await chunks.next()).value ?? null;
      return toResponse(head, { read, cancel: async () => this.#fail(brokenOff()) });
    }
    const body = rest.slice(0, bodyBytes);
    this.#finish(head, rest.byteLength - usedBytes);
    return toResponse(head, body);
  }

  /** Yields the rest of the body. The connection is free once all of it was taken. */
  async *#bodyChunks(
    head: ResponseHead,
    decoder: BodyDecoder,
    first: Uint8Array,
  ): AsyncGenerator<Uint8Array, undefined> {
    try {
      if (first.byteLength > 0) yield first;
      for (let isEnd = false; !isEnd;) {
        const chunk = await this.#connection.read(STALL_TIMEOUT_MS);
        if (chunk === null && decoder.endsWithConnection) break;
        if (chunk === null) throw brokenOff();
        const decoded = decoder.decode(chunk);
        isEnd = decoded.isEnd;
        if (decoded.bodyBytes > 0) yield chunk.subarray(0, decoded.bodyBytes);
        if (isEnd) this.#finish(head, chunk.byteLength - decoded.usedBytes);
      }
      this.#end(false);
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /**
   * Ends the exchange after a complete response.
   * @param leftBytes is the number of bytes behind the response. Nobody asked for them, so they are
   * never read as another one.
   */
  #finish({ minorVersion, headers }: ResponseHead, leftBytes: number): void {
    const options = headers.get('Connection')?.toLowerCase().split(',') ?? [];
    const closes = options.some((option) => option.trim() === 'close');
    this.#end(this.#isSent && leftBytes === 0 && minorVersion === 1 && !closes);
  }

  #fail(cause: unknown): void {
    // The connection may serve another request by now.
    if (this.#isOver) return;
    this.#connection.destroy(cause);
    this.#end(false);
  }

  #end(isReusable: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#request.signal?.removeEventListener('abort', this.#abort);
    this.#stopSending();
    if (!isReusable) this.#connection.destroy(brokenOff());
    this.#onEnd(isReusable);
  }
}

function brokenOff(): OutgoingError {
  return new OutgoingError('broken-off', 'the connection ended in the middle');
}

/** Header fields of the connection, not of the response (RFC 9110, section 7.6.1). */
const CONNECTION_FIELDS = ['Connection', 'Keep-Alive', 'Transfer-Encoding', 'Upgrade', 'Trailer'];

/**
 * Creates the response for the caller.
 * @param body is bytes if it has arrived completely.
 * @throws OutgoingError
 */
function toResponse(
  { status, statusText, headers: received }: ResponseHead,
  body: ChunkSource | Uint8Array | null,
): Response {
  const headers = new Headers(received);
  for (const name of CONNECTION_FIELDS) headers.delete(name);
  const coding = (headers.get('Content-Encoding') ?? 'identity').toLowerCase();
  if (body === null || (coding === 'identity' && body instanceof Uint8Array)) {
    return new Response(body, { status, statusText, headers });
  }
  let source = body instanceof Uint8Array ? sourceOf(body) : body;
  if (coding === 'gzip') {
    source = gunzipped(source, () => malformedResponse('its compressed body'));
    headers.delete('Content-Encoding');
    headers.delete('Content-Length');
  } else if (coding !== 'identity') throw malformedResponse('an encoding that was not asked for');
  const length = headers.get('Content-Length');
  const pipe = length === null ? new IdentityTransformStream() : new FixedLengthStream(Number(length));
  void pump(source, pipe.writable.getWriter());
  return new Response(pipe.readable, { status, statusText, headers });
}

/** Fills a pipe no further than it is read. */
async function pump(source: ChunkSource, writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
  // This rejects when the reader has cancelled.
  writer.closed.catch(() => source.cancel());
  try {
    for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) {
      await writer.write(chunk);
    }
    await writer.close();
  } catch (error) {
    await source.cancel();
    // The pipe may have been cancelled meanwhile, so that nobody reads the error.
    await writer.abort(error).catch(() => {});
  }
}
