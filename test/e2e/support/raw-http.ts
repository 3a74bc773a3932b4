/**
 * HTTP by a bare socket, for what no HTTP library sends: half a body, a path that is not
 * normalised, wrong framing, a client that vanishes.
 */
import { connect, type Socket } from 'node:net';
import type { Person } from './person.ts';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** How long to wait for an answer that never comes. */
const PATIENCE_MS = 30_000;

export class RawConnection {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #ended = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => (this.#received = Buffer.concat([this.#received, chunk])));
    socket.on('close', () => (this.#ended = true));
    // A reset while we still write: what came before it counts.
    socket.on('error', () => (this.#ended = true));
  }

  static open(serviceUrl: string): Promise<RawConnection> {
    const { hostname, port } = new URL(serviceUrl);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => resolve(new RawConnection(socket)));
      socket.once('error', reject);
    });
  }

  send(bytes: string | Uint8Array): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** The request line and headers of a POST. @param path as it goes out, whatever it is. */
  sendHead(
    path: string,
    person: Person | null,
    headers: Readonly<Record<string, string>>,
    method = 'POST',
  ): void {
    const all = {
      Host: 'service.test',
      ...person?.headers,
      'User-Agent': person?.userAgent ?? 'test',
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    this.send(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  }

  /** One chunk of a body in chunked coding; the empty one ends it. */
  sendChunk(bytes: Uint8Array): void {
    // In one write: a second one to a server that has closed would fail at once, before its answer
    // is read.
    this.send(
      Buffer.concat([Buffer.from(`${bytes.byteLength.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]),
    );
  }

  /** Says that nothing more will come, and goes on listening. */
  end(): void {
    this.#socket.end();
  }

  /** Stays connected and reads nothing from now on. */
  stopReading(): void {
    this.#socket.pause();
  }

  readAgain(): void {
    this.#socket.resume();
  }

  /** Is gone, without a word. */
  vanish(): void {
    this.#socket.destroy();
  }

  /** The part of the answer that has come so far, as it came. */
  get text(): string {
    return this.#received.toString('latin1');
  }

  /** Waits until so many bytes of the answer have come, or the connection is closed. */
  async received(bytes: number): Promise<void> {
    while (this.#received.length < bytes && !this.#ended)
      await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** The answer; null if the connection is closed without one. */
  async answer(): Promise<RawAnswer | null> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const answer = parseAnswer(this.#received, this.#ended);
      if (answer !== null || this.#ended) return answer;
      if (Date.now() > deadline) throw new Error('no answer in time');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** Parses an answer; null while it is incomplete. */
function parseAnswer(bytes: Buffer, isEnded: boolean): RawAnswer | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
  const rest = bytes.subarray(headEnd + 4);
  // An interim answer: the real one follows.
  if (status === 100) return parseAnswer(rest, isEnded);
  const body = bodyOf(rest, headers, isEnded);
  return body === null ? null : { status, headers, body };
}

function bodyOf(bytes: Buffer, headers: Record<string, string>, isEnded: boolean): Buffer | null {
  if (headers['transfer-encoding'] === 'chunked') return unchunk(bytes);
  if (headers['content-length'] === undefined) return isEnded ? bytes : null;
  const length = Number(headers['content-length']);
  return bytes.length < length ? null : bytes.subarray(0, length);
}

function unchunk(bytes: Buffer): Buffer | null {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    at = lineEnd + 2;
    if (bytes.length < at + size + 2) return null;
    if (size === 0) return Buffer.concat(pieces);
    pieces.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
}
