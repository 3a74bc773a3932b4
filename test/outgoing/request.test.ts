/** Requests: every byte of their heads, and what may not leave. */
import { describe, expect, it } from 'vitest';
import { encodeRequestHead, type OutgoingRequest } from '../../src/outgoing/request.ts';
import { textOf } from './support/response-text.ts';

function encoded(request: Partial<Omit<OutgoingRequest, 'url'>> & { url?: string }): string {
  const { method = 'GET', headers = new Headers(), body = null } = request;
  const url = new URL(request.url ?? 'https://host.test/a?b=c');
  return textOf(encodeRequestHead({ method, url, headers, body }));
}

describe('the head of a request', () => {
  it('has its fields in one order and spelling, however they are given', () => {
    const fields = {
      'CONTENT-TYPE': 'a/b',
      authorization: 'Bearer x',
      accept: '*/*',
      'user-agent': 'gitveil',
    };
    const expected = [
      'POST /a?b=c HTTP/1.1',
      'Host: host.test',
      'User-Agent: gitveil',
      'Accept: */*',
      'Authorization: Bearer x',
      'Content-Type: a/b',
      'Accept-Encoding: gzip',
      'Content-Length: 7',
      '',
      '',
    ].join('\r\n');
    for (const given of [fields, Object.fromEntries(Object.entries(fields).toReversed())]) {
      const body = { kind: 'bytes', bytes: new Uint8Array(7) } as const;
      expect(encoded({ method: 'POST', headers: new Headers(given), body })).toBe(expected);
    }
  });

  it('says how long the body is', () => {
    expect(encoded({})).not.toMatch(/Content-Length|Transfer-Encoding/);
    expect(encoded({ method: 'POST' })).toContain('\r\nContent-Length: 0\r\n');
    const stream = new ReadableStream<Uint8Array>();
    expect(encoded({ method: 'POST', body: { kind: 'stream', stream, length: 3 } })).toContain(
      '\r\nContent-Length: 3\r\n',
    );
    const inChunks = encoded({ method: 'POST', body: { kind: 'stream', stream, length: null } });
    expect(inChunks).toContain('\r\nTransfer-Encoding: chunked\r\n');
    expect(inChunks).not.toContain('Content-Length');
  });

  it('asks for the encoded path of the address, without its fragment', () => {
    const url = 'http://host.test:8080/a b/ü\r\nX: y?q=<ü>\n#fragment';
    expect(encoded({ url })).toBe(
      'GET /a%20b/%C3%BCX:%20y?q=%3C%C3%BC%3E HTTP/1.1\r\nHost: host.test:8080\r\nAccept-Encoding: gzip\r\n\r\n',
    );
  });

  it.each([
    'CF-Connecting-IP',
    'Connection',
    'Content-Length',
    'Cookie',
    'Expect',
    'Forwarded',
    'Host',
    'Transfer-Encoding',
    'Via',
    'X-Client-Info',
    'X-Forwarded-For',
    'X-Real-IP',
  ])('cannot carry %s', (name) => {
    expect(() => encoded({ headers: new Headers([[name, '1']]) })).toThrow(TypeError);
  });

  it.each(['\xe9', 'a\x7fb', 'a\x01b', 'a\tb'])('cannot carry the value %j', (value) => {
    expect(() => encoded({ headers: new Headers({ Accept: value }) })).toThrow(TypeError);
  });

  it.each(['a\r\nX: y', 'a\nb', 'a\rb', 'a\0b'])('cannot even be given the value %j', (value) => {
    expect(() => new Headers({ Accept: value })).toThrow(TypeError);
  });

  it.each(['CONNECT', 'TRACE', 'OPTIONS', 'get', 'GET /x HTTP/1.1\r\nX: y', ''])(
    'cannot be made for the method %j',
    (method) => {
      expect(() => encoded({ method })).toThrow(TypeError);
    },
  );
});
