/** When connections are used again, how many there are, and when they are given up. */
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CONNECT_TIMEOUT_MS, IDLE_TIMEOUT_MS, MAX_OPEN } from '../../src/outgoing/connection-pool.ts';
import { STALL_TIMEOUT_MS } from '../../src/outgoing/exchange.ts';
import { HttpClient } from '../../src/outgoing/http-client.ts';
import {
  answering,
  CHUNKED_HELLO,
  FakeServer,
  fedBody,
  HELLO,
  OK,
  outcome,
  settled,
  URL_A,
} from './support/fake-server.ts';
import { headText } from './support/response-text.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('a connection', () => {
  it.each([
    ['a length', HELLO],
    ['chunks', CHUNKED_HELLO],
    ['no body', headText('HTTP/1.1 304 X')],
  ])('is used again after a response with %s', async (_, text) => {
    const server = answering(text, text, text);
    const client = server.client();
    const bodies = [];
    for (let index = 0; index < 3; index++) bodies.push(await outcome(client.fetch(URL_A)));
    expect(new Set(bodies).size).toBe(1);
    expect(server.connections).toHaveLength(1);
  });

  it('is used again after a body that was streamed slowly', async () => {
    const server = new FakeServer(async (connection) => {
      for (let round = 0; round < 2; round++) {
        await connection.until('\r\n\r\n');
        connection.received = '';
        await connection.send(...CHUNKED_HELLO.split(''));
      }
    });
    const client = server.client();
    expect(await outcome(client.fetch(URL_A))).toBe('hello');
    expect(await outcome(client.fetch(URL_A))).toBe('hello');
    expect(server.connections).toHaveLength(1);
  });

  it('is used again after a request with a body', async () => {
    const server = answering(HELLO, HELLO, HELLO);
    const client = server.client();
    for (const method of ['POST', 'PATCH', 'GET']) {
      const body = method === 'GET' ? null : 'text';
      expect(await outcome(client.fetch(URL_A, { method, body }))).toBe('hello');
    }
    expect(server.connections).toHaveLength(1);
  });

  it('that cannot be had leaves no producer of a body waiting', async () => {
    const server = new FakeServer();
    server.opening = Promise.reject(new Error('refused'));
    const { body, writer } = fedBody();
    expect(await outcome(server.client().fetch(URL_A, { method: 'POST', body }))).toBe('unreachable');
    await expect(writer.write(new Uint8Array(1))).rejects.toThrow();
  });

  it('is left to the next request by whoever gives up what is left of an inflated body', async () => {
    const packed = gzipSync(new Uint8Array(100 * 1024));
    const [asked, cancelled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const server = new FakeServer(async (connection) => {
      await connection.until('\r\n\r\n');
      connection.received = '';
      await connection.send(
        headText(OK, 'Content-Encoding: gzip', `Content-Length: ${packed.length}`),
        packed,
      );
      await connection.until('\r\n\r\n');
      asked.resolve();
      await cancelled.promise;
      await connection.send(HELLO);
    });
    const client = server.client();
    const { body } = await client.fetch(URL_A);
    const reader = (body as ReadableStream<Uint8Array>).getReader({ mode: 'byob' });
    await reader.readAtLeast(1, new Uint8Array(64 * 1024));
    await settled();
    const answer = outcome(client.fetch(URL_A));
    await asked.promise;
    await reader.cancel();
    await settled();
    cancelled.resolve();
    expect(await answer).toBe('hello');
    expect(server.connections).toHaveLength(1);
  });

  it('is for one server', async () => {
    const server = answering(HELLO, HELLO);
    const client = server.client();
    for (const url of [URL_A, 'http://a.test/', 'https://b.test/', 'https://a.test:8443/'])
      await client.fetch(url);
    expect(server.connections).toHaveLength(4);
  });

  it.each([
    ['says so', `${headText(OK, 'Connection: Close', 'Content-Length: 5')}hello`],
    ['says so among other things', `${headText(OK, 'Connection: x, close', 'Content-Length: 5')}hello`],
    ['speaks HTTP/1.0', `${headText('HTTP/1.0 200 OK', 'Content-Length: 5')}hello`],
    ['sends more than its response', `${HELLO}x`],
    ['sends a second response', `${HELLO}${HELLO}`],
    ['sends a second response behind chunks', `${CHUNKED_HELLO}${HELLO}`],
    ['sends a body where there is none', `${headText('HTTP/1.1 304 X')}hello`],
  ])('is not used again if the server %s', async (_, text) => {
    const server = answering(text, HELLO);
    const client = server.client();
    await outcome(client.fetch(URL_A));
    server.handler = (connection) => connection.answer(`${headText(OK, 'Content-Length: 5')}other`);
    expect(await outcome(client.fetch(URL_A))).toBe('other');
    expect(server.connections.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  });

  it('is not used again if the server says something while it is idle', async () => {
    const server = new FakeServer(async (connection) => {
      await connection.answer(HELLO);
      await connection.send(`${headText(OK, 'Content-Length: 4')}evil`);
    });
    const client = server.client();
    expect(await outcome(client.fetch(URL_A))).toBe('hello');
    await settled();
    expect(server.connections[0]?.isClosed).toBe(true);
    server.handler = (connection) => connection.answer(HELLO);
    expect(await outcome(client.fetch(URL_A))).toBe('hello');
  });

  it('is not used again once the server has closed it', async () => {
    const server = new FakeServer(async (connection) => {
      await connection.answer(HELLO);
      await connection.end();
    });
    const client = server.client();
    for (let index = 0; index < 3; index++) {
      expect(await outcome(client.fetch(URL_A, { method: 'POST', body: 'x' }))).toBe('hello');
      await settled();
    }
    expect(server.connections).toHaveLength(3);
    expect(server.openCount).toBe(0);
  });

  it('is new for a body that cannot be sent twice', async () => {
    const server = answering(HELLO, HELLO);
    const client = server.client();
    await client.fetch(URL_A);
    const { body, writer } = fedBody();
    const answer = client.fetch(URL_A, { method: 'POST', body });
    await writer.close();
    expect(await outcome(answer)).toBe('hello');
    expect(server.connections).toHaveLength(2);
  });
});

