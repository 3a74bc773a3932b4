/** The client against servers of every kind: what it sends, and what it reads. */
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HttpClient } from '../../src/outgoing/http-client.ts';
import { CHUNKINGS } from '../support/byte-chunks.ts';
import {
  answering,
  CHUNKED_HELLO,
  type FakeConnection,
  FakeServer,
  fedBody,
  HELLO,
  OK,
  outcome,
  settled,
  URL_A,
} from './support/fake-server.ts';
import { bytesOf, headText } from './support/response-text.ts';
import { exhaustive } from '../support/exhaustive.ts';

afterEach(() => vi.restoreAllMocks());

describe('a request to a server on Cloudflare, which no socket reaches', () => {
  it('leaves by the runtime, with an address that is nobody’s, and follows no redirect', async () => {
    const byRuntime = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('hello'));
    const client = new HttpClient(['a.test'], () => expect.unreachable());
    await client.openAhead(URL_A);
    const headers = { Authorization: 'Bearer x' };
    expect(await outcome(client.fetch(URL_A, { method: 'POST', headers, body: 'text' }))).toBe('hello');
    const [url, init] = byRuntime.mock.calls[0] as unknown as [URL, RequestInit];
    expect([url.href, init.method, init.redirect]).toEqual([URL_A, 'POST', 'manual']);
    expect(Buffer.from(init.body as Uint8Array).toString()).toBe('text');
    expect([...new Headers(init.headers)]).toEqual([
      ['authorization', 'Bearer x'],
      ['x-real-ip', '192.0.2.1'],
    ]);
    const named = client.fetch(URL_A, { headers: { 'X-Forwarded-For': '198.51.100.7' } });
    await expect(named).rejects.toThrow(TypeError);
    expect(byRuntime).toHaveBeenCalledTimes(1);
  });
});

describe('a request', () => {
  it('is these bytes and no others', async () => {
    const server = new FakeServer();
    const answer = server.client().fetch(URL_A, {
      method: 'POST',
      headers: { Authorization: 'Bearer x', 'Content-Type': 'application/json' },
      body: '{"é":1}',
    });
    await expect.poll(() => server.connections[0]?.received).toContain('}');
    const [connection] = server.connections as [FakeConnection];
    expect(connection.received).toBe(
      `${headText(
        'POST /path HTTP/1.1',
        'Host: a.test',
        'Authorization: Bearer x',
        'Content-Type: application/json',
        'Accept-Encoding: gzip',
        'Content-Length: 8',
      )}{"\xc3\xa9":1}`,
    );
    await connection.send(HELLO);
    expect(await (await answer).text()).toBe('hello');
  });

  it.each([
    ['http://a.test/', { hostname: 'a.test', port: 80, isSecure: false }],
    ['https://a.test/', { hostname: 'a.test', port: 443, isSecure: true }],
    ['http://127.0.0.1:8080/', { hostname: '127.0.0.1', port: 8080, isSecure: false }],
    ['https://[::1]:8443/', { hostname: '[::1]', port: 8443, isSecure: true }],
  ])('to %s goes there', async (url, address) => {
    const server = answering(HELLO);
    await server.client().fetch(url);
    expect(server.addresses).toEqual([address]);
  });

  it.each(['ftp://a.test/', 'https://user@a.test/', 'https://:secret@a.test/', 'data:,x', '/path'])(
    'to %s is an error, and no connection',
    async (url) => {
      const server = answering(HELLO);
      await expect(server.client().fetch(url)).rejects.toThrow(TypeError);
      expect(server.connections).toEqual([]);
    },
  );

  it('with a header field that may not leave is an error, and no connection', async () => {
    const server = answering(HELLO);
    const headers = { 'X-Forwarded-For': '198.51.100.1' };
    await expect(server.client().fetch(URL_A, { headers })).rejects.toThrow('x-forwarded-for');
    expect(server.connections).toEqual([]);
  });

  it.each([
    ['POST', true],
    ['PUT', true],
    ['PATCH', true],
    ['DELETE', false],
    ['GET', false],
  ])('by %s without a body says that it has none: %s', async (method, saysSo) => {
    const server = new FakeServer();
    void server.client().fetch(URL_A, { method });
    await expect.poll(() => server.connections[0]?.received).toContain('\r\n\r\n');
    expect(server.connections[0]?.received.includes('Content-Length: 0\r\n')).toBe(saysSo);
  });

  it('streams a body of unknown length in chunks', async () => {
    const server = new FakeServer();
    const { body, writer } = fedBody();
    const answer = server.client().fetch(URL_A, { method: 'POST', body });
    await writer.write(bytesOf('hello, '));
    await writer.write(bytesOf('world of 26 letters: a to z'));
    await writer.close();
    const [connection] = server.connections as [FakeConnection];
    await connection.until('0\r\n\r\n');
    const [head, sent] = connection.received.split('\r\n\r\n', 2) as [string, string];
    expect(head).toContain('Transfer-Encoding: chunked');
    expect(sent).toBe('7\r\nhello, \r\n1b\r\nworld of 26 letters: a to z\r\n0');
    await connection.send(HELLO);
    expect(await outcome(answer)).toBe('hello');
  });

  it('streams a body of known length as it is', async () => {
    const server = new FakeServer();
    const { body, writer } = fedBody();
    const answer = server.client().fetch(URL_A, { method: 'POST', body, headers: { 'Content-Length': '7' } });
    await writer.write(bytesOf('hel'));
    await writer.write(bytesOf('lo, '));
    await writer.close();
    const [connection] = server.connections as [FakeConnection];
    await connection.until('hello, ');
    expect(connection.received).toMatch(/Content-Length: 7\r\n\r\nhello, $/);
    await connection.send(HELLO);
    expect(await outcome(answer)).toBe('hello');
  });

  it.each(['shorter', 'longer'])('with a body that is %s than it says is broken off', async (kind) => {
    const server = new FakeServer();
    const { body, writer } = fedBody();
    const headers = { 'Content-Length': kind === 'shorter' ? '8' : '6' };
    const answer = server.client().fetch(URL_A, { method: 'POST', body, headers });
    await writer.write(bytesOf('hello, '));
    writer.close().catch(() => {});
    await expect(answer).rejects.toThrow(`${kind} than announced`);
    expect(server.connections[0]).toMatchObject({ isClosed: true });
    expect(server.connections[0]?.received).not.toContain('hello, hello');
  });

  it('whose body breaks off is not ended as if it were whole', async () => {
    const server = new FakeServer();
    const { body, writer } = fedBody();
    const answer = server.client().fetch(URL_A, { method: 'POST', body });
    await writer.write(bytesOf('half'));
    await writer.abort(new Error('the person hung up'));
    await expect(answer).rejects.toThrow('the person hung up');
    expect(server.connections[0]?.isClosed).toBe(true);
    expect(server.connections[0]?.received).toMatch(/4\r\nhalf\r\n$/);
  });
});

