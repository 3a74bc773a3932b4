/**
 * What one isolate knows about itself. The runtime does not report its memory, so it is measured
 * here: the buffers for bodies are counted until the garbage collector frees them, and an object
 * made for this shows when it runs.
 */

/** What Cloudflare allows an isolate; workerd on one machine sets no limit of its own. */
const MEMORY_LIMIT_BYTES = 128 * 1024 * 1024;

export type IsolateFigures = ReturnType<Isolate['figures']>;

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
    if (this.#startedAt === null) this.#releaseCanary();
    // The clock may have been set back.
    this.#startedAt = Math.min(this.#startedAt ?? now, now);
    this.#requestsInFlight += 1;
  }

  requestEnded(): void {
    this.#requestsInFlight -= 1;
  }

  /** Counts an answer that continues after the handler of its request has returned. */
  async during<T>(answering: Promise<T>): Promise<T> {
    this.#requestsInFlight += 1;
    return answering.finally(() => this.requestEnded());
  }

  figures(now: number) {
    return {
      /** Of bodies, not freed yet. */
      bufferedBytes: this.#bufferedBytes,
      bufferedBytesEver: this.#bufferedBytesEver,
      memoryLimitBytes: MEMORY_LIMIT_BYTES,
      /** Several at once count as one. */
      collections: this.#collections,
      requestsInFlight: this.#requestsInFlight,
      /** Since the first request: before it, an isolate has no clock. */
      uptimeMs: Math.max(0, now - (this.#startedAt ?? now)),
    };
  }

  #releaseCanary(): void {
    this.#canaries.register({}, null);
  }
}

export const isolate = new Isolate();

/**
 * A duration as Go prints it, which is what the contract shows (4.9): `4h23m15.2s`, `15.2s`,
 * `850ms`, `0s`.
 */
export function durationText(ms: number): string {
  const whole = Math.round(ms);
  if (whole === 0) return '0s';
  if (whole < 1000) return `${whole}ms`;
  const minutes = Math.floor(whole / 60_000);
  const seconds = `${(whole % 60_000) / 1000}s`;
  if (minutes === 0) return seconds;
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`;
}
