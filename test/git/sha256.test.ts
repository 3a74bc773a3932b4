/** SHA-256 of small things, against the platform's. */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256Start } from '../../src/git/sha256.ts';
import { runs } from '../support/runs.ts';

function expected(parts: readonly Uint8Array[]): number[] {
  const digest = createHash('sha256').update(Buffer.concat(parts)).digest();
  return [digest.readUInt32BE(0), digest.readUInt32BE(4)];
}

it('is that of the platform for every length', () => {
  for (let length = 0; length <= 1100; length++) {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 31 + length) & 0xff);
    expect(sha256Start([bytes])).toEqual(expected([bytes]));
  }
});

it('is that of all parts one behind the other', () => {
  const part = fc.uint8Array({ maxLength: 600 });
  fc.assert(
    fc.property(part, part, (a, b) => {
      expect(sha256Start([a, b])).toEqual(expected([a, b]));
    }),
    runs(100),
  );
});
