/** Bytes that should be text, and are kept whole when they are not. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEscaped, encodeEscaped, utf8 } from '../../src/git/bytes.ts';
import { runs } from '../support/runs.ts';

/** Unlike `fc.string({ unit: 'binary' })`, it lists no million characters first. */
const characters = fc
  .integer({ min: 0, max: 0x10f7ff })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800));

describe('an escaped text', () => {
  it('is the text itself, where there is one', () => {
    for (const text of ['', 'refs/heads/main', 'größe', '\u{1f600}', '\ufffd', '\ufeffx'])
      expect(decodeEscaped(utf8(text))).toBe(text);
  });

  it('holds a lone surrogate for each byte that is none', () => {
    expect(decodeEscaped(Uint8Array.of(0x61, 0xff, 0x80))).toBe('a\udcff\udc80');
    // The bytes of a surrogate are no UTF-8, so that a text cannot pretend to be escaped.
    expect(decodeEscaped(Uint8Array.of(0xed, 0xb3, 0xbf))).toBe('\udced\udcb3\udcbf');
  });

  it('gives back the bytes it was made of', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
        expect(encodeEscaped(decodeEscaped(bytes))).toEqual(bytes);
      }),
      runs(100),
    );
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 50 }), (list) => {
        const text = list.join('');
        expect(encodeEscaped(decodeEscaped(utf8(text)))).toEqual(utf8(text));
      }),
      runs(100),
    );
  });
});
