/** The automaton against a search that compares at every place. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_TEXT_BYTES,
  placesOf,
  type SearchedText,
  TextSearch,
} from '../../../src/git/search/text-search.ts';
import { randomPieces } from '../../support/byte-chunks.ts';
import { runs } from '../../support/runs.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const classesOf = (letters: string) => Array.from(Buffer.from(letters), (byte: number) => [byte]);
const literal = (before: string, letters: string, after: string | null = null): SearchedText => ({
  before: [...Buffer.from(before)],
  letters: classesOf(letters),
  after: after === null ? null : [...Buffer.from(after)],
  maxCopied: 0,
});

const byte = fc.constantFrom(...Buffer.from('abAB '));
const bytes = fc.uniqueArray(byte, { minLength: 1, maxLength: 2 });
/** Any number of letters may be missing. */
const anyText: fc.Arbitrary<SearchedText> = fc
  .tuple(bytes, fc.array(bytes, { minLength: 1, maxLength: 5 }), fc.option(bytes))
  .map(([before, own, after]) => ({ before, letters: own, after, maxCopied: own.length - 1 }));
const texts = fc.array(anyText, { minLength: 1, maxLength: 5 });
const letters = fc.array(byte, { maxLength: 60 });

const rowOf = ({ before, letters: own, after }: SearchedText) => [before, ...own, ...(after ? [after] : [])];
const fits = (row: readonly (readonly number[])[], content: readonly number[], at: number) =>
  row.every((classes, index) => classes.includes(content[at + index] ?? -1));

/** Where texts end, each place once, by comparing everywhere. */
function endsOf(all: readonly SearchedText[], content: readonly number[]): number[] {
  return [...content.keys()]
    .map((at) => at + 1)
    .filter((end) => all.some((text) => fits(rowOf(text), content, end - placesOf(text))));
}

function found(search: TextSearch, pieces: readonly Uint8Array[]): number[] {
  const ends: number[] = [];
  let offset = 0;
  for (const piece of pieces) {
    for (let at = search.find(piece, 0, piece.length); at >= 0; at = search.find(piece, at, piece.length))
      ends.push(offset + at);
    offset += piece.length;
  }
  return ends;
}

