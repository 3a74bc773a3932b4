/**
 * Size of a connection's buffers, which take so much at once. When they are full, Linux waits until
 * much of it was read before it takes more: 70 s, if the receiver reads 20 KiB a second (measured).
 */
const BUFFERED_BYTES = 2048 * 1024;
/**
 * Bytes for which the receiver has as long as for a single write. With the usual 30 s, 5 KiB a
 * second are enough.
 */
const STEP_BYTES = 256 * 1024;

/**
 * Returns how long the next write may take.
 * @param sentBytes is what the receiver may still have to read before it.
 */
export function longestWriteMs(timeoutMs: number, sentBytes: number): number {
  return timeoutMs * (1 + Math.min(sentBytes, BUFFERED_BYTES) / STEP_BYTES);
}

/**
 * Writes to a receiver that may have stopped reading. After a write that takes too long, every
 * further one fails at once.
 */
export class TimedWriter {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #timeoutMs: number;
  #sentBytes = 0;

  /**
   * Takes over the stream.
   * @param timeoutMs is the limit for the first write. Later ones have longer, because of what the
   * buffers hold.
   */
  constructor(writable: WritableStream<Uint8Array>, timeoutMs: number) {
    this.#writer = writable.getWriter();
    this.#timeoutMs = timeoutMs;
    // Without a handler, the rejection would be reported as unhandled. The next write fails anyway.
    this.#writer.closed.catch(() => {});
  }

  /**
   * Writes bytes. Never rejects.
   * @returns false if the receiver is gone or does not read.
   */
  async write(bytes: Uint8Array): Promise<boolean> {
    const isWritten = await this.#isDone(this.#writer.write(bytes));
    this.#sentBytes += bytes.byteLength;
    return isWritten;
  }

  /**
   * Ends the stream. Never rejects.
   * @returns false if the receiver is gone or does not read.
   */
  async close(): Promise<boolean> {
    return this.#isDone(this.#writer.close());
  }

  /** Aborts the stream, so that the receiver sees that something is missing. Never rejects. */
  async abort(): Promise<void> {
    await this.#writer.abort().catch(() => {});
  }

  async #isDone(action: Promise<void>): Promise<boolean> {
    // An abort makes the action reject.
    const limitMs = longestWriteMs(this.#timeoutMs, this.#sentBytes);
    const timer = setTimeout(() => void this.abort(), limitMs);
    try {
      await action;
      return true;
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
    }
  }
}
