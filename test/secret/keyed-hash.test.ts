/** The hashes that stand for what must not be known. */
import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identityHash, keyedHash, prKeyOf } from '../../src/secret/keyed-hash.ts';

const SECRET = 'a secret of more than thirty-two characters';

describe('the identity hash', () => {
  it('is the beginning of the HMAC-SHA256 of thread and token, as the contract gives it', () => {
    const hmac = createHmac('sha256', SECRET).update('octo/hello#7|TOKEN').digest('hex');
    expect(identityHash(SECRET, 'octo/hello#7', 'TOKEN')).toBe(hmac.slice(0, 8));
  });

  it('is the same on a thread whose repository is written in another case: the host tells no difference', () => {
    expect(identityHash(SECRET, 'Octo/Hello#7', 'TOKEN')).toBe(identityHash(SECRET, 'octo/hello#7', 'TOKEN'));
    expect(identityHash(SECRET, 'octo/hello#7', 'token')).not.toBe(
      identityHash(SECRET, 'octo/hello#7', 'TOKEN'),
    );
  });

  it('is 8 lower-case hex characters, the same each time, and another on another thread or with another key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (token) => {
        const hash = identityHash(SECRET, 'octo/hello#7', token);
        expect(hash).toMatch(/^[0-9a-f]{8}$/);
        expect(identityHash(SECRET, 'octo/hello#7', token)).toBe(hash);
        expect(identityHash(SECRET, 'octo/hello#8', token)).not.toBe(hash);
        expect(identityHash(`${SECRET}!`, 'octo/hello#7', token)).not.toBe(hash);
      }),
    );
  });
});

describe('a keyed hash', () => {
  it('differs between uses', () => {
    const hashes = (['window', 'burst', 'alert', 'reporter', 'push', 'slot', 'target'] as const).map((use) =>
      keyedHash(SECRET, use, 'same'),
    );
    expect(new Set(hashes).size).toBe(hashes.length);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('the key of a pull request', () => {
  it('is the beginning of the keyed hash of its pr_hash', () => {
    expect(prKeyOf(SECRET, '0003f65c')).toBe(keyedHash(SECRET, 'pr-key', '0003f65c').slice(0, 32));
    expect(prKeyOf(`${SECRET}!`, '0003f65c')).not.toBe(prKeyOf(SECRET, '0003f65c'));
  });

  it('never looks like a number, which JGit would count', () => {
    const digits = keyedHash(SECRET, 'pr-key', '0003f65d').slice(0, 32);
    expect(digits).toMatch(/^[0-9]{32}$/);
    expect(prKeyOf(SECRET, '0003f65d')).toBe(`a${digits.slice(1)}`);
  });
});
