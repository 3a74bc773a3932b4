/** Heads of responses: what is read from good ones, and that bad ones are errors at once. */
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  MAX_RESPONSE_HEAD_BYTES,
  bodyDecoder,
  type BodyDecoder,
  wholeResponse,
} from '../../src/outgoing/response.ts';
import { CHUNKINGS, randomPieces } from '../support/byte-chunks.ts';
import { runs } from '../support/runs.ts';
import { bytesOf, headOf, headText, readHead, decodeAll, textOf } from './support/response-text.ts';

const OK = 'HTTP/1.1 200 OK';

/** A head of so many bytes. */
const filled = (bytes: number) => headText(OK, `X: ${'x'.repeat(bytes - headText(OK, 'X: ').length)}`);

const headOutcome = (pieces: Uint8Array[]): string => {
  try {
    const read = readHead(pieces);
    return JSON.stringify(read && [read.bytes, read.head.status, ...read.head.headers]);
  } catch (error) {
    return String(error);
  }
};

describe('the head of a response', () => {
  it.each(CHUNKINGS)('is read from pieces: %s', (_, cut) => {
    const text = headText(
      'HTTP/1.1 404 Not Found',
      'Content-Type: text/plain',
      'X-Empty:',
      'x-padded: \t a b \t',
    );
    const read = readHead(cut(bytesOf(`${text}body`)));
    expect(read?.bytes).toBe(text.length);
    expect(read?.head).toMatchObject({ status: 404, statusText: 'Not Found', minorVersion: 1 });
    expect([...(read?.head.headers ?? [])]).toEqual([
      ['content-type', 'text/plain'],
      ['x-empty', ''],
      ['x-padded', 'a b'],
    ]);
  });

  it.each([
    ['HTTP/1.1 200 ', ''],
    ['HTTP/1.1 200', ''],
    ['HTTP/1.0 200 Fine', 'Fine'],
    // Not what a Response may carry.
    ['HTTP/1.1 200 Schön', ''],
  ])('may begin with "%s"', (line, statusText) => {
    expect(headOf(line)).toMatchObject({ status: 200, statusText });
  });

  it('may have a field several times', () => {
    expect(headOf(OK, 'Link: a', 'link: b').headers.get('Link')).toBe('a, b');
  });

  it('keeps nothing of bytes beyond ASCII', () => {
    expect(headOf(OK, 'X: Sch\xf6n').headers.get('X')).toBe('Sch?n');
  });

  it.each([
    ['bare LF', 'HTTP/1.1 200 OK\nContent-Length: 2\n\n'],
    ['one bare LF', 'HTTP/1.1 200 OK\r\nContent-Length: 2\nX: y\r\n\r\n'],
    ['bare CR', 'HTTP/1.1 200 OK\r\nContent-Length: 2\rX: y\r\n\r\n'],
    ['CR CR LF', 'HTTP/1.1 200 OK\r\r\n\r\n'],
    ['an empty line first', '\r\nHTTP/1.1 200 OK\r\n\r\n'],
    ['a folded line', headText(OK, 'X: a', ' b')],
    ['a folded first line', headText(OK, ' X: a')],
    ['a field without a colon', headText(OK, 'Content-Length 2')],
    ['a field without a name', headText(OK, ': 2')],
    ['a space before the colon', headText(OK, 'Content-Length : 2')],
    ['a name with a byte that no name has', headText(OK, 'Content\xa0Length: 2')],
    ['a NUL in a value', headText(OK, 'X: a\0b')],
    ['a control character in a value', headText(OK, 'X: a\x7fb')],
    ['a control character in the status line', headText('HTTP/1.1 200 O\0K')],
    ['another protocol', headText('ICY 200 OK')],
    ['HTTP/2', headText('HTTP/2 200 OK')],
    ['HTTP/1.2', headText('HTTP/1.2 200 OK')],
    ['HTTP/0.9', '<html></html>\r\n\r\n'],
    ['lower case', headText('http/1.1 200 OK')],
    ['no status', headText('HTTP/1.1 OK')],
    ['a status of two digits', headText('HTTP/1.1 20 OK')],
    ['a status of four digits', headText('HTTP/1.1 2000 OK')],
    ['a status beyond 599', headText('HTTP/1.1 600 OK')],
    ['a status below 100', headText('HTTP/1.1 099 OK')],
    ['two spaces', headText('HTTP/1.1  200 OK')],
    ['more fields than anybody sends', headText(OK, ...Array.from({ length: 201 }, (_, n) => `X-${n}: y`))],
  ])('is refused with %s', (_, text) => {
    for (const [, cut] of CHUNKINGS) {
      expect(() => readHead(cut(bytesOf(text)))).toThrow(expect.objectContaining({ code: 'malformed' }));
    }
  });

  it('is refused once a line break or its first line is wrong, and not only at its end', () => {
    expect(() => readHead([bytesOf('HTTP/1.1 200 OK\nX')])).toThrow('CR LF');
    expect(() => readHead([bytesOf('HTTP/1.1 200 OK\r\nX: y\nZ')])).toThrow('CR LF');
    expect(() => readHead([bytesOf('HTTP/1.1 200 OK\r\nX: y\r'), bytesOf('Z')])).toThrow('CR LF');
    expect(() => readHead([bytesOf('SSH-2.0-OpenSSH_9.2\r\n')])).toThrow('status line');
  });

  it('is searched once, also if it comes byte by byte', () => {
    const LENGTH = 8 * 1024;
    const bytes = bytesOf(filled(LENGTH));
    const spy = vi.spyOn(String.prototype, 'indexOf');
    const read = readHead(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)));
    const searched = spy.mock.contexts.reduce<number>((sum, text) => sum + String(text).length, 0);
    spy.mockRestore();
    expect(read?.bytes).toBe(LENGTH);
    expect(searched).toBeLessThan(10 * LENGTH);
  });

  it('may be as long as it may be, and no byte longer', () => {
    expect(readHead([bytesOf(filled(MAX_RESPONSE_HEAD_BYTES))])?.bytes).toBe(MAX_RESPONSE_HEAD_BYTES);
    expect(() => readHead([bytesOf(filled(MAX_RESPONSE_HEAD_BYTES + 1))])).toThrow('too long');
    expect(() => readHead([bytesOf('x'.repeat(MAX_RESPONSE_HEAD_BYTES + 1))])).toThrow('too long');
  });

  it('is read the same from whatever pieces, or refused the same', () => {
    const line = fc.string({
      unit: fc.constantFrom(...'HTP/1. 0OK:xX-\t\r\n\0\xe9'.split('')),
      maxLength: 20,
    });
    const text = fc.array(fc.oneof(line, fc.constantFrom(OK, '\r\n', 'X: y\r\n', 'Content-Length: 3\r\n')), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(text, fc.nat(1000), (parts, seed) => {
        const bytes = bytesOf(`${OK}\r\n${parts.join('')}\r\n\r\n`);
        expect(headOutcome(randomPieces(bytes, seed))).toBe(headOutcome([bytes]));
      }),
      runs(100),
    );
  });
});

