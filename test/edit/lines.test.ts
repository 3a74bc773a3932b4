/**
 * Undoes what a browser does to a text: line ends, the last line's end and a byte order mark stay
 * as they were.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  difference,
  diffLines,
  fileText,
  splitLines,
  MAX_FILE_BYTES,
  MAX_LINES,
  newContent,
} from '../../src/edit/lines.ts';
import { utf8 } from '../../src/git/bytes.ts';
import { runs } from '../support/runs.ts';
import { exhaustive } from '../support/exhaustive.ts';

/** The text that a text field sends for one that it shows. */
const sent = (text: string): string => text.replaceAll(/\r\n|\r|\n/g, '\r\n');
const shown = (content: string): string => {
  const text = fileText(utf8(content));
  if (text.kind === 'unfit') throw new Error(text.problem);
  return text.text;
};
const written = (original: string | null, typed: string): string =>
  Buffer.from(newContent(original === null ? null : utf8(original), typed)).toString();

const framed = (lines: readonly string[]): string => `same\n${lines.join('\n')}\nsame\n`;

const MB = MAX_FILE_BYTES;
const CUT = 'The difference is longer; this is its beginning.';

const line = fc.constantFrom('', 'a', 'b', '  c', 'ä€😀');
const content = fc
  .tuple(fc.constantFrom('', '\ufeff'), fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r'))), line)
  .map(([bom, lines, last]) => bom + lines.map(([text, end]) => text + end).join('') + last);

describe('the text of a file', () => {
  it('comes back from a browser as it was, whatever its line ends', () => {
    fc.assert(
      fc.property(content, (original) => {
        expect(written(original, sent(shown(original)))).toBe(original);
      }),
      runs(350),
    );
  });

  it('keeps the line ends of all lines that were not touched', () => {
    fc.assert(
      fc.property(content, line, fc.nat(), (original, added, at) => {
        const lines = shown(original).split('\n');
        lines.splice(at % (lines.length + 1), 0, `${added}!`);
        const result = written(original, sent(lines.join('\n')));
        const kept = splitLines(result.replace('\ufeff', '')).filter(({ text }) => text !== `${added}!`);
        const old = splitLines(original.replace('\ufeff', ''));
        const pairs = old.slice(0, -1).map((one) => JSON.stringify(one));
        for (const one of pairs) expect(kept.map((each) => JSON.stringify(each))).toContain(one);
      }),
      runs(350),
    );
  });

  it.each<[string, string | null, string, string]>([
    [
      'a new line gets the end of the line before it',
      'a\r\nb\nc\n',
      'a\r\nx\r\nb\r\ny\r\nc\r\n',
      'a\r\nx\r\nb\ny\nc\n',
    ],
    ['a new first line gets that of the first', 'a\r\nb\r\n', 'x\r\na\r\nb', 'x\r\na\r\nb\r\n'],
    ['a last line without an end stays so', 'a\nb', 'a\r\nB\r\n', 'a\nB'],
    ['a last line with an end stays so', 'a\nb\n', 'a\r\nB', 'a\nB\n'],
    ['a new file ends its last line', null, 'a\r\nb', 'a\nb\n'],
    ['a new file may be empty', null, '', ''],
    ['a text may be removed', 'a\n', '', ''],
    ['a byte order mark stays', '\ufeffa\r\n', 'b\r\n', '\ufeffb\r\n'],
  ])('%s', (_, original, typed, result) => {
    expect(written(original, typed)).toBe(result);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['NUL', utf8('a\0b'), /contains NUL/],
    ['bytes that are not UTF-8', Uint8Array.of(0x61, 0xff), /not text in UTF-8/],
    ['half a character', Uint8Array.of(0xed, 0xa0, 0x80), /not text in UTF-8/],
    ['more lines than fit into memory', utf8('\n'.repeat(MAX_LINES + 1)), /more than 100,000 lines/],
    ['a byte more than 1 MB', new Uint8Array(MAX_FILE_BYTES + 1).fill(0x61), /larger than 1 MB/],
  ])('with %s is not shown', (_, bytes, problem) => {
    expect(fileText(bytes)).toEqual({ kind: 'unfit', problem: expect.stringMatching(problem) });
  });

  it('of 1 MB is shown', () => {
    expect(fileText(new Uint8Array(MAX_FILE_BYTES).fill(0x61)).kind).toBe('text');
  });
});

describe('the difference of two texts', () => {
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });

  it('makes one of the other', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        let [old, now] = [0, 0];
        const kept: string[] = [];
        for (const { same, removed, added } of diffLines(before, after).blocks) {
          expect(before.slice(old, old + same)).toEqual(after.slice(now, now + same));
          kept.push(...before.slice(old, old + same));
          old += same + removed;
          now += same + added;
        }
        expect([old, now]).toEqual([before.length, after.length]);
        expect(kept.length).toBe(longestCommon(before, after));
      }),
      runs(350),
    );
  });

  it('of more than a thousand changes counts as a replacement, and says so', exhaustive, () => {
    const [before, after] = [numbered('a', 60_000), numbered('b', 60_000)];
    expect(diffLines(['x', ...before, 'y'], ['x', ...after, 'y'])).toEqual({
      blocks: [
        { same: 1, removed: 60_000, added: 60_000 },
        { same: 1, removed: 0, added: 0 },
      ],
      isBeyondLimit: true,
    });
    const { hunks, added, removed, remarks } = difference(before.join('\n'), after.join('\n'));
    expect([hunks.flat().length, added, removed]).toEqual([2_000, 60_000, 60_000]);
    expect(remarks).toEqual([expect.stringMatching(/^More than 1,000 lines differ/), CUT]);
  });

  it('of one of several files may have fewer changes, so that all take as long as one', () => {
    const [before, after] = [numbered('a', 200), numbered('b', 200)];
    expect(difference(framed(before), framed(after)).remarks).toEqual([]);
    expect(difference(framed(before), framed(after), 10).remarks).toEqual([
      expect.stringMatching(/^More than 316 lines differ/),
    ]);
    // Each line keeps its own end all the same.
    const old = utf8('a\r\nb\nc\r\n');
    expect(newContent(old, 'a\nB\nc\n', 10)).toEqual(utf8('a\r\nB\nc\r\n'));
  });

  it.each<[string, string, string, number, number]>([
    ['one line of 1 MB, and another letter at its end', 'a'.repeat(MB), `${'a'.repeat(MB - 1)}b`, 1, 1],
    ['two files of other letters', 'a'.repeat(MB), 'b'.repeat(MB), 1, 1],
    ['a new file of many lines', '', '\n'.repeat(MAX_LINES), MAX_LINES, 0],
    ['lines that take turns', 'a\nb\n'.repeat(40_000), 'b\na\n'.repeat(40_000), 1, 1],
    ['many other lines', numbered('a', MAX_LINES).join('\n'), numbered('b', 500).join('\n'), 500, MAX_LINES],
  ])('of %s is bounded', (_, before, after, added, removed) => {
    const found = difference(before, after);
    expect([found.added, found.removed]).toEqual([added, removed]);
    expect(found.hunks.flat().length).toBeLessThanOrEqual(2_000);
  });

  it('shows each changed line and those near it once, in order, and leaves nothing out that is near', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const { hunks, added, removed, remarks } = difference(before.join('\n'), after.join('\n'));
        const lines = hunks.flat();
        expect(remarks).toEqual([]);
        expect(lines.filter(({ kind }) => kind === 'added').length).toBe(added);
        expect(lines.filter(({ kind }) => kind === 'removed').length).toBe(removed);
        for (const side of ['before', 'after'] as const) {
          const numbers = lines.map((each) => each[side]).filter((number) => number !== null);
          expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
        }
        for (const hunk of hunks) {
          const kinds = hunk.map(({ kind }) => kind);
          expect(kinds.findIndex((kind) => kind !== 'same')).toBeLessThanOrEqual(3);
          expect(kinds.join(' ')).not.toMatch(/(?:same ){7}/);
          for (const [index, { kind, before: number }] of hunk.entries()) {
            const next = hunk[index + 1];
            if (kind === 'same' && next?.kind === 'same') expect(next.before).toBe((number ?? 0) + 1);
          }
        }
      }),
      runs(170),
    );
  });

  it('shows what has changed with its numbers and three lines around it', () => {
    const before = numbered('line ', 20).join('\n');
    const after = before.replace('line 9\n', 'line nine\r\n');
    const { hunks, added, removed, remarks } = difference(before, after);
    expect([added, removed, remarks]).toEqual([1, 1, []]);
    expect(
      hunks.map((lines) => lines.map(({ kind, before: old, after: now, text }) => [kind, old, now, text])),
    ).toEqual([
      [
        ['same', 7, 7, 'line 6'],
        ['same', 8, 8, 'line 7'],
        ['same', 9, 9, 'line 8'],
        ['removed', 10, null, 'line 9'],
        ['added', null, 10, 'line nine'],
        ['same', 11, 11, 'line 10'],
        ['same', 12, 12, 'line 11'],
        ['same', 13, 13, 'line 12'],
      ],
    ]);
  });

  it('of a large text is cut', () => {
    const { hunks, added, remarks } = difference('', numbered('', 5_000).join('\n'));
    expect([hunks[0]?.length, added, remarks]).toEqual([2_000, 5_000, [CUT]]);
  });

  it('of several files shows no more text than that of two large ones', () => {
    const large = `${'&'.repeat(499)}\n`.repeat(2_000);
    const alone = difference(large, '');
    expect([alone.hunks[0]?.length, alone.remarks]).toEqual([2_000, []]);
    const { hunks, removed, remarks } = difference(large, '', 10);
    expect([hunks[0]?.length, removed, remarks]).toEqual([420, 2_000, [CUT]]);
  });
});

function numbered(word: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${word}${index}`);
}

/** By the textbook, for comparison. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, () => 0);
  for (const one of a) {
    const next = [0];
    for (const [index, other] of b.entries()) {
      next.push(one === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
