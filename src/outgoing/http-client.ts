/**
 * Everything leaves the Worker through here: HTTP/1.1 over sockets of our own, offered as a
 * `fetch`. The runtime's adds header fields that nobody can take away: on Cloudflare the client's
 * address (`CF-Connecting-IP`) outside its network, and the Worker's zone (`CF-Worker`).
 * `node:http` is the same there, and undici needs WebAssembly.
 */
import { utf8 } from '../git/bytes.ts';
import type { Connection } from './connection.ts';
import { type OpenSocket, ConnectionPool, openSocket } from './connection-pool.ts';
import { Exchange } from './exchange.ts';
import { checkFields, encodeRequestHead, type OutgoingRequest, type RequestBody } from './request.ts';

/** The `fetch` for code that makes requests: an `HttpClient`, or a substitute in tests. */
export type Http = Pick<HttpClient, 'fetch'>;

export class HttpClient {
  readonly #fetchHosts: ReadonlySet<string>;
  readonly #pool: ConnectionPool;

  /**
   * @param fetchHosts names of servers that sockets cannot reach, because they are on Cloudflare
   * themselves.
   */
  constructor(fetchHosts: readonly string[], open: OpenSocket = openSocket) {
    this.#fetchHosts = new Set(fetchHosts);
    this.#pool = new ConnectionPool(open);
  }

  /**
   * As the platform's `fetch`, except: only the header fields of `encodeRequestHead` may be set; a
   * body is text, bytes, or a stream of bytes (with `Content-Length`, if that is known); no
   * redirect is followed. If the caller cancels a response's body, the connection ends with the
   * server's next byte.
   * @throws OutgoingError, or the reason of the signal; TypeError for what may not leave.
   */
  async fetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
    return this.#send(outgoingRequest(input, init));
  }

  /**
   * Never rejects.
   * @param isForStream for a body that needs a connection which has carried nothing yet.
   */
  async openAhead(address: string, { isForStream = false } = {}): Promise<void> {
    const url = new URL(address);
    if (this.#fetchHosts.has(url.hostname)) return;
    await this.#pool.openAhead({ url, signal: null, isNew: isForStream });
  }

  /**
   * At the end of a Durable Object's work: an open connection, and its timer, keep it awake, and
   * billed.
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
    // A stream cannot be sent twice. On a new connection it cannot meet a server that has just hung
    // up.
    const wanted = { url, signal, isNew: body?.kind === 'stream' };
    const { connection, isNew } = await this.#pool.take(wanted).catch(async (error: unknown) => {
      // Otherwise the producer of the body would wait forever.
      if (body?.kind === 'stream') await body.stream.cancel(error).catch(() => {});
      throw error;
    });
    const exchange = exchanged(connection);
    try {
      return await exchange.response();
    } catch (error) {
      const isStale = !isNew && !exchange.hasResponseBegun && signal?.aborted !== true;
      // The server may have carried out a write anyway.
      if (!isStale || !isRead(method)) throw error;
    }
    const again = await this.#pool.take({ url, signal, isNew: true });
    return exchanged(again.connection).response();
  }
}

/** Means nobody (RFC 5737). */
const NO_ADDRESS = '192.0.2.1';

/**
 * Only for servers on Cloudflare, which get its address, or, in the Worker's own zone, that of
 * `X-Real-IP`.
 */
async function fetchByRuntime({ url, body, ...init }: OutgoingRequest): Promise<Response> {
  checkFields(init.headers);
  init.headers.set('X-Real-IP', NO_ADDRESS);
  const content = body?.kind === 'stream' ? body.stream : (body?.bytes ?? null);
  // oxlint-disable-next-line no-restricted-globals -- the only place
  return fetch(url, { ...init, body: content, redirect: 'manual' });
}

/** @throws TypeError for what this client does not do. */
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

/** A request that changes nothing, however often it is made. */
function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
