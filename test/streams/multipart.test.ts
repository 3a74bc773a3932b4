/** Forms with a file, in chunks of any size: as browsers send them, cut off, and malformed. */
import { describe, expect, it } from 'vitest';
import { concatBytes, latin1, utf8 } from '../../src/git/bytes.ts';
import { ByteReader, sourceOf } from '../../src/git/wire/byte-reader.ts';
import { boundaryOf, MultipartReader } from '../../src/streams/multipart.ts';

const field = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (content: string) =>
  `--b\r\nContent-Disposition: form-data; name="file"; filename="x; name=y"\r\nContent-Type: text/plain\r\n\r\n${content}\r\n`;
const END = '--b--\r\n';

function inPieces(text: string, size: number): Uint8Array[] {
  const bytes = utf8(text);
  const count = Math.ceil(bytes.byteLength / size);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

async function partsOf(text: string, size: number) {
  const reader = new MultipartReader(sourceOf(...inPieces(text, size)), 'b');
  const parts = [];
  for (let part = await reader.next(); part !== null; part = await reader.next()) {
    const pieces = [];
    const content = new ByteReader(part.content);
    for (let piece = await content.nextChunk(); piece !== null; piece = await content.nextChunk()) {
      pieces.push(piece.slice());
      content.recycle();
    }
    parts.push([part.name, part.isFile, latin1(concatBytes(pieces))]);
  }
  return parts;
}

describe.each([1, 7, 1_000_000])('in chunks of %i bytes', (size) => {
  it('a form has its fields and its file', async () => {
    const content = '\r\n--\r\n--b\r--b\n\0'.replace('\r\n--b\r', '\r\n--a\r');
    const parts = await partsOf(
      `${field('title', 'One\r\nTwo')}${field('empty', '')}${file(content)}${END}`,
      size,
    );
    expect(parts).toEqual([
      ['title', false, 'One\r\nTwo'],
      ['empty', false, ''],
      ['file', true, content],
    ]);
  });

  it('a large file is handed on whole', async () => {
    const content = 'words\r\n-'.repeat(size > 1_000 ? 60_000 : 1_000);
    expect(await partsOf(file(content) + END, size)).toEqual([['file', true, content]]);
  });

  it('a part that nobody reads is skipped', async () => {
    const text = `${file('long'.repeat(100))}${field('title', 'x')}${END}`;
    const reader = new MultipartReader(sourceOf(...inPieces(text, size)), 'b');
    expect([(await reader.next())?.name, (await reader.next())?.name, await reader.next()]).toEqual([
      'file',
      'title',
      null,
    ]);
  });

  it('a file that is cut off is not taken for a whole one', async () => {
    await expect(partsOf(file('words').slice(0, -3), size)).rejects.toMatchObject({ code: 'aborted' });
  });

  it.each([
    ['nothing', ''],
    ['another form', 'title=x'],
    ['no name', '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n'],
    ['a line without an end', `--b\r\nContent-Disposition: ${'x'.repeat(5_000)}`],
    ['lines without an end', `--b\r\n${'A: b\r\n'.repeat(100)}\r\nx\r\n--b--\r\n`],
    ['no end', field('title', 'x').slice(0, 40)],
  ])('%s has no part', async (_, text) => {
    expect(await partsOf(text, size).catch(({ code }: { code: string }) => code)).toSatisfy(
      (parts: unknown) => parts === 'aborted' || (Array.isArray(parts) && parts.length === 0),
    );
  });
});

describe('a boundary', () => {
  it.each([
    ['multipart/form-data; boundary=----WebKitFormBoundaryx', '----WebKitFormBoundaryx'],
    ['multipart/form-data; charset=utf-8; boundary="a b"', 'a b'],
    ['application/x-www-form-urlencoded', null],
    ['multipart/form-data', null],
    [`multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
    ['multipart/mixed; boundary=x', null],
  ])('of %s is found', (type, boundary) => {
    expect(boundaryOf(type)).toBe(boundary);
  });
});
