/** Where a body ends: by its length, by its chunks, by the connection; and what is refused. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyDecoder, type BodyDecoder } from '../../src/outgoing/response.ts';
import { CHUNKINGS, randomPieces } from '../support/byte-chunks.ts';
import { runs } from '../support/runs.ts';
import { bytesOf, decodeAll, headOf, textOf } from './support/response-text.ts';

const decoderOf = (...fields: string[]) => bodyDecoder('GET', headOf('HTTP/1.1 200 OK', ...fields));
const chunked = () => decoderOf('Transfer-Encoding: chunked') as BodyDecoder;
const decodeChunked = (text: string, cut = (bytes: Uint8Array) => [bytes]) =>
  decodeAll(chunked(), cut(bytesOf(text)));

const malformed = expect.objectContaining({ code: 'malformed' });

const outcome = (pieces: Uint8Array[]): string => {
  try {
    return JSON.stringify(decodeAll(chunked(), pieces));
  } catch (error) {
    return String(error);
  }
};

describe('a body', () => {
  it('is as long as it says', () => {
    expect(decoderOf('Content-Length: 5')).toMatchObject({ endsWithConnection: false });
    expect(decodeAll(decoderOf('content-length:\t0 ') as BodyDecoder, [])).toMatchObject({ isEnd: true });
  });

  it('has chunks if it says so, in any case of letters', () => {
    expect(decoderOf('Transfer-Encoding: Chunked')).toMatchObject({ endsWithConnection: false });
  });

  it('goes on to the end of the connection if it says nothing', () => {
    expect(decoderOf()).toMatchObject({ endsWithConnection: true });
  });

  it.each([
    ['HEAD', '200 OK'],
    ['GET', '204 No Content'],
    ['GET', '205 Reset Content'],
    ['GET', '304 Not Modified'],
  ])('is none in the response to %s with %s, whatever that says', (method, status) => {
    expect(bodyDecoder(method, headOf(`HTTP/1.1 ${status}`, 'Content-Length: 5'))).toBeNull();
    expect(bodyDecoder(method, headOf(`HTTP/1.1 ${status}`))).toBeNull();
  });

  it.each([
    [['Content-Length: 5', 'Transfer-Encoding: chunked']],
    [['Transfer-Encoding: chunked', 'Content-Length: 0']],
    [['Content-Length: 5', 'Content-Length: 6']],
    [['Content-Length: 5', 'Content-Length: 5']],
    [['Content-Length: 5, 5']],
    [['Content-Length: +5']],
    [['Content-Length: -5']],
    [['Content-Length: 5abc']],
    [['Content-Length: 0x5']],
    [['Content-Length: 5.0']],
    [['Content-Length: 5e3']],
    [['Content-Length:']],
    [['Content-Length: 1000000000000000']],
    [['Transfer-Encoding: xchunked']],
    [['Transfer-Encoding: gzip, chunked']],
    [['Transfer-Encoding: chunked, chunked']],
    [['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
    [['Transfer-Encoding: identity']],
    [['Transfer-Encoding:']],
  ])('is refused with %j', (fields) => {
    expect(() => decoderOf(...fields)).toThrow(malformed);
    // Even where there is no body: what follows would be taken for the next response by others.
    expect(() => bodyDecoder('GET', headOf('HTTP/1.1 304 X', ...fields))).toThrow(malformed);
  });

  it('has no chunks in HTTP/1.0', () => {
    expect(() => bodyDecoder('GET', headOf('HTTP/1.0 200 OK', 'Transfer-Encoding: chunked'))).toThrow(
      malformed,
    );
  });
});

describe('a body with a length', () => {
  it.each(CHUNKINGS)('ends there: %s', (_, cut) => {
    const decoder = decoderOf('Content-Length: 5') as BodyDecoder;
    expect(decodeAll(decoder, cut(bytesOf('hello, and more')))).toEqual({
      body: 'hello',
      usedBytes: 5,
      isEnd: true,
    });
  });

  it('of nothing ends before its first byte', () => {
    expect(decodeAll(decoderOf('Content-Length: 0') as BodyDecoder, [])).toMatchObject({ isEnd: true });
  });
});

describe('a body in chunks', () => {
  it.each(CHUNKINGS)('is put together: %s', (_, cut) => {
    const text = '5\r\nhello\r\n1;a=b; c="d"\r\n,\r\n00A\r\n and more.\r\n0\r\nX-Trailer: y\r\nZ: z\r\n\r\n';
    expect(decodeChunked(`${text}HTTP/1.1 200 OK`, cut)).toEqual({
      body: 'hello, and more.',
      usedBytes: text.length,
      isEnd: true,
    });
  });

  it('has no end until its last chunk is whole', () => {
    const text = '2\r\nhi\r\n0\r\n\r\n';
    for (let length = 0; length < text.length; length++) {
      expect(decodeChunked(text.slice(0, length)).isEnd).toBe(false);
    }
    expect(decodeChunked(text).isEnd).toBe(true);
  });

  it.each([
    ['no size', '\r\nhi\r\n0\r\n\r\n'],
    ['no size before an extension', ';a=b\r\nhi\r\n'],
    ['a sign', '+2\r\nhi\r\n'],
    ['a negative size', '-2\r\nhi\r\n'],
    ['a size that is no number', '2g\r\nhi\r\n'],
    ['a size with a prefix', '0x2\r\nhi\r\n'],
    ['a space behind the size', '2 \r\nhi\r\n'],
    ['a space before the size', ' 2\r\nhi\r\n'],
    ['bare LF behind the size', '2\nhi\r\n'],
    ['bare LF in an extension', '2;a\nhi\r\n'],
    ['bare CR behind the size', '2\rhi\r\n'],
    ['bare CR in an extension', '2;a\rb\r\nhi\r\n'],
    ['more than it said', '2\r\nhi!\r\n'],
    ['bare LF behind its data', '2\r\nhi\n'],
    ['bare LF behind the last chunk', '0\r\n\n'],
    ['bare LF in the trailer', '0\r\nX: y\n\r\n'],
    ['a size beyond all measure', '10000000000000\r\n'],
    ['a size of many zeros', `${'0'.repeat(14)}\r\n\r\n`],
    ['an extension beyond all measure', `2;${'x'.repeat(5000)}`],
    ['a trailer beyond all measure', `0\r\n${'x'.repeat(5000)}`],
    ['many lines of trailer', `0\r\n${'X: y\r\n'.repeat(2000)}`],
  ])('is refused with %s', (_, text) => {
    for (const [, cut] of CHUNKINGS) expect(() => decodeChunked(text, cut)).toThrow(malformed);
  });

  it.each(['x', '\r', '2\r\nhi!', '2\r\nhi\rx'])(
    'is refused at the wrong byte, without a line break: %j',
    (text) => {
      expect(decodeChunked(text.slice(0, -1))).toMatchObject({ isEnd: false });
      expect(() => decodeChunked(text)).toThrow(malformed);
    },
  );

  it('is what was sent, in whatever chunks and pieces, with nothing of what follows', () => {
    const data = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 10 });
    fc.assert(
      fc.property(data, fc.string(), fc.nat(1000), (chunks, behind, seed) => {
        const encoded = chunks
          .map((chunk) => `${chunk.length.toString(16)}\r\n${textOf(chunk)}\r\n`)
          .join('');
        const bytes = bytesOf(`${encoded}0\r\n\r\n${behind}`);
        expect(decodeAll(chunked(), randomPieces(bytes, seed))).toEqual({
          body: chunks.map(textOf).join(''),
          usedBytes: encoded.length + 5,
          isEnd: true,
        });
      }),
      runs(300),
    );
  });

  it('is read the same from whatever pieces, or refused the same', () => {
    const text = fc.array(
      fc.constantFrom('0', '1', '2', 'a', ';', '\r', '\n', '\r\n', '0\r\n\r\n', '2\r\nhi\r\n'),
      {
        maxLength: 20,
      },
    );
    fc.assert(
      fc.property(text, fc.nat(1000), (parts, seed) => {
        const bytes = bytesOf(parts.join(''));
        expect(outcome(randomPieces(bytes, seed))).toBe(outcome([bytes]));
      }),
      runs(500),
    );
  });
});
