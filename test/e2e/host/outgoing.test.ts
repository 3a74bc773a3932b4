/**
 * The HTTP client in workerd, over real sockets: every byte that arrives, and servers that behave
 * badly.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CERTIFICATE, SELF_SIGNED } from '../support/certificates.ts';
import { OutgoingBed, type RawPeer, RawServer } from '../support/outgoing-bed.ts';

const HUNDRED_MB = 100_000_000;
const HELLO = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

let bed: OutgoingBed;
const servers: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  bed = await OutgoingBed.start();
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
afterAll(() => bed.stop());

async function raw(serve: (peer: RawPeer) => unknown, certificate?: string): Promise<RawServer> {
  const server = await RawServer.start(serve, certificate);
  servers.push(server);
  return server;
}

/** A server with Node's own HTTP: what others understand. */
async function http(
  handler: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server: Server = createServer((request, response) => void handler(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push({
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

describe('what arrives at a server', () => {
  it('is what the client has written, and nothing of the runtime’s', async () => {
    const seen: string[] = [];
    const { url } = await raw(async (peer) => {
      for (;;) {
        await peer.until('\r\n\r\n');
        seen.push(peer.received);
        peer.received = '';
        peer.send(HELLO);
        if (seen.length === 2) return;
      }
    });
    const headers = { Authorization: 'Bearer x', 'User-Agent': 'gitveil', 'Content-Type': 'text/plain' };
    const outcomes = await bed.ask({ url: `${url}/a?b` }, { url, method: 'POST', headers, body: 'text' });
    expect(outcomes).toMatchObject([{ text: 'hello' }, { text: 'hello' }]);
    const { host } = new URL(url);
    expect(seen).toEqual([
      `GET /a?b HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: gzip\r\n\r\n`,
      `POST / HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: gitveil\r\nAuthorization: Bearer x\r\n` +
        'Content-Type: text/plain\r\nAccept-Encoding: gzip\r\nContent-Length: 4\r\n\r\ntext',
    ]);
    expect(bed.fetches).toEqual([]);
  });

  it('is by fetch where the operator says so', async () => {
    const headers = { Accept: '*/*' };
    const [fetched, strange] = await bed.ask(
      { url: 'https://fetched.test/path', headers },
      { url: 'https://fetched.test/path', headers: { 'X-Real-IP': '198.51.100.1' } },
    );
    expect(fetched).toMatchObject({ status: 200, text: 'fetched' });
    expect(strange?.error).toContain('x-real-ip');
    expect(bed.fetches.splice(0)).toEqual(['GET https://fetched.test/path for 192.0.2.1']);
  });
});

describe('a connection', () => {
  it('is used again by the next call to the same Durable Object', async () => {
    const server = await raw((peer) => peer.answer(HELLO, HELLO));
    for (let call = 0; call < 2; call++) {
      expect(await bed.askIn('one', { url: server.url })).toMatchObject([{ text: 'hello' }]);
    }
    expect(server.connections).toHaveLength(1);
  });

  it('goes to IPv6 addresses', async () => {
    const server = createServer((_, response) => response.end('six')).listen(0, '::1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const outcomes = await bed.ask({ url: `http://[::1]:${port}/` });
    server.closeAllConnections();
    server.close();
    expect(outcomes).toMatchObject([{ text: 'six' }]);
  });

  it.each(['http://127.0.0.1:1/', 'http://nohost.invalid/'])('cannot be had: %s', async (url) => {
    const [outcome] = await bed.ask({ url });
    expect(outcome?.error).toBe('OutgoingError: the server cannot be reached');
  });
});

const answering = (peer: RawPeer) => peer.answer(HELLO);

describe('TLS', () => {
  it('is spoken with a server whose certificate is good', async () => {
    const { url } = await raw(answering, CERTIFICATE);
    expect(await bed.ask({ url })).toMatchObject([{ text: 'hello' }]);
  });

  it('is not spoken with a server whose certificate is signed by itself', async () => {
    const server = await raw(answering, SELF_SIGNED);
    const [outcome] = await bed.ask({ url: server.url, headers: { Authorization: 'Bearer secret' } });
    expect(outcome?.error).toMatch(/^OutgoingError/);
    expect(server.connections.map(({ received }) => received).join('')).toBe('');
  });

  it('is not spoken with a server whose certificate is for another name', async () => {
    const server = await raw(answering, CERTIFICATE);
    const [outcome] = await bed.ask({ url: server.url.replace('localhost', '127.0.0.1') });
    expect(outcome?.error).toMatch(/^OutgoingError/);
    expect(server.connections.map(({ received }) => received).join('')).toBe('');
  });

  it('is given up where the server says nothing', async () => {
    const server = await raw(() => {});
    const url = server.url.replace('http:', 'https:');
    const [outcome] = await bed.ask({ url, timeoutMs: 200 });
    expect(outcome?.error).toMatch(/^TimeoutError/);
    await expect.poll(() => server.openCount).toBe(0);
  });
});

describe('a server that behaves badly', () => {
  const COUNTED = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello';

  it.each([
    ['closes at once', (peer: RawPeer) => peer.socket.end()],
    ['resets at once', (peer: RawPeer) => peer.socket.resetAndDestroy()],
    ['closes in the head', (peer: RawPeer) => peer.socket.end('HTTP/1.1 200')],
    ['closes in the body', (peer: RawPeer) => peer.socket.end(COUNTED)],
  ])('is an error: it %s', async (_, misbehave) => {
    const { url } = await raw(async (peer) => {
      await peer.until('\r\n\r\n');
      misbehave(peer);
    });
    const [outcome] = await bed.ask({ url });
    expect(outcome?.error).toMatch(/^OutgoingError: the connection/);
  });

  it('and says nothing is given up when the caller’s time is over', async () => {
    const server = await raw(() => {});
    const [outcome] = await bed.ask({ url: server.url, timeoutMs: 200 });
    expect(outcome?.error).toMatch(/^TimeoutError/);
    await expect.poll(() => server.openCount).toBe(0);
  });

  it('and answers before it has read the request is heard', async () => {
    const url = await http((request, response) => {
      response.writeHead(413).end('too much');
      request.resume();
    });
    const body = { bytes: HUNDRED_MB };
    expect(await bed.ask({ url, method: 'POST', body })).toMatchObject([{ status: 413, text: 'too much' }]);
  });
});

describe('a client that breaks off', () => {
  it.each([true, false])('in its body leaves no whole request behind: announced %s', async (announced) => {
    let isWhole = false;
    let wasBroken = false;
    const url = await http((request) => {
      request.resume();
      request.on('end', () => (isWhole = true));
      request.on('error', () => (wasBroken = true));
    });
    const body = { bytes: 1_000_000, announced, breaksOff: true };
    const [outcome] = await bed.ask({ url, method: 'POST', body });
    expect(outcome?.error).toBe('Error: broken off');
    await expect.poll(() => wasBroken).toBe(true);
    expect(isWhole).toBe(false);
  });

  it('in the server’s body ends the connection', async () => {
    const server = await raw(async (peer) => {
      await peer.until('\r\n\r\n');
      peer.send('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n');
      while (peer.isOpen) {
        peer.send(Buffer.alloc(100_000));
        await new Promise(setImmediate);
      }
    });
    const [outcome] = await bed.askIn('given up', { url: server.url, read: 'given up' });
    expect(outcome?.bytes).toBeGreaterThan(0);
    await expect.poll(() => server.openCount).toBe(0);
  });
});
