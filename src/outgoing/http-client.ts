/**
 * Sends the requests of the Worker: HTTP/1.1 over sockets of its own, offered as a `fetch`. Only
 * servers that sockets cannot reach are asked by the runtime's. The `fetch` of the runtime adds
 * header fields that cannot be removed: on Cloudflare the client's address (`CF-Connecting-IP`)
 * outside its network, and the Worker's zone (`CF-Worker`). `node:http` does the same there, and
 * undici needs WebAssembly.
 */
import { utf8 } from '../git/bytes.ts';
import type { Connection } from './connection.ts';
import { type OpenSocket, ConnectionPool, openSocket } from './connection-pool.ts';
import { Exchange } from './exchange.ts';
import { checkFields, encodeRequestHead, type OutgoingRequest, type RequestBody } from './request.ts';

/** The `fetch` for code that makes requests: an `HttpClient`, or a stand-in in tests. */
export type Http = Pick<HttpClient, 'fetch'>;

export class HttpClient {
  readonly #fetchHosts: ReadonlySet<string>;
  readonly #pool: ConnectionPool;

  /**
   * Creates a client without connections.
   * @param fetchHosts are the names of servers that sockets cannot reach because they are on
   * Cloudflare themselves.
   */
  constructor(fetchHosts: readonly string[], open: OpenSocket = openSocket) {
    this.#fetchHosts = new Set(fetchHosts);
    this.#pool = new ConnectionPool(open);
  }

  /**
   * Sends a request like the platform's `fetch`, with these differences: only the header fields of
   * `encodeRequestHead` may be set; a body is text, bytes, or a stream of bytes (with
   * `Content-Length`, if that is known); no redirect is followed. If the caller cancels a
   * response's body, the connection ends with the server's next byte.
   * @throws OutgoingError, the reason of the signal, or the error of a stream that is sent.
   * @throws TypeError if the request must not be sent.
   */
  async fetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
    return this.#send(outgoingRequest(input, init));
  }

  /**
   * Opens a connection ahead. Never rejects.
   * @param isForStream is for a body that needs a connection which has carried nothing yet.
   */
  async openAhead(address: string, { isForStream = false } = {}): Promise<void> {
    const url = new URL(address);
    if (this.#fetchHosts.has(url.hostname)) return;
    await this.#pool.openAhead({ url, signal: null, isNew: isForStream });
  }

  /**
   * Closes idle connections, at the end of a Durable Object's work: an open connection and its
   * timer would keep it awake, and billed.
   */
  closeIdle(): void {
    this.#pool.closeIdle();
  }

  async #send(request: OutgoingRequest): Promise<Response> {
    const { method, url, body, signal } = request;
    signal?.throwIfAborted();
    if (this.#fetchHosts.has(url.hostname)) return fetchByRuntime(request);
    const encoded = { ...request, head: encodeRequestHead(request) };
    const exchanged = (over: Connection) =>
      new Exchange(over, encoded, (isReusable) => this.#pool.giveBack(over, isReusable));
    // A stream cannot be sent twice, so it needs a new connection, which the server cannot just
    // have closed.
    const wanted = { url, signal, isNew: body?.kind === 'stream' };
    const { connection, isNew } = await this.#pool.take(wanted).catch(async (error: unknown) => {
      // Cancel the body, or its producer would wait forever. Its own failure adds nothing.
      if (body?.kind === 'stream') await body.stream.cancel(error).catch(() => {});
      throw error;
    });
    const exchange = exchanged(connection);
    try {
      return await exchange.response();
    } catch (error) {
      const isStale = !isNew && !exchange.hasResponseBegun && signal?.aborted !== true;
      // A write is not repeated, because the server may have carried it out.
      if (!isStale || !isRead(method)) throw error;
    }
    const again = await this.#pool.take({ url, signal, isNew: true });
    return exchanged(again.connection).response();
  }
}

/** An address that belongs to nobody (RFC 5737). */
const NO_ADDRESS = '192.0.2.1';

/**
 * Sends a request with the runtime's `fetch`, to servers on Cloudflare only. They see an address of
 * Cloudflare's as the client, or, in the Worker's own zone, that of `X-Real-IP`.
 */
async function fetchByRuntime({ url, body, ...init }: OutgoingRequest): Promise<Response> {
  checkFields(init.headers);
  init.headers.set('X-Real-IP', NO_ADDRESS);
  const content = body?.kind === 'stream' ? body.stream : (body?.bytes ?? null);
  // oxlint-disable-next-line no-restricted-globals -- the only place
  return fetch(url, { ...init, body: content, redirect: 'manual' });
}

/**
 * Reads the arguments of `fetch`.
 * @throws TypeError for what this client does not support.
 */
function outgoingRequest(input: RequestInfo | URL, init: RequestInit): OutgoingRequest {
  if (input instanceof Request) throw new TypeError('the address must be a text or a URL');
  const url = new URL(input);
  if (url.username !== '' || url.password !== '' || !['http:', 'https:'].includes(url.protocol))
    throw new TypeError('the address cannot be asked for');
  const headers = new Headers(init.headers);
  const announced = headers.get('Content-Length');
  headers.delete('Content-Length');
  const length = announced === null ? null : Number(announced);
  const body = requestBody(init.body ?? null, length);
  return { method: init.method ?? 'GET', url, headers, body, signal: init.signal ?? null };
}

function requestBody(body: BodyInit | null, length: number | null): RequestBody | null {
  if (body === null) return null;
  if (typeof body === 'string') return { kind: 'bytes', bytes: utf8(body) };
  if (body instanceof Uint8Array) return { kind: 'bytes', bytes: body };
  if (body instanceof ReadableStream) return { kind: 'stream', stream: body, length };
  throw new TypeError('the body must be a text, bytes, or a stream of bytes');
}

/** Tells if a request changes nothing, however often it is made. */
function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