describe('a response', () => {
  it.each([
    ['with a length', HELLO],
    ['in chunks', CHUNKED_HELLO],
    ['that ends with the connection', `${headText(OK)}hello`],
    [
      'after others that nobody asked for',
      `${headText('HTTP/1.1 100 Continue')}${headText('HTTP/1.1 103 Early')}${HELLO}`,
    ],
  ])('is read %s, in whatever pieces', async (_, text) => {
    for (const [, cut] of CHUNKINGS) {
      const server = new FakeServer(async (connection) => {
        await connection.until('\r\n\r\n');
        await connection.send(...cut(bytesOf(text)));
        await connection.end();
      });
      expect(await outcome(server.client().fetch(URL_A))).toBe('hello');
    }
  });

  it('tells its status and header fields, except those of the connection', async () => {
    const fields = [
      'Content-Length: 0',
      'Connection: keep-alive',
      'Keep-Alive: timeout=5',
      'Link: <x>; rel="next"',
    ];
    const answer = await answering(headText('HTTP/1.1 404 Not Here', ...fields))
      .client()
      .fetch(URL_A);
    expect(answer).toMatchObject({ status: 404, statusText: 'Not Here', ok: false });
    expect([...answer.headers.keys()]).toEqual(['content-length', 'link']);
  });

  it.each([
    ['HEAD', headText(OK, 'Content-Length: 5')],
    ['GET', headText('HTTP/1.1 204 No Content')],
    ['GET', headText('HTTP/1.1 304 Not Modified', 'Content-Length: 5')],
  ])('to %s has no body where it can have none', async (method, text) => {
    const answer = await answering(text).client().fetch(URL_A, { method });
    expect(answer.body).toBeNull();
  });

  it.each(CHUNKINGS)('that is compressed is unpacked: %s', async (_, cut) => {
    const packed = gzipSync('hello, '.repeat(1000));
    const head = headText(OK, 'Content-Encoding: gzip', `Content-Length: ${packed.length}`);
    const server = new FakeServer(async (connection) => {
      await connection.until('\r\n\r\n');
      await connection.send(head, ...cut(packed));
    });
    const answer = await server.client().fetch(URL_A);
    expect([...answer.headers.keys()]).toEqual([]);
    expect(await answer.text()).toBe('hello, '.repeat(1000));
  });

  it.each([
    ['cut off', 'gzip', gzipSync('hello').subarray(0, -4)],
    ['not compressed', 'gzip', bytesOf('hello')],
    ['empty', 'gzip', bytesOf('')],
    ['compressed in a way that was not asked for', 'br', bytesOf('hello')],
    ['compressed twice', 'gzip, gzip', bytesOf('hello')],
  ])('that says it is compressed and is %s is an error', async (_, coding, body) => {
    const server = new FakeServer(async (connection) => {
      await connection.until('\r\n\r\n');
      await connection.send(
        headText(OK, `Content-Encoding: ${coding}`, `Content-Length: ${body.byteLength}`),
        body,
      );
    });
    expect(await outcome(server.client().fetch(URL_A))).toBe('malformed');
  });

  it('that unpacks to more than the memory holds is unpacked as it is read', exhaustive, async () => {
    const packed = gzipSync(new Uint8Array(64 * 1024 * 1024));
    const server = new FakeServer(async (connection) => {
      await connection.until('\r\n\r\n');
      await connection.send(
        headText(OK, 'Content-Encoding: gzip', 'Content-Length: 10000000'),
        packed,
        packed,
      );
    });
    const answer = await server.client().fetch(URL_A);
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader({ mode: 'byob' });
    const { value } = await reader.readAtLeast(1, new Uint8Array(1024 * 1024));
    expect(value?.byteLength).toBeLessThanOrEqual(64 * 1024);
    await reader.cancel();
  });

  it('waits for its reader', async () => {
    let sentBytes = 0;
    const server = new FakeServer(async (connection) => {
      await connection.until('\r\n\r\n');
      await connection.send(headText(OK, 'Content-Length: 10000000'));
      for (let index = 0; index < 10; index++) {
        await connection.send(new Uint8Array(1_000_000));
        sentBytes += 1_000_000;
      }
    });
    const answer = await server.client().fetch(URL_A);
    await settled();
    expect(sentBytes).toBeLessThanOrEqual(1_000_000);
    expect((await answer.arrayBuffer()).byteLength).toBe(10_000_000);
  });

  it('is heard while the request is still being sent, which goes on', async () => {
    const server = new FakeServer();
    const { body, writer } = fedBody();
    const pending = server.client().fetch(URL_A, { method: 'POST', body });
    await writer.write(bytesOf('one'));
    const [connection] = server.connections as [FakeConnection];
    await connection.send(headText(OK, 'Content-Length: 6'), 'hel');
    const answer = await pending;
    await writer.write(bytesOf('two'));
    await connection.until('two');
    void connection.send('lo!');
    expect(await answer.text()).toBe('hello!');
    // It has answered all of it: the rest of the request is of no use any more.
    await expect(writer.write(bytesOf('three'))).rejects.toThrow();
    expect(connection.isClosed).toBe(true);
  });
});

