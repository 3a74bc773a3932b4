/**
 * Sends the same request repeatedly, on few connections and without waiting for each answer
 * (HTTP/1.1 pipelining), so that the server's time dominates. A client that waited for every answer
 * would take more time than the service.
 */
import { type Socket, connect } from 'node:net';
import { once } from 'node:events';

const CONNECTIONS = 4;
const DEPTH = 32;

export class Pipeline {
  readonly #url: URL;
  readonly #request: string;
  /** Of one answer; all are alike. */
  readonly #answerBytes: number;

  private constructor(url: URL, request: string, answerBytes: number) {
    this.#url = url;
    this.#request = request;
    this.#answerBytes = answerBytes;
  }

  /**
   * Rejects if an answer is no 200. For the first one, the service may have to ask others: the
   * second is like all that follow.
   */
  static async open(address: string): Promise<Pipeline> {
    const url = new URL(address);
    const request = `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`;
    const socket = await connected(url);
    socket.write(request);
    await wholeAnswer(socket);
    socket.write(request);
    const answerBytes = await wholeAnswer(socket);
    socket.destroy();
    return new Pipeline(url, request, answerBytes);
  }

  /**
   * Milliseconds a request. On connections of its own: the service closes those that are idle while
   * others are measured.
   */
  async time(count: number): Promise<number> {
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => connected(this.#url)));
    const began = process.hrtime.bigint();
    const share = Math.ceil(count / CONNECTIONS / DEPTH);
    await Promise.all(sockets.map((socket) => this.#ask(socket, share)));
    const took = Number(process.hrtime.bigint() - began);
    for (const socket of sockets) socket.destroy();
    return took / 1e6 / (share * CONNECTIONS * DEPTH);
  }

  async #ask(socket: Socket, rounds: number): Promise<void> {
    const batch = this.#request.repeat(DEPTH);
    for (let round = 0; round < rounds; round++) {
      socket.write(batch);
      for (let left = this.#answerBytes * DEPTH; left > 0;) {
        const [chunk] = (await once(socket, 'data')) as [Buffer];
        left -= chunk.length;
        if (left < 0) throw new Error('an answer is longer than the first one');
      }
    }
  }
}

/** One that fails when the service closes it, and leaves nobody waiting. */
async function connected({ port, hostname }: URL): Promise<Socket> {
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket.once('end', () => socket.destroy(new Error('the service has closed the connection')));
}

/** The size of the answer that comes. */
async function wholeAnswer(socket: Socket): Promise<number> {
  let text = '';
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) continue;
    if (!text.startsWith('HTTP/1.1 200 ')) throw new Error(`answered with ${text.slice(0, 20)}`);
    const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
    if (length === undefined) throw new Error('the answer tells no length');
    const whole = end + 4 + Number(length);
    if (text.length >= whole) return whole;
  }
}
