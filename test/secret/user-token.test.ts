import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base32, newUserToken } from '../../src/secret/user-token.ts';
import { runs } from '../support/runs.ts';

function noRandomness(): never {
  throw new Error('no randomness');
}

describe('a user token', () => {
  it('is 16 characters of Base32, and no two are alike', () => {
    const tokens = Array.from({ length: 200 }, () => newUserToken());
    for (const token of tokens) expect(token).toMatch(/^[A-Z2-7]{16}$/);
    expect(new Set(tokens).size).toBe(200);
  });

  it('is made of ten random bytes', () => {
    expect(newUserToken((bytes) => bytes.fill(0xff))).toBe('7777777777777777');
    expect(newUserToken((bytes) => bytes.set(new TextEncoder().encode('0123456789')))).toBe(
      'GAYTEMZUGU3DOOBZ',
    );
  });

  it('is the time in nanoseconds when there is no randomness', () => {
    expect(newUserToken(noRandomness, () => 1_700_000_000_123)).toBe('tok-1700000000123000000');
  });
});

describe('Base32', () => {
  // RFC 4648, section 10, without the padding.
  it.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('of %j is %j', (text, expected) => {
    expect(base32(new TextEncoder().encode(text))).toBe(expected);
  });

  it('tells any bytes apart', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 10, maxLength: 10 }), (bytes) => {
        let number = 0n;
        for (const character of base32(bytes)) {
          number = number * 32n + BigInt('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(character));
        }
        expect(number).toBe(bytes.reduce((value, byte) => value * 256n + BigInt(byte), 0n));
      }),
      runs(35),
    );
  });
});