/** Takes the second request, and hangs up on it. */
const closing = () =>
  new FakeServer(async (connection) => {
    await connection.answer(HELLO);
    await connection.until('\r\n\r\n');
    await connection.break();
  });

describe('a connection that the server closes as it is used again', () => {
  it.each(['GET', 'HEAD'])('is replaced once for %s', async (method) => {
    const server = closing();
    const client = server.client();
    await client.fetch(URL_A);
    server.handler = (connection) => connection.answer(headText(OK, 'Content-Length: 0'));
    expect((await client.fetch(URL_A, { method })).status).toBe(200);
    expect(server.connections).toHaveLength(2);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'is an error for %s, which may have been done',
    async (method) => {
      const server = closing();
      const client = server.client();
      await client.fetch(URL_A);
      expect(await outcome(client.fetch(URL_A, { method }))).toBe('broken-off');
      expect(server.connections).toHaveLength(1);
    },
  );

  it('is an error where a response has begun', async () => {
    const server = new FakeServer(async (connection) => {
      await connection.answer(HELLO);
      await connection.until('\r\n\r\n');
      await connection.send('H');
      await connection.break();
    });
    const client = server.client();
    await client.fetch(URL_A);
    expect(await outcome(client.fetch(URL_A))).toBe('broken-off');
    expect(server.connections).toHaveLength(1);
  });

  it('is replaced by a new one, not by another that stood idle as long', async () => {
    const server = closing();
    const client = server.client();
    await Promise.all([client.fetch(URL_A), client.fetch(URL_A)]);
    server.handler = (connection) => connection.answer(HELLO);
    expect(await outcome(client.fetch(URL_A))).toBe('hello');
    expect(server.connections).toHaveLength(3);
  });

  it('is an error where a new one is no better', async () => {
    const server = closing();
    const client = server.client();
    await client.fetch(URL_A);
    server.handler = (connection) => connection.break();
    expect(await outcome(client.fetch(URL_A))).toBe('broken-off');
    expect(server.connections).toHaveLength(2);
  });
});

describe('many requests at once', () => {
  it('share a few connections, and each gets its own answer', async () => {
    const server = new FakeServer(async (connection) => {
      for (;;) {
        await connection.until('\r\n\r\n');
        const path = /GET (\S+)/.exec(connection.received)?.[1] ?? '';
        connection.received = '';
        await scheduler.wait(1);
        await connection.send(`${headText(OK, `Content-Length: ${path.length}`)}${path}`);
      }
    });
    const client = server.client();
    const paths = Array.from({ length: 40 }, (_, index) => `/${index}`);
    const urls = paths.map((path, index) => `https://${index % 3 === 0 ? 'a' : 'b'}.test${path}`);
    expect(await Promise.all(urls.map((url) => outcome(client.fetch(url))))).toEqual(paths);
    expect(server.openCount).toBeLessThanOrEqual(MAX_OPEN);
  });

  it('do not wait for a connection that stands idle for another server', async () => {
    const server = answering(HELLO);
    const client = server.client();
    await Promise.all(Array.from({ length: 3 }, () => client.fetch(URL_A)));
    server.handler = () => {};
    const held = ['https://b.test/', 'https://b.test/'].map((url) => outcome(client.fetch(url)));
    await settled();
    expect(server.openCount).toBe(MAX_OPEN);
    server.handler = (connection) => connection.answer(HELLO);
    const answer = outcome(client.fetch('https://c.test/'));
    await settled();
    expect(server.addresses.at(-1)?.hostname).toBe('c.test');
    expect([await answer, server.openCount]).toEqual(['hello', MAX_OPEN]);
    for (const connection of server.connections) await connection.break();
    await Promise.all(held);
  });

  it('wait for their turn, and may give up meanwhile', async () => {
    const server = new FakeServer();
    const client = server.client();
    const held = Array.from({ length: MAX_OPEN }, () => client.fetch(URL_A));
    const given = new AbortController();
    const impatient = outcome(client.fetch(URL_A, { signal: given.signal }));
    const patient = outcome(client.fetch(URL_A));
    await settled();
    expect(server.connections).toHaveLength(MAX_OPEN);
    given.abort(new Error('enough'));
    expect(await impatient).toBe('Error: enough');
    await server.connections[0]?.send(HELLO);
    await server.connections[0]?.answer(HELLO);
    expect(await outcome(held[0] as Promise<Response>)).toBe('hello');
    await server.connections[0]?.send(HELLO);
    expect(await patient).toBe('hello');
    expect(server.connections).toHaveLength(MAX_OPEN);
    for (const connection of server.connections) void connection.break();
    await Promise.allSettled(held);
  });

  it('to other servers do not wait for what is idle', async () => {
    const server = answering(HELLO);
    const client = server.client();
    const urls = Array.from({ length: 12 }, (_, index) => `https://${index}.test/`);
    for (const url of urls) expect(await outcome(client.fetch(url))).toBe('hello');
    expect(server.openCount).toBeLessThanOrEqual(3);
  });
});

const push = (client: HttpClient, body: ReadableStream<Uint8Array>): Promise<Response> =>
  client.fetch(URL_A, { method: 'POST', body });

describe('a connection that is opened ahead', () => {
  it('is taken by the next request', async () => {
    const server = answering(HELLO);
    const client = server.client();
    await client.openAhead(URL_A);
    expect(await outcome(client.fetch(URL_A))).toBe('hello');
    expect(server.connections).toHaveLength(1);
  });

  it('is waited for while it is on its way, by one request alone', async () => {
    const opening = Promise.withResolvers<void>();
    const server = answering(HELLO);
    server.opening = opening.promise;
    const client = server.client();
    void client.openAhead(URL_A);
    const responses = [client.fetch(URL_A), client.fetch(URL_A)];
    await settled();
    expect(server.connections).toHaveLength(2);
    opening.resolve();
    expect(await Promise.all(responses.map(outcome))).toEqual(['hello', 'hello']);
    expect(server.connections).toHaveLength(2);
  });

  it('for a stream is left alone by all other requests', async () => {
    const server = answering(HELLO);
    const client = server.client();
    await client.openAhead(URL_A, { isForStream: true });
    expect(await outcome(client.fetch(URL_A))).toBe('hello');
    expect(server.connections).toHaveLength(2);
    const { body, writer } = fedBody();
    const pushed = push(client, body);
    await writer.close();
    expect(await outcome(pushed)).toBe('hello');
    expect(server.connections).toHaveLength(2);
  });

  it('is opened once, and not where one is free', async () => {
    const server = answering(HELLO);
    const client = server.client();
    await Promise.all([client.openAhead(URL_A), client.openAhead(URL_A)]);
    await client.openAhead(URL_A);
    expect(server.connections).toHaveLength(1);
  });

  it('is replaced if the server has closed it meanwhile', async () => {
    const server = answering(HELLO);
    const client = server.client();
    await client.openAhead(URL_A, { isForStream: true });
    await server.connections[0]?.end();
    await settled();
    const { body, writer } = fedBody();
    const pushed = push(client, body);
    await writer.close();
    expect(await outcome(pushed)).toBe('hello');
    expect(server.connections).toHaveLength(2);
  });

  it('that cannot be had is told to whoever wants one', async () => {
    const server = new FakeServer();
    server.opening = Promise.reject(new Error('refused'));
    const client = server.client();
    await client.openAhead(URL_A);
    expect(await outcome(client.fetch(URL_A))).toBe('unreachable');
  });

  it('is not opened to a server that the runtime asks', async () => {
    const server = new FakeServer();
    const client = new HttpClient([new URL(URL_A).hostname], server.open);
    await client.openAhead(URL_A);
    expect(server.connections).toEqual([]);
  });
});

describe('a signal', () => {
  const reason = new DOMException('enough', 'TimeoutError');

  it('that has come already leaves no connection', async () => {
    const server = answering(HELLO);
    await expect(server.client().fetch(URL_A, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.connections).toEqual([]);
  });

  it.each([
    ['before the connection stands', (server: FakeServer) => void (server.opening = new Promise(() => {}))],
    ['before the response begins', () => {}],
    [
      'in the head',
      (server: FakeServer) => void (server.handler = (connection) => connection.send('HTTP/1')),
    ],
  ])('ends it %s', async (_, prepare) => {
    const server = new FakeServer();
    prepare(server);
    const given = new AbortController();
    const answer = server.client().fetch(URL_A, { signal: given.signal });
    await settled();
    given.abort(reason);
    await expect(answer).rejects.toBe(reason);
    expect(server.openCount).toBe(0);
  });

  it('ends it in the body', async () => {
    const server = new FakeServer((connection) => connection.send(headText(OK, 'Content-Length: 5'), 'hel'));
    const given = new AbortController();
    const answer = await server.client().fetch(URL_A, { signal: given.signal });
    const text = answer.text();
    await settled();
    given.abort(reason);
    await expect(text).rejects.toThrow('enough');
    expect(server.openCount).toBe(0);
  });

  it('that comes too late does nothing', async () => {
    const server = answering(HELLO, HELLO);
    const client = server.client();
    const given = new AbortController();
    expect(await outcome(client.fetch(URL_A, { signal: given.signal }))).toBe('hello');
    given.abort(reason);
    expect(await outcome(client.fetch(URL_A))).toBe('hello');
    expect(server.connections).toHaveLength(1);
  });
});

describe('a server that is slow', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });

  it('may take its time until it begins', async () => {
    const server = new FakeServer();
    const answer = outcome(server.client().fetch(URL_A));
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    await server.connections[0]?.send(HELLO);
    expect(await answer).toBe('hello');
  });

  it.each([
    ['in its head', 'HTTP/1.1 200'],
    ['in its body', `${headText(OK, 'Content-Length: 5')}hel`],
    ['in its chunks', CHUNKED_HELLO.slice(0, -5)],
  ])('is given up when it stops %s', async (_, text) => {
    const server = new FakeServer((connection) => connection.send(text));
    const answer = outcome(server.client().fetch(URL_A));
    await settled();
    await vi.advanceTimersByTimeAsync(STALL_TIMEOUT_MS - 1);
    expect(server.openCount).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toBe('stalled');
    expect(server.openCount).toBe(0);
  });

  it('is not waited for while nobody reads', async () => {
    const server = new FakeServer((connection) =>
      connection.send(headText(OK, 'Content-Length: 6'), 'hel', 'lo!'),
    );
    const answer = await server.client().fetch(URL_A);
    await vi.advanceTimersByTimeAsync(10 * STALL_TIMEOUT_MS);
    expect(await answer.text()).toBe('hello!');
  });

  it('is given up when it does not take the connection', async () => {
    const server = new FakeServer();
    server.opening = new Promise(() => {});
    const answer = outcome(server.client().fetch(URL_A));
    await settled();
    await vi.advanceTimersByTimeAsync(CONNECT_TIMEOUT_MS);
    expect(await answer).toBe('unreachable');
    expect(server.openCount).toBe(0);
  });

  it('finds its idle connection closed', async () => {
    const server = answering(HELLO, HELLO);
    const client = server.client();
    await client.fetch(URL_A);
    await vi.advanceTimersByTimeAsync(IDLE_TIMEOUT_MS - 1);
    expect(server.openCount).toBe(1);
    await client.fetch(URL_A);
    await vi.advanceTimersByTimeAsync(IDLE_TIMEOUT_MS - 1);
    expect(server.openCount).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(server.openCount).toBe(0);
  });
});

describe('a body that is given up', () => {
  it.each(['its reader', 'it'])(
    'ends the connection with the server’s next byte: %s is cancelled',
    async (what) => {
      const server = new FakeServer(async (connection) => {
        await connection.until('\r\n\r\n');
        await connection.send(headText(OK, 'Content-Length: 1000'), 'hello');
      });
      const answer = await server.client().fetch(URL_A);
      if (what === 'it') await answer.body?.cancel();
      else {
        const reader = (answer.body as ReadableStream<Uint8Array>).getReader({ mode: 'byob' });
        await reader.readAtLeast(1, new Uint8Array(10));
        await reader.cancel();
      }
      await server.connections[0]?.send('more');
      await settled();
      expect(server.openCount).toBe(0);
    },
  );
});