// Where a body ends: by its length, by its chunks, by the connection; and what is refused.

const decoderOf = (...fields: string[]) => bodyDecoder('GET', headOf('HTTP/1.1 200 OK', ...fields));
const chunked = () => decoderOf('Transfer-Encoding: chunked') as BodyDecoder;
const decodeChunked = (text: string, cut = (bytes: Uint8Array) => [bytes]) =>
  decodeAll(chunked(), cut(bytesOf(text)));

const malformed = expect.objectContaining({ code: 'malformed' });

const bodyOutcome = (pieces: Uint8Array[]): string => {
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
      runs(100),
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
        expect(bodyOutcome(randomPieces(bytes, seed))).toBe(bodyOutcome([bytes]));
      }),
      runs(170),
    );
  });
});

// Responses that are read as a whole.

/** A body that comes in pieces of one byte, and notes whether it was cancelled. */
function dripping(bytes: number): { body: ReadableStream<Uint8Array>; wasCancelled: () => boolean } {
  let left = bytes;
  let isCancelled = false;
  const body = new ReadableStream({
    type: 'bytes',
    pull(controller: ReadableByteStreamController) {
      if (left-- > 0) controller.enqueue(new Uint8Array([0x61]));
      else controller.close();
    },
    cancel() {
      isCancelled = true;
    },
  });
  return { body, wasCancelled: () => isCancelled };
}

describe('a response that is read as a whole', () => {
  it('keeps its status, header fields and body', async () => {
    const { body } = dripping(1000);
    const response = new Response(body, { status: 404, statusText: 'Not Here', headers: { Link: 'x' } });
    const whole = await wholeResponse(response, 1000);
    expect(whole).toMatchObject({ status: 404, statusText: 'Not Here' });
    expect(whole.headers.get('Link')).toBe('x');
    expect(await whole.text()).toBe('a'.repeat(1000));
  });

  it('may have no body', async () => {
    expect((await wholeResponse(new Response(null, { status: 204 }), 0)).body).toBeNull();
  });

  it('is an error if it is longer than allowed, and is not read further', async () => {
    const { body, wasCancelled } = dripping(1_000_000);
    await expect(wholeResponse(new Response(body), 999)).rejects.toMatchObject({ code: 'malformed' });
    expect(wasCancelled()).toBe(true);
  });

  it('is an error if it breaks off', async () => {
    const body = new ReadableStream({
      type: 'bytes',
      pull(controller: ReadableByteStreamController) {
        controller.error(new Error('the connection broke'));
      },
    });
    await expect(wholeResponse(new Response(body), 999)).rejects.toThrow('the connection broke');
  });
});
