/**
 * What the buffers of a connection may take at once. They ask for more when a third of it is read:
 * of somebody who reads 20 KiB a second, 70 s later (measured on Linux).
 */
const BUFFERED_BYTES = 2048 * 1024;
/**
 * For these, the receiver has as long as for a single write: with the usual 30 s, 5 KiB a second
 * are enough.
 */
const STEP_BYTES = 256 * 1024;

/**
 * How long the next write may take.
 * @param sentBytes what the receiver may still have to read before it.
 */
export function longestWriteMs(timeoutMs: number, sentBytes: number): number {
  return timeoutMs * (1 + Math.min(sentBytes, BUFFERED_BYTES) / STEP_BYTES);
}

/**
 * Writes to a receiver that may have stopped reading: after a write that takes too long, every
 * other fails at once.
 */
export class TimedWriter {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #timeoutMs: number;
  #sentBytes = 0;

  /** @param timeoutMs for the first bytes; later, for what the buffers on the way hold, too. */
  constructor(writable: WritableStream<Uint8Array>, timeoutMs: number) {
    this.#writer = writable.getWriter();
    this.#timeoutMs = timeoutMs;
    // The writer learns of the end from its next write.
    this.#writer.closed.catch(() => {});
  }

  /** False if the other side has gone, or does not read. Never rejects. */
  async write(bytes: Uint8Array): Promise<boolean> {
    const isWritten = await this.#isDone(this.#writer.write(bytes));
    this.#sentBytes += bytes.byteLength;
    return isWritten;
  }

  /** Ends the stream; false if the other side has gone. Never rejects. */
  async close(): Promise<boolean> {
    return this.#isDone(this.#writer.close());
  }

  /** Aborts the stream, so the receiver sees that something is missing. Never rejects. */
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
