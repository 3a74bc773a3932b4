/**
 * A TCP or TLS connection that can be ended at once. It avoids these traps of the platform's
 * sockets, all seen in workerd:
 *
 * - `close()` waits for a pending write, so a server that does not read would block it for ever.
 *   `abort()` ends the write, but then workerd closes the connection only when the client's request
 *   is over. So it is called only for a pending write.
 * - A connection that the server has closed looks sound until somebody reads it. So an idle one has
 *   a pending read.
 * - BYOB reads are ten times faster than others.
 *
 * Proved by test/outgoing/connection-pool.test.ts and test/durable/asleep.test.ts.
 */
import { OutgoingError } from './outgoing-error.ts';

/** The part of the platform's `Socket` that is used. */
export interface SocketLike {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  readonly opened: Promise<unknown>;
  readonly closed: Promise<unknown>;
  close(): Promise<void>;
}

/** Size of the first reads, enough for most answers of a REST interface. */
const FIRST_READ_BYTES = 16 * 1024;
/** Size of reads after one has filled its buffer. */
const LONG_READ_BYTES = 256 * 1024;

export class Connection {
  /** The scheme, host and port. */
  readonly origin: string;
  readonly #socket: SocketLike;
  readonly #reader: ReadableStreamBYOBReader;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  #buffer = new ArrayBuffer(FIRST_READ_BYTES);
  /** The pending read of an idle connection, which is awaited when the connection is used again. */
  #reading: Promise<ReadableStreamReadResult<Uint8Array>> | null = null;
  #isResting = false;
  #isWriting = false;
  #failure: unknown = null;
  readonly #destroyed = Promise.withResolvers<void>();

  constructor(origin: string, socket: SocketLike) {
    this.origin = origin;
    this.#socket = socket;
    this.#reader = socket.readable.getReader({ mode: 'byob' });
    this.#writer = socket.writable.getWriter();
    // Failures reach the caller through `read` and `write`.
    for (const fate of [socket.opened, socket.closed, this.#reader.closed, this.#writer.closed]) {
      fate.catch(() => {});
    }
  }

  /**
   * Waits until the connection is open.
   * @throws OutgoingError `unreachable`, or the cause given to `destroy`.
   */
  async opened(timeoutMs: number): Promise<void> {
    const timer = this.#destroyAfter(timeoutMs, 'unreachable', 'the server does not answer');
    const broken = (error: unknown): void =>
      this.destroy(new OutgoingError('unreachable', 'the server cannot be reached', error));
    try {
      // If a socket is closed before it is connected, the platform may never settle `opened`.
      await Promise.race([this.#socket.opened.catch(broken), this.#destroyed.promise]);
    } finally {
      clearTimeout(timer);
    }
    if (this.#failure !== null) throw this.#failure;
  }

  /**
   * Reads the next bytes, which are valid until the next read.
   * @returns null at the end.
   * @throws OutgoingError, or the cause given to `destroy`.
   */
  async read(timeoutMs: number | null): Promise<Uint8Array | null> {
    const reading = this.#reading ?? this.#startReading();
    this.#reading = null;
    const timer = this.#destroyAfter(timeoutMs, 'stalled', 'the server has stopped sending');
    try {
      const { value } = await reading;
      if (value === undefined || value.byteLength === 0) return null;
      const capacity = value.buffer.byteLength;
      const isToGrow = value.byteLength === capacity && capacity < LONG_READ_BYTES;
      this.#buffer = isToGrow ? new ArrayBuffer(LONG_READ_BYTES) : (value.buffer as ArrayBuffer);
      return value;
    } catch (error) {
      throw this.#failure ?? new OutgoingError('broken-off', 'the connection broke', error);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Writes bytes.
   * @returns false if the connection does not take them. A read then gives what the server has
   * answered, or fails with the reason.
   */
  async write(bytes: Uint8Array): Promise<boolean> {
    this.#isWriting = true;
    try {
      await this.#writer.write(bytes);
      return true;
    } catch {
      return false;
    } finally {
      this.#isWriting = false;
    }
  }

  /**
   * Watches an idle connection until `wake` is called. If the server closes it, or sends anything
   * unasked, it is destroyed and `onEnd` called.
   */
  rest(onEnd: () => void): void {
    this.#reading = this.#startReading();
    this.#isResting = true;
    const ended = () => {
      if (!this.#isResting) return;
      this.destroy(new OutgoingError('broken-off', 'the server has closed the connection'));
      onEnd();
    };
    this.#reading.then(ended, ended);
  }

  /** Ends watching, before the connection is used again. */
  wake(): void {
    this.#isResting = false;
  }

  /** Ends the connection at once. Pending reads fail with `cause`. */
  destroy(cause: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = cause;
    this.#destroyed.resolve();
    const reason = cause instanceof Error ? cause : new Error('destroyed');
    const ends = [this.#reader.cancel(reason), this.#socket.close()];
    if (this.#isWriting) ends.push(this.#writer.abort(reason));
    // The caller has a cause already. How the platform ends the parts adds nothing.
    for (const end of ends) end.catch(() => {});
  }

  #startReading() {
    return this.#reader.readAtLeast(1, new Uint8Array(this.#buffer));
  }

  #destroyAfter(ms: number | null, ...why: readonly ['unreachable' | 'stalled', string]) {
    return ms === null ? undefined : setTimeout(() => this.destroy(new OutgoingError(...why)), ms);
  }
}
