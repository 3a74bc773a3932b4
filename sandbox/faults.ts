/**
 * Injects faults for tests: delays a matching request, answers it with something else, or cuts its
 * connection. Tests can simulate errors, slowness, and a connection that breaks before the request
 * was handled, or afterwards, but before the answer arrived.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface Fault {
  /** Default: any method. */
  readonly method?: string;
  /** Matched against the path without its query. */
  readonly path: RegExp;
  /** Number of requests that are affected; default 1. */
  readonly times?: number;
  /** Waits before anything else is done. */
  readonly delayMs?: number;
  /** Waits, before anything else is done, until this settles. */
  readonly until?: Promise<unknown>;
  /** Answers with this instead of handling the request. An object is sent as JSON. */
  readonly answer?: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | object;
  };
  /** The request is handled, and its answer has these headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Sends the client to another server with the same path and query, as a repository or a host does
   * that has moved. A client that keeps only the path meets a stranger's repository
   * (src-d/go-git#820).
   */
  readonly redirect?: { readonly status: 301 | 302 | 303 | 307 | 308; readonly to: string };
  /**
   * Cuts the connection. `request`: once so many bytes of the request's body have arrived; with 0,
   * before the request is handled. `answer`: the request is handled, but only so many bytes of the
   * answer's body are sent; with 0, no part of the answer.
   */
  readonly cut?: { readonly during: 'request' | 'answer'; readonly afterBytes: number };
}

export class Faults {
  readonly #waiting: { fault: Fault; left: number }[] = [];

  /** Adds a fault. It affects the first request that it matches. */
  inject(fault: Fault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }

  /** Forgets all faults that have not happened. */
  clear(): void {
    this.#waiting.length = 0;
  }

  /** Applies the matching fault. Answers whether the request must still be handled. */
  async apply(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
    const fault = this.#take(request.method ?? '', path);
    if (!fault) return true;
    const { cut } = fault;
    // Before any waiting, because parts of the body may arrive meanwhile.
    if (cut?.during === 'request' && cut.afterBytes > 0) cutRequest(request, cut.afterBytes);
    if (cut?.during === 'answer') cutAnswer(response, cut.afterBytes);
    if (fault.delayMs !== undefined) await delay(fault.delayMs);
    await fault.until;
    if (cut?.during === 'request' && cut.afterBytes === 0) {
      request.socket.destroy();
      return false;
    }
    if (fault.redirect !== undefined) {
      await readToEnd(request);
      const { status, to } = fault.redirect;
      response.writeHead(status, { location: to + (request.url ?? '/') }).end();
      return false;
    }
    for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
    if (!fault.answer) return true;
    await readToEnd(request);
    const { status, headers = {}, body = '' } = fault.answer;
    const isText = typeof body === 'string';
    response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
    response.end(isText ? body : JSON.stringify(body));
    return false;
  }

  #take(method: string, path: string): Fault | undefined {
    const index = this.#waiting.findIndex(
      ({ fault }) => (fault.method ?? method) === method && fault.path.test(path),
    );
    const entry = this.#waiting[index];
    if (!entry) return undefined;
    entry.left -= 1;
    if (entry.left <= 0) this.#waiting.splice(index, 1);
    return entry.fault;
  }
}

/** Gives the handler the body up to the given byte. Then the connection breaks. */
function cutRequest(request: IncomingMessage, afterBytes: number): void {
  const push = request.push.bind(request);
  let left = afterBytes;
  request.push = (chunk: unknown) => {
    if (!(chunk instanceof Uint8Array) || chunk.length < left) {
      left -= chunk instanceof Uint8Array ? chunk.length : 0;
      return push(chunk);
    }
    if (left > 0) push(chunk.subarray(0, left));
    left = 0;
    request.socket.destroy();
    return false;
  };
}

/**
 * Gives the client the answer's body up to the given byte. The handler notices nothing and finishes
 * its work. Only then is the connection cut, so that the handler's effects do not depend on when
 * the first byte is sent.
 */
function cutAnswer(response: ServerResponse, afterBytes: number): void {
  const write = response.write.bind(response);
  let left = afterBytes;
  let unsent = 0;
  let ended = false;
  const cutWhenSent = () => {
    if (ended && unsent === 0) response.destroy();
  };
  const send = (chunk: unknown): boolean => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (!(bytes instanceof Uint8Array) || left === 0) return true;
    const part = bytes.subarray(0, left);
    left -= part.length;
    unsent += 1;
    return write(part, () => {
      unsent -= 1;
      cutWhenSent();
    });
  };
  response.write = send;
  response.end = (chunk?: unknown) => {
    send(chunk);
    ended = true;
    cutWhenSent();
    return response;
  };
}

async function readToEnd(request: IncomingMessage): Promise<void> {
  // The client is still writing: an answer before the end of its request could break its
  // connection.
  for await (const chunk of request) void chunk;
}
