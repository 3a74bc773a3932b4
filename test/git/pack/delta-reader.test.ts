/** The instructions of a delta as they arrive, against those that were written. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { DeltaReader } from '../../../src/git/pack/delta.ts';
import { randomPieces } from '../../support/byte-chunks.ts';
import { copyInstruction, deltaSize, insertInstructions } from '../../support/pack-builder.ts';
import { runs } from '../../support/runs.ts';

/** An instruction, and what it says. */
const copy = fc
  .tuple(fc.nat(2 ** 32 - 1), fc.integer({ min: 1, max: 0x10000 }))
  .map(([offset, length]) => [copyInstruction(offset, length), ` ${offset}+${length} `] as const);
const insert = fc
  .uint8Array({ minLength: 1, maxLength: 300 })
  .map((bytes) => [insertInstructions(bytes), Buffer.from(bytes).toString('hex')] as const);
const size = fc.nat(2 ** 40).map((bytes) => deltaSize(bytes));
const delta = fc
  .tuple(size, size, fc.array(fc.oneof(copy, insert), { maxLength: 20 }))
  .map(([base, result, steps]) => ({
    bytes: Buffer.concat([base, result, ...steps.map(([instruction]) => instruction)]),
    says: steps.map(([, says]) => says).join(''),
  }));

/** Writes what is inserted in hexadecimal digits, and between that what is copied. */
function instructionsOf(pieces: readonly Uint8Array[]): string {
  let text = '';
  const reader = new DeltaReader({
    inserted: (bytes) => (text += Buffer.from(bytes).toString('hex')),
    copied: (offset, length) => (text += ` ${offset}+${length} `),
  });
  reader.begin();
  for (const piece of pieces) reader.take(piece);
  return text;
}

it('are the same in any pieces, one delta behind the other', () => {
  fc.assert(
    fc.property(delta, fc.nat(999), ({ bytes, says }, seed) => {
      expect(instructionsOf([bytes])).toBe(says);
      expect(instructionsOf(randomPieces(bytes, seed))).toBe(says);
    }),
    runs(100),
  );
});
