/**
 * Records what the host receives, for tests that search it: the method, path and headers of each
 * request, and on demand its body, byte for byte as it was sent (compressed or incomplete, too).
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/**
 * Parts of a request that are kept. `bodies` keeps packs in memory, so it is for tests with small
 * ones.
 */
export type CaptureMode = 'nothing' | 'requests' | 'bodies';

export interface CapturedRequest {
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /**
   * Names and values in turn, in the order of the request. A header that was sent twice is there
   * twice.
   */
  readonly rawHeaders: readonly string[];
  /** Bytes that have arrived so far; empty unless bodies are captured. */
  readonly body: Buffer;
}

export class Capture {
  readonly #mode: CaptureMode;
  readonly #requests: { request: IncomingMessage; chunks: Buffer[] }[] = [];

  constructor(mode: CaptureMode) {
    this.#mode = mode;
  }

  /** Records a request. Its body is recorded while the handler reads it. */
  add(request: IncomingMessage): void {
    if (this.#mode === 'nothing') return;
    const chunks: Buffer[] = [];
    this.#requests.push({ request, chunks });
    if (this.#mode === 'requests') return;
    // A `data` listener would start the flow before the handler listens; a wrapped `push` does not.
    const push = request.push.bind(request);
    request.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
      return push(chunk, encoding);
    };
  }

  /** Lists all requests, in order. */
  list(): CapturedRequest[] {
    return this.#requests.map(({ request, chunks }) => ({
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      // Concatenated on demand, because lists are requested often, and bodies are large.
      get body() {
        return Buffer.concat(chunks);
      },
    }));
  }

  /** Forgets what was received so far. */
  clear(): void {
    this.#requests.length = 0;
  }
}
