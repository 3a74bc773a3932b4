/**
 * Sends requests at a steady rate, without waiting for their answers, while something else is
 * measured.
 */
import { type Socket, connect } from 'node:net';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

const TICK_MS = 10;
const LAST_ANSWERS_MS = 2_000;
const OK = 'HTTP/1.1 200';

export interface LoadRequest {
  readonly url: string;
  /** Default: GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body in ASCII. */
  readonly body?: string;
}

function textOf({ url, method = 'GET', headers = {}, body = '' }: LoadRequest): string {
  const { pathname, host } = new URL(url);
  const all = { Host: host, ...headers, ...(body !== '' && { 'Content-Length': String(body.length) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

export class SteadyLoad {
  readonly #sockets: readonly Socket[];
  readonly #timer: NodeJS.Timeout;
  #sent = 0;
  #succeeded = 0;

  private constructor(sockets: readonly Socket[], requests: readonly string[], perTick: number) {
    this.#sockets = sockets;
    for (const socket of sockets) {
      socket.setEncoding('latin1');
      socket.on('data', (text) => (this.#succeeded += text.toString().split(OK).length - 1));
    }
    this.#timer = setInterval(() => {
      for (const [index, socket] of sockets.entries()) socket.write(requests[index]?.repeat(perTick) ?? '');
      this.#sent += perTick * sockets.length;
    }, TICK_MS);
  }

  /**
   * Opens one connection for each request, and repeats it there.
   * @param perSecond requests of all connections together.
   */
  static async start(requests: readonly LoadRequest[], perSecond: number): Promise<SteadyLoad> {
    const sockets = requests.map(({ url }) => connect(Number(new URL(url).port), new URL(url).hostname));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const perTick = Math.ceil((perSecond * TICK_MS) / 1000 / requests.length);
    return new SteadyLoad(sockets, requests.map(textOf), perTick);
  }

  /**
   * Waits for the last answers. Throws if fewer than nine of ten requests were answered: then the
   * load was not what it should have been.
   */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (let waited = 0; this.#succeeded < this.#sent && waited < LAST_ANSWERS_MS; waited += TICK_MS) {
      await setTimeout(TICK_MS);
    }
    for (const socket of this.#sockets) socket.destroy();
    if (this.#succeeded < 0.9 * this.#sent) {
      throw new Error(`of ${this.#sent} requests in the background only ${this.#succeeded} were answered`);
    }
  }
}
