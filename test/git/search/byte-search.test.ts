/** The automaton against a search that compares at every place. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BytePattern, ByteSearch, MAX_PATTERN_BYTES } from '../../../src/git/search/byte-search.ts';
import { randomPieces } from '../../support/byte-chunks.ts';
import { runs } from '../../support/runs.ts';

const literal = (text: string): BytePattern => ({
  classes: Array.from(Buffer.from(text), (byte: number) => [byte]),
});

/** Where patterns end, each place once, by comparing everywhere. */
function endsOf(patterns: readonly BytePattern[], text: Uint8Array): number[] {
  const ends = new Set<number>();
  for (const { classes, earlyEnd } of patterns) {
    const matches = (start: number, length: number) =>
      start + length <= text.length &&
      classes.slice(0, length).every((bytes, at) => bytes.includes(text[start + at] as number));
    for (let start = 0; start < text.length; start++) {
      if (matches(start, classes.length)) ends.add(start + classes.length);
      for (let length = earlyEnd?.after ?? classes.length; length < classes.length - 1; length++) {
        if (matches(start, length) && text[start + length] === earlyEnd?.byte) ends.add(start + length + 1);
      }
    }
  }
  return [...ends].toSorted((a, b) => a - b);
}

function found(search: ByteSearch, pieces: readonly Uint8Array[]): number[] {
  const ends: number[] = [];
  let offset = 0;
  search.reset();
  for (const piece of pieces) {
    for (let at = search.find(piece, 0, piece.length); at >= 0; at = search.find(piece, at, piece.length)) {
      ends.push(offset + at);
    }
    offset += piece.length;
  }
  return ends;
}

describe('ByteSearch', () => {
  it('finds what a comparison at every place finds, in any pieces', () => {
    const byte = fc.constantFrom(...Buffer.from('abAB '));
    const bytes = fc.uniqueArray(byte, { minLength: 1, maxLength: 2 });
    const pattern = fc.record(
      {
        classes: fc.array(bytes, { minLength: 1, maxLength: 5 }),
        earlyEnd: fc.record({ after: fc.integer({ min: 1, max: 5 }), byte }),
      },
      { requiredKeys: ['classes'] },
    );
    fc.assert(
      fc.property(
        fc.array(pattern, { minLength: 1, maxLength: 5 }),
        fc.array(byte, { maxLength: 60 }),
        fc.nat(999),
        (patterns, letters, seed) => {
          const text = Uint8Array.from(letters);
          expect(found(new ByteSearch(patterns), randomPieces(text, seed))).toEqual(endsOf(patterns, text));
        },
      ),
      runs(500),
    );
  });

  it('says which pattern it found: the longest', () => {
    const search = new ByteSearch([literal('bc'), literal('abc'), literal('x')]);
    search.find(Buffer.from('abc'), 0, 3);
    expect(search.found).toBe(1);
  });

  it('finds nothing across a reset', () => {
    const search = new ByteSearch([literal('ab')]);
    expect(search.find(Buffer.from('a'), 0, 1)).toBe(-1);
    search.reset();
    expect(search.find(Buffer.from('b'), 0, 1)).toBe(-1);
  });

  it('takes patterns up to its limit, and no more', () => {
    const many = Array.from({ length: MAX_PATTERN_BYTES / 8 }, (_, at) =>
      literal(String(at).padStart(8, 'x')),
    );
    expect(new ByteSearch(many).find(Buffer.from('xxxxxx42'), 0, 8)).toBe(8);
    expect(() => new ByteSearch([...many, literal('y')])).toThrow(RangeError);
  });

  it('takes no patterns that overlap in more ways than its table has room for', () => {
    // ÿ and its capital share a byte with ø: of a text of ø, any of these may be under way at many places.
    const classes = Array.from({ length: 400 }, (_, at) => ((at * at) % 7 < 3 ? [0xb8] : [0xb8, 0xbf]));
    expect(() => new ByteSearch([{ classes }])).toThrow(RangeError);
  });
});
