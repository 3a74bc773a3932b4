/**
 * What one isolate knows of itself. The runtime tells nothing of its memory, so it is measured here: the buffers that
 * bodies are read into are counted until the garbage collector has taken them, and its visits are noticed by an object
 * that is there to be collected.
 */

/** What Cloudflare allows an isolate; workerd on one machine sets no limit of its own. */
const MEMORY_LIMIT_BYTES = 128 * 1024 * 1024;

export interface IsolateFigures {
  /** Of buffers that hold, or held, pieces of bodies, and have not been collected yet. */
  readonly bufferedBytes: number;
  /** Of all such buffers so far. */
  readonly bufferedBytesEver: number;
  readonly memoryLimitBytes: number;
  /** Garbage collections noticed; several at once count as one. */
  readonly collections: number;
  readonly requestsInFlight: number;
  /** Since the first request: before it, an isolate has no clock. */
  readonly uptimeMs: number;
}

export class Isolate {
  #bufferedBytes = 0;
  #bufferedBytesEver = 0;
  #collections = 0;
  #requestsInFlight = 0;
  #startedAt: number | null = null;
  readonly #buffers = new FinalizationRegistry<number>((bytes) => {
    this.#bufferedBytes -= bytes;
  });
  readonly #canaries = new FinalizationRegistry<null>(() => {
    this.#collections += 1;
    this.#releaseCanary();
  });

  /** A buffer was filled. Call `reusing` before it is filled again. */
  buffered(buffer: ArrayBuffer): void {
    this.#bufferedBytes += buffer.byteLength;
    this.#bufferedBytesEver += buffer.byteLength;
    this.#buffers.register(buffer, buffer.byteLength, buffer);
  }

  reusing(buffer: ArrayBuffer): void {
    if (this.#buffers.unregister(buffer)) this.#bufferedBytes -= buffer.byteLength;
  }

  requestStarted(now: number): void {
    if (this.#startedAt === null) {
      this.#startedAt = now;
      this.#releaseCanary();
    }
    this.#requestsInFlight += 1;
  }

  requestEnded(): void {
    this.#requestsInFlight -= 1;
  }

  /** For an answer that goes on when its request's handler has returned. */
  async during<T>(answering: Promise<T>): Promise<T> {
    this.#requestsInFlight += 1;
    return answering.finally(() => this.requestEnded());
  }

  figures(now: number): IsolateFigures {
    return {
      bufferedBytes: this.#bufferedBytes,
      bufferedBytesEver: this.#bufferedBytesEver,
      memoryLimitBytes: MEMORY_LIMIT_BYTES,
      collections: this.#collections,
      requestsInFlight: this.#requestsInFlight,
      uptimeMs: now - (this.#startedAt ?? now),
    };
  }

  #releaseCanary(): void {
    this.#canaries.register({}, null);
  }
}

/** The isolate that this code runs in. */
export const isolate = new Isolate();
