/**
 * A server at the other end of the client's sockets, inside workerd: it sends exactly the bytes
 * that it is told, in the pieces in which it is told them, and keeps what it gets.
 */
import type { SocketLike } from '../../../src/outgoing/connection.ts';
import type { OpenSocket } from '../../../src/outgoing/connection-pool.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import { bytesOf, headText, textOf } from './response-text.ts';

export type Handler = (connection: FakeConnection) => unknown;

export class FakeServer {
  readonly connections: FakeConnection[] = [];
  readonly addresses: { hostname: string; port: number; isSecure: boolean }[] = [];
  /** Called with each new connection. */
  handler: Handler;
  /** Before connections count as opened. */
  opening: Promise<unknown> = Promise.resolve();

  constructor(handler: Handler = () => {}) {
    this.handler = handler;
  }

  readonly open: OpenSocket = (address, isSecure) => {
    const connection = new FakeConnection(this.opening);
    this.addresses.push({ ...address, isSecure });
    this.connections.push(connection);
    void this.handler(connection);
    return connection.socket;
  };

  client(): HttpClient {
    return new HttpClient([], this.open);
  }

  get openCount(): number {
    return this.connections.filter(({ isClosed }) => !isClosed).length;
  }
}

export class FakeConnection {
  readonly socket: SocketLike;
  /** The text that the client has sent so far. */
  received = '';
  /** The client has closed it. */
  isClosed = false;
  readonly #toClient: WritableStreamDefaultWriter<Uint8Array>;
  #onReceived: () => void = () => {};

  constructor(opened: Promise<unknown>) {
    const down = new IdentityTransformStream();
    const up = new IdentityTransformStream();
    this.#toClient = down.writable.getWriter();
    this.#toClient.closed.catch(() => {});
    this.socket = {
      readable: down.readable,
      writable: up.writable,
      opened,
      closed: new Promise(() => {}),
      close: async () => {
        this.isClosed = true;
      },
    };
    void this.#receive(up.readable.getReader({ mode: 'byob' })).catch(() => {});
  }

  /** Until the client has sent this. */
  async until(text: string): Promise<void> {
    while (!this.received.includes(text)) await new Promise<void>((done) => (this.#onReceived = done));
  }

  /**
   * Sends each piece once the one before has been taken; what the client does not take any more is
   * lost.
   */
  async send(...pieces: (string | Uint8Array)[]): Promise<void> {
    for (const piece of pieces) {
      const bytes = typeof piece === 'string' ? bytesOf(piece) : piece;
      if (bytes.byteLength > 0) await this.#toClient.write(bytes).catch(() => {});
    }
  }

  /** FIN. */
  async end(): Promise<void> {
    await this.#toClient.close().catch(() => {});
  }

  /** RST. */
  async break(): Promise<void> {
    await this.#toClient.abort(new Error('connection reset')).catch(() => {});
  }

  /** Answers request after request; the last answer may end it. */
  async answer(...responses: string[]): Promise<void> {
    for (const response of responses) {
      await this.until('\r\n\r\n');
      this.received = '';
      await this.send(response);
    }
  }

  async #receive(reader: ReadableStreamBYOBReader): Promise<void> {
    for (;;) {
      const { value } = await reader.readAtLeast(1, new Uint8Array(64 * 1024));
      if (value === undefined || value.byteLength === 0) return;
      this.received += textOf(value);
      this.#onReceived();
    }
  }
}

export const URL_A = 'https://a.test/path';
export const OK = 'HTTP/1.1 200 OK';
export const HELLO = `${headText(OK, 'Content-Length: 5')}hello`;
export const CHUNKED_HELLO = `${headText(OK, 'Transfer-Encoding: chunked')}3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n`;

/** A server whose every connection answers so. */
export const answering = (...responses: string[]): FakeServer =>
  new FakeServer((connection) => connection.answer(...responses));

/** The outcome of an answer: its body, or the error's code. */
export async function outcome(answer: Promise<Response>): Promise<string> {
  try {
    return await (await answer).text();
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/** Until everything that can happen has happened. */
export const settled = (): Promise<void> => scheduler.wait(5);

/** A stream that its writer feeds. */
export function fedBody(): {
  body: ReadableStream<Uint8Array>;
  writer: WritableStreamDefaultWriter<Uint8Array>;
} {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  writer.closed.catch(() => {});
  return { body: readable, writer };
}
