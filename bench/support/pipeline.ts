/**
 * Sends the same request repeatedly, on few connections and without waiting for each answer (HTTP/1.1 pipelining), so
 * that the server's time dominates. A client that waited for every answer would take more time than the service.
 */
import { type Socket, connect } from 'node:net';
import { once } from 'node:events';

const CONNECTIONS = 4;
const DEPTH = 32;

export class Pipeline {
  readonly #sockets: readonly Socket[];
  readonly #request: string;
  /** Of one answer; all are alike. */
  readonly #answerBytes: number;

  private constructor(sockets: readonly Socket[], request: string, answerBytes: number) {
    this.#sockets = sockets;
    this.#request = request;
    this.#answerBytes = answerBytes;
  }

  /** Rejects if an answer is no 200. For the first one, the service may have to ask others: the second is like all that follow. */
  static async open(url: string): Promise<Pipeline> {
    const { hostname, port, host, pathname } = new URL(url);
    const request = `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    const sockets = Array.from({ length: CONNECTIONS }, () => connect(Number(port), hostname));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const [first] = sockets as [Socket];
    first.write(request);
    await wholeAnswer(first);
    first.write(request);
    return new Pipeline(sockets, request, await wholeAnswer(first));
  }

  /** Milliseconds a request. */
  async time(count: number): Promise<number> {
    const began = process.hrtime.bigint();
    const share = Math.ceil(count / CONNECTIONS / DEPTH);
    await Promise.all(this.#sockets.map((socket) => this.#ask(socket, share)));
    return Number(process.hrtime.bigint() - began) / 1e6 / (share * CONNECTIONS * DEPTH);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
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