describe('TextSearch', () => {
  it('finds what a comparison at every place finds, in any pieces', () => {
    fc.assert(
      fc.property(texts, letters, fc.nat(999), (all, content, seed) => {
        const search = new TextSearch(all);
        search.begin();
        expect(found(search, randomPieces(Uint8Array.from(content), seed))).toEqual(endsOf(all, content));
      }),
      runs(170),
    );
  });

  it('tells what may have begun in a copy, and what may go on in one', () => {
    fc.assert(
      fc.property(texts, fc.array(byte, { minLength: 1, maxLength: 8 }), (all, content) => {
        const search = new TextSearch(all);
        search.begin(true);
        const isEnd = found(search, [Uint8Array.from(content)]).includes(content.length);
        /**
         * Whether so much of a text is there, of which the copies before and behind may have the
         * rest.
         */
        const isThere = (text: SearchedText, matched: number): boolean => {
          const row = rowOf(text).slice(0, matched);
          const missing = Math.max(0, row.length - content.length);
          // Without a letter of it, the insert would be no part of it.
          if (missing > text.letters.length) return false;
          return fits(row.slice(missing), content, content.length + missing - matched);
        };
        expect(isEnd).toBe(all.some((text) => isThere(text, placesOf(text))));
        expect(search.hasBegun).toBe(
          all.some((text) =>
            text.letters.some((_, index) => index + 2 < placesOf(text) && isThere(text, index + 2)),
          ),
        );
      }),
      runs(170),
    );
  });

  it('says what it found: the longest first', () => {
    const search = new TextSearch([literal('b', 'c'), literal('a', 'bc'), literal('x', 'y')]);
    search.find(Buffer.from('abc'), 0, 3);
    expect(search.ended).toEqual([1, 0]);
    expect([...search.spans(Buffer.from('.abc'))]).toEqual([{ start: 2, end: 4, text: 1 }]);
  });

  it('says what it found: minor texts last', () => {
    const search = new TextSearch([{ ...literal('x', 'abc'), isMinor: true }, literal('a', 'bc')]);
    search.find(Buffer.from('xabc'), 0, 4);
    expect(search.ended).toEqual([1, 0]);
    expect([...search.spans(Buffer.from('xabc'))]).toEqual([{ start: 2, end: 4, text: 1 }]);
  });

  it('finds texts at both ends of an object, without what stands around them', () => {
    const search = new TextSearch([literal(' \n', 'ab', ' \n')]);
    expect([...search.spans(Buffer.from('ab, ab ab'))]).toEqual([
      { start: 4, end: 6, text: 0 },
      { start: 7, end: 9, text: 0 },
    ]);
    expect([...search.spans(Buffer.from('ab'))]).toEqual([{ start: 0, end: 2, text: 0 }]);
  });

  it('finds nothing across objects', () => {
    const search = new TextSearch([literal('a', 'b')]);
    search.begin();
    expect(search.find(Buffer.from('a'), 0, 1)).toBe(-1);
    search.begin();
    expect(search.find(Buffer.from('b'), 0, 1)).toBe(-1);
  });

  it('takes texts up to its limit, and no more', () => {
    const many = Array.from({ length: MAX_TEXT_BYTES / 8 }, (_, at) =>
      literal('x', String(at).padStart(7, 'x')),
    );
    const search = new TextSearch(many);
    expect([...search.spans(Buffer.from('xxxxxx42'))]).toEqual([{ start: 1, end: 8, text: 42 }]);
    expect(() => new TextSearch([...many, literal('y', 'z')])).toThrow(RangeError);
  });

  it('stays small, whatever it reads, and finds the same', () => {
    // ÿ and its capital share a byte with ø: of a text of ø, any of these may be under way at many
    // places.
    const alike = Array.from({ length: 400 }, (_, at) => ((at * at) % 7 < 3 ? [0xb8] : [0xb8, 0xbf]));
    const search = new TextSearch([{ ...literal(' ', ''), letters: alike }, literal(' ', 'end')]);
    const random = Uint8Array.from({ length: 50_000 }, (_, at) => ((at * at * 7) % 11 < 6 ? 0xb8 : 0x20));
    expect([...search.spans(Buffer.concat([random, Buffer.from(' end')]))]).toContainEqual({
      start: 50_001,
      end: 50_004,
      text: 1,
    });
    expect(search.bytes).toBeLessThanOrEqual(search.mostBytes);
    expect(search.mostBytes).toBeLessThan(2.25 * 1024 * 1024);
  });

  it(
    'ends a search that would take too long, because its texts are under way in too many ways',
    exhaustive,
    () => {
      const alike = Array.from({ length: 400 }, (_, at) => ((at * at) % 7 < 3 ? [0xb8] : [0xb8, 0xbf]));
      const search = new TextSearch([
        { ...literal(String.fromCharCode(0x20), ''), before: [0xb8], letters: alike },
      ]);
      let state = 1;
      const random = Uint8Array.from({ length: 1_000_000 }, () => {
        state = (state * 48_271) % 0x7fffffff;
        return state % 40 === 0 ? 0xbf : 0xb8;
      });
      expect(() => [...search.spans(random)]).toThrow(RangeError);
    },
  );
});

const textsIn = (search: TextSearch, content: string): number[] =>
  Array.from(search.spans(Buffer.from(content)), ({ text }) => text);

describe('a text that is found too often', () => {
  const common = ['abc', 'bcd', 'xy'].map((text) => literal(' a', text));

  it('is not found any more, from the middle of an object on, and others are', () => {
    const search = new TextSearch(common);
    const seen: number[] = [];
    for (const { text } of search.spans(Buffer.from(' abcd xy abcd xyz'))) {
      seen.push(text);
      if (text === 0) search.mute(0);
    }
    expect(seen).toEqual([0, 1, 2, 1, 2]);
    expect(textsIn(search, ' abc bcd')).toEqual([1]);
  });

  it('is found again when everything is', () => {
    const search = new TextSearch(common);
    for (const text of common.keys()) search.mute(text);
    expect(textsIn(search, ' abcd xy')).toEqual([]);
    search.unmute();
    expect(textsIn(search, ' abcd xy')).toEqual([0, 1, 2]);
  });
});
