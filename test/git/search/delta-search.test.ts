/** Which deltas may hide a part of a name in what they copy. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeltaInserts } from '../../../src/git/pack/delta-inserts.ts';
import { ByteSearch } from '../../../src/git/search/byte-search.ts';
import { mayHideName } from '../../../src/git/search/delta-search.ts';
import { partialPatterns } from '../../../src/git/search/identity-patterns.ts';
import { copyInstruction, deltaSize, insertInstructions, makeDelta } from '../../support/pack-builder.ts';
import { runs } from '../../support/runs.ts';

const WHO = { name: Buffer.from('Ada Lovelace'), email: Buffer.from('ada.l@example.org'), encoding: null };
const HAS_NAME = /\bada lovelace\b|\bada\.l@example\.org\b/i;
const partial = new ByteSearch(partialPatterns([WHO], new Set()).patterns);

/** A delta that goes on in its base where the last copy ended, with these texts in between. */
function inserting(...texts: readonly string[]): Uint8Array {
  const steps = texts.flatMap((text, index) => [
    copyInstruction(index * 100, 100),
    insertInstructions(Buffer.from(text)),
  ]);
  const end = copyInstruction(texts.length * 100, 100);
  return Buffer.concat([deltaSize(1_000), deltaSize(1_000), ...steps, end]);
}

function hasInserts(delta: Uint8Array): boolean {
  let bytes = 0;
  const inserts = new DeltaInserts({ inserted: (_, start, end) => (bytes += end - start), copied: () => {} });
  inserts.begin();
  inserts.take(delta);
  return bytes > 0;
}

describe('a delta is searched as a whole', () => {
  it.each([
    ['e'],
    ['lace\n'],
    ['- A'],
    ['da Love'],
    [' '],
    ['x\nAda'],
    ['Lovelace, '],
    ['@'],
    ['me: ada.'],
    ['see', '(A'],
  ])('if it inserts %j', (...texts) => {
    expect(mayHideName(partial, inserting(...texts))).toBe(true);
  });

  it('if it repeats what it has copied', () => {
    const [first, again] = [copyInstruction(0, 100), copyInstruction(40, 20)];
    expect(mayHideName(partial, Buffer.concat([deltaSize(1_000), deltaSize(120), first, again]))).toBe(true);
    const next = copyInstruction(100, 20);
    expect(mayHideName(partial, Buffer.concat([deltaSize(1_000), deltaSize(120), first, next]))).toBe(false);
  });

  it.each([['return x;\n'], ['more text\n'], ['ix'], ['  if (so) '], ['5'], ['Lovely\n', 'Adam\n']])(
    'but not if it inserts %j',
    (...texts) => {
      expect(mayHideName(partial, inserting(...texts))).toBe(false);
    },
  );

  it('whenever it makes a name that is in one piece neither in the base nor in the delta', () => {
    const piece = fc.constantFrom(
      'Ada Lovelace',
      'Ada',
      'Love',
      'lace',
      ' ',
      '\n',
      'ada.l@example.org',
      'ada.l@',
      'x, y\n',
    );
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const delta = makeDelta(Buffer.from(before), Buffer.from(after));
        // In one piece it is upstream's, whatever stands around it.
        const isUpstreams = /ada lovelace|ada\.l@example\.org/i.test(before);
        if (isUpstreams || !HAS_NAME.test(after)) return;
        // What is only left out may join what upstream has published in pieces.
        if (!hasInserts(delta)) return;
        expect(mayHideName(partial, delta)).toBe(true);
      }),
      runs(1_000),
    );
  });
});
