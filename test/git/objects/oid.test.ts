/**
 * Object ids, against those that Git prints; and the helpers on bytes that every room here shares.
 */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { concatBytes, decodeUtf8, utf8 } from '../../../src/git/bytes.ts';
import { hashObject, isOid, oidFromBytes, type ObjectType } from '../../../src/git/objects/oid.ts';

describe('hashObject', () => {
  it.each<[ObjectType, string, string]>([
    ['blob', '', 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'],
    ['tree', '', '4b825dc642cb6eb9a060e54bf8d69288fbee4904'],
    ['blob', 'hello\n', 'ce013625030ba8dba906f756967f9e9ca394464a'],
    ['blob', 'é\0', 'f3d6de9886b28a259a22f38f5e10f946a510b47d'],
  ])('names a %s of %j as git hash-object does', (type, content, oid) => {
    expect(hashObject(type, utf8(content))).toBe(oid);
  });

  it('names contents of every length up to 1,200 bytes as node:crypto does', () => {
    const bytes = Uint8Array.from({ length: 1200 }, (_, index) => (index * 167) ^ (index >> 3));
    for (let length = 0; length <= bytes.byteLength; length++) {
      const content = bytes.subarray(0, length);
      const oid = createHash('sha1').update(`commit ${length}\0`).update(content).digest('hex');
      expect(hashObject('commit', content)).toBe(oid);
    }
  });
});

describe('isOid', () => {
  it.each([
    ['0123456789abcdef0123456789abcdef01234567', true],
    ['0123456789ABCDEF0123456789abcdef01234567', false],
    ['0123456789abcdef0123456789abcdef0123456', false],
    ['0123456789abcdef0123456789abcdef012345678', false],
    ['0123456789abcdef0123456789abcdef0123456g', false],
    ['0123456789abcdef0123456789abcdef01234567\n', false],
    ['', false],
  ])('says of %j: %s', (text, expected) => {
    expect(isOid(text)).toBe(expected);
  });
});

describe('oidFromBytes', () => {
  it('reads twenty bytes from anywhere', () => {
    const bytes = Uint8Array.from([9, ...Array.from({ length: 20 }, (_, index) => index * 13), 9]);
    expect(oidFromBytes(bytes, 1)).toBe('000d1a2734414e5b6875828f9ca9b6c3d0ddeaf7');
  });
});

describe('bytes', () => {
  it('are joined in their order', () => {
    expect(concatBytes([utf8('a'), utf8(''), utf8('bc')])).toEqual(utf8('abc'));
    expect(concatBytes([])).toEqual(new Uint8Array(0));
  });

  it('are text only if they are well-formed UTF-8, a byte order mark included', () => {
    expect(decodeUtf8(utf8('größer 😀'))).toBe('größer 😀');
    expect(decodeUtf8(utf8('\ufeffa'))).toBe('\ufeffa');
    for (const bytes of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80]])
      expect(decodeUtf8(Uint8Array.from(bytes))).toBeNull();
  });
});
