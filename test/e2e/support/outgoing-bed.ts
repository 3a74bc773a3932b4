/**
 * The HTTP client in a real workerd, and servers of every kind for it to meet, all on this machine.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { build } from 'esbuild';
import { AUTHORITY, KEY } from './certificates.ts';
import type { Order, OrderedRequest, Outcome } from './outgoing-worker.ts';

export class OutgoingBed {
  readonly #url: string;
  readonly #dispose: () => Promise<void>;
  /** The addresses that the runtime's `fetch` was asked for. */
  readonly fetches: string[];

  private constructor(url: string, dispose: () => Promise<void>, fetches: string[]) {
    this.#url = url;
    this.#dispose = dispose;
    this.fetches = fetches;
  }

  static async start(): Promise<OutgoingBed> {
    // miniflare reads it when it is loaded: workerd then trusts this authority, and all those that
    // it always does.
    const folder = mkdtempSync(join(tmpdir(), 'gitveil-outgoing-'));
    const path = join(folder, 'authority.pem');
    writeFileSync(path, AUTHORITY);
    process.env['NODE_EXTRA_CA_CERTS'] = path;
    const { Miniflare, Response, convertV4MiniflareOptions } = await import('miniflare');
    delete process.env['NODE_EXTRA_CA_CERTS'];
    rmSync(folder, { recursive: true });

    const fetches: string[] = [];
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        name: 'outgoing',
        modules: true,
        script: await bundle(),
        compatibilityDate: '2026-11-01',
        compatibilityFlags: ['nodejs_compat'],
        bindings: { FETCH_HOSTS: 'fetched.test' },
        durableObjects: { REQUESTER: 'Requester' },
        unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
        cf: false,
        telemetry: { enabled: false },
        outboundService({ method, url, headers }) {
          fetches.push(`${method} ${url} for ${headers.get('X-Real-IP')}`);
          return new Response('fetched');
        },
      }),
    );
    const url = await miniflare.unsafeGetDirectURL('outgoing');
    return new OutgoingBed(url.href, () => miniflare.dispose(), fetches);
  }

  /** Requests of one client, one after the other. */
  ask(...requests: OrderedRequest[]): Promise<Outcome[]> {
    return this.#carryOut('', { requests });
  }

  /** In a Durable Object of this name. */
  askIn(object: string, ...requests: OrderedRequest[]): Promise<Outcome[]> {
    return this.#carryOut(object, { requests });
  }

  async #carryOut(path: string, order: Order): Promise<Outcome[]> {
    const response = await fetch(`${this.#url}${path}`, { method: 'POST', body: JSON.stringify(order) });
    return response.json<Outcome[]>();
  }

  stop(): Promise<void> {
    return this.#dispose();
  }
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'outgoing-worker.ts')],
    bundle: true,
    format: 'esm',
    target: 'es2024',
    external: ['cloudflare:*', 'node:*'],
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

/** A server that does with each connection what a test says. */
export class RawServer {
  readonly url: string;
  /** All connections so far. */
  readonly connections: RawPeer[];
  readonly #server: Server;

  private constructor(server: Server, connections: RawPeer[], url: string) {
    this.#server = server;
    this.connections = connections;
    this.url = url;
  }

  /** @param certificate with TLS, and this certificate. */
  static async start(serve: (peer: RawPeer) => unknown, certificate?: string): Promise<RawServer> {
    const connections: RawPeer[] = [];
    const meet = (socket: Socket): void => {
      const peer = new RawPeer(socket);
      connections.push(peer);
      void serve(peer);
    };
    const server =
      certificate === undefined
        ? createServer({ allowHalfOpen: true }, meet)
        : createTlsServer({ key: KEY, cert: certificate }, meet);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const url = certificate === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
    return new RawServer(server, connections, url);
  }

  get openCount(): number {
    return this.connections.filter(({ isOpen }) => isOpen).length;
  }

  async stop(): Promise<void> {
    for (const { socket } of this.connections) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export class RawPeer {
  readonly socket: Socket;
  received = '';
  isOpen = true;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => (this.received += bytes.toString('latin1')));
    socket.on('close', () => (this.isOpen = false));
    socket.on('end', () => socket.end());
    socket.on('error', () => {});
  }

  /** Until the client has sent this, or is gone. */
  async until(text: string): Promise<void> {
    while (!this.received.includes(text) && this.isOpen) {
      await Promise.race([once(this.socket, 'data'), once(this.socket, 'close')]).catch(() => {});
    }
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Answers request after request. */
  async answer(...responses: (string | Uint8Array)[]): Promise<void> {
    for (const response of responses) {
      await this.until('\r\n\r\n');
      this.received = '';
      this.send(response);
    }
  }
}
