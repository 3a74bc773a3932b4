/**
 * Figures of one isolate. The runtime does not report an isolate's memory, so this counts the
 * buffers for bodies until the garbage collector frees them. It notices the collector by an object
 * that is made only to be collected.
 */

/** The limit of Cloudflare for an isolate. On one machine, workerd sets none. */
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

  /** Counts a buffer that was filled. Call `reusing` before it is filled again. */
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
    // A clock that was set back must not make the uptime negative.
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
      /** Size of the buffers for bodies that are not freed yet. */
      bufferedBytes: this.#bufferedBytes,
      bufferedBytesEver: this.#bufferedBytesEver,
      memoryLimitBytes: MEMORY_LIMIT_BYTES,
      /** Garbage collections that were noticed; several at once count as one. */
      collections: this.#collections,
      requestsInFlight: this.#requestsInFlight,
      /** Time since the first request: before it, an isolate has no clock. */
      uptimeMs: Math.max(0, now - (this.#startedAt ?? now)),
    };
  }

  #releaseCanary(): void {
    this.#canaries.register({}, null);
  }
}

export const isolate = new Isolate();

/** Writes a duration as Go does, as the contract shows it (4.9): `4h23m15.2s`, `850ms`, `0s`. */
export function durationText(ms: number): string {
  const whole = Math.round(ms);
  if (whole === 0) return '0s';
  if (whole < 1000) return `${whole}ms`;
  const minutes = Math.floor(whole / 60_000);
  const seconds = `${(whole % 60_000) / 1000}s`;
  if (minutes === 0) return seconds;
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`;
}
