/** Heads of responses: what is read from good ones, and that bad ones are errors at once. */
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { MAX_HEAD_BYTES } from '../../src/outgoing/response.ts';
import { CHUNKINGS, randomPieces } from '../support/byte-chunks.ts';
import { runs } from '../support/runs.ts';
import { bytesOf, headOf, headText, readHead } from './support/response-text.ts';

const OK = 'HTTP/1.1 200 OK';

/** A head of so many bytes. */
const filled = (bytes: number) => headText(OK, `X: ${'x'.repeat(bytes - headText(OK, 'X: ').length)}`);

const outcome = (pieces: Uint8Array[]): string => {
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
    expect(readHead([bytesOf(filled(MAX_HEAD_BYTES))])?.bytes).toBe(MAX_HEAD_BYTES);
    expect(() => readHead([bytesOf(filled(MAX_HEAD_BYTES + 1))])).toThrow('too long');
    expect(() => readHead([bytesOf('x'.repeat(MAX_HEAD_BYTES + 1))])).toThrow('too long');
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
        expect(outcome(randomPieces(bytes, seed))).toBe(outcome([bytes]));
      }),
      runs(300),
    );
  });
});
