/**
 * Writes to a receiver that may have stopped reading. If one write takes too long, this gives up the receiver, and
 * every later write fails at once.
 */
export class TimedWriter {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #timeoutMs: number;

  constructor(writable: WritableStream<Uint8Array>, timeoutMs: number) {
    this.#writer = writable.getWriter();
    this.#timeoutMs = timeoutMs;
    // The writer learns of the end from its next write.
    this.#writer.closed.catch(() => {});
  }

  /** False if the other side has gone, or does not read. Never rejects. */
  async write(bytes: Uint8Array): Promise<boolean> {
    return this.#isDone(this.#writer.write(bytes));
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
    const timer = setTimeout(() => void this.abort(), this.#timeoutMs);
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