describe('a response that is malformed', () => {
  it.each([
    [
      'two lengths',
      `${headText(OK, 'Content-Length: 5', 'Transfer-Encoding: chunked')}5\r\nhello\r\n0\r\n\r\n`,
    ],
    ['a head without end', `${OK}\r\nX: ${'x'.repeat(70_000)}`],
    ['another protocol in the middle', headText('HTTP/1.1 101 Switching Protocols', 'Upgrade: h2c')],
    ['interim responses for ever', headText('HTTP/1.1 100 Continue').repeat(20)],
    ['a broken chunk', `${headText(OK, 'Transfer-Encoding: chunked')}5\r\nhello!\r\n0\r\n\r\n`],
  ])('is an error at once, and ends the connection: %s', async (_, text) => {
    const server = new FakeServer(async (connection) => {
      await connection.until('\r\n\r\n');
      await connection.send(text);
      await connection.send('\r\n'.repeat(10));
    });
    expect(await outcome(server.client().fetch(URL_A))).toBe('malformed');
    await settled();
    expect(server.openCount).toBe(0);
  });

  it.each([
    ['before it', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['before its body', headText(OK, 'Content-Length: 5')],
    ['in its body', `${headText(OK, 'Content-Length: 5')}hell`],
    ['in a chunk', CHUNKED_HELLO.slice(0, -9)],
    ['before the last chunk', CHUNKED_HELLO.slice(0, -5)],
    ['in the last chunk', CHUNKED_HELLO.slice(0, -1)],
    ['behind an interim one', headText('HTTP/1.1 100 Continue')],
  ])('as the connection ends %s is an error, and not a shorter one', async (_, text) => {
    for (const how of ['end', 'break'] as const) {
      const server = new FakeServer(async (connection) => {
        await connection.until('\r\n\r\n');
        await connection.send(text);
        await connection[how]();
      });
      expect(await outcome(server.client().fetch(URL_A))).toBe('broken-off');
      await settled();
      expect(server.openCount).toBe(0);
    }
  });

  it('as the connection breaks is an error also where its end would be the end of the body', async () => {
    const server = new FakeServer(async (connection) => {
      await connection.until('\r\n\r\n');
      await connection.send(`${headText(OK)}hel`);
      await connection.break();
    });
    expect(await outcome(server.client().fetch(URL_A))).toBe('broken-off');
  });
});
