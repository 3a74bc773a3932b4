/** Hunks at their place, moved as a whole, at several places and at none; and hostile files. */
import { describe, expect, it, vi } from 'vitest';
import { applyBinary } from '../../src/patch/binary.ts';
import { applyHunks, bytesToPlace, newBudget, placeHunks } from '../../src/patch/apply.ts';
import { readDiffs } from '../../src/patch/diff.ts';
import { HunkLines } from '../../src/patch/hunk-lines.ts';
import { PatchError } from '../../src/patch/patch-error.ts';

const HEAD = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n';
/** Changes line 5 of nine. */
const CHANGE = '@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n';
const NINE = '1\n2\n3\n4\n5\n6\n7\n8\n9\n';

function applied(source: string, hunks: string, budget = newBudget()): string {
  const diff = Buffer.from(HEAD + hunks);
  const [file] = readDiffs(diff, 0, diff.length, { files: 0, hunks: 0 });
  try {
    const placed = placeHunks(Buffer.from(source), diff, file?.hunks ?? [], 'x', budget);
    return Buffer.from(applyHunks(placed)).toString();
  } catch (error) {
    if (error instanceof PatchError) return `refused: ${error.lines.join('\n')}`;
    throw error;
  }
}

describe('a hunk', () => {
  it.each([
    ['at its place', NINE, CHANGE, NINE.replace('5', 'five')],
    ['that was moved', `0\n0\n${NINE}`, CHANGE, `0\n0\n${NINE.replace('5', 'five')}`],
    [
      'at its place, although it stands elsewhere, too',
      NINE + NINE,
      CHANGE,
      NINE.replace('5', 'five') + NINE,
    ],
    [
      'at the end, without a line feed',
      '1\n2\n3',
      '@@ -2,2 +2,2 @@\n 2\n-3\n\\ No newline at end of file\n+4\n',
      '1\n2\n4\n',
    ],
    [
      'that takes the line feed at the end',
      '1\n2\n',
      '@@ -1,2 +1,2 @@\n 1\n-2\n+2\n\\ No newline at end of file\n',
      '1\n2',
    ],
    ['with CR LF', '1\r\n2\r\n', '@@ -1,2 +1,2 @@\n 1\r\n-2\r\n+3\r\n', '1\r\n3\r\n'],
  ])('%s is applied', (_, source, hunks, result) => {
    expect(applied(source, hunks)).toBe(result);
  });

  it.each([
    [
      'that stands nowhere',
      NINE.replace('6', 'six'),
      CHANGE,
      'x, hunk 1 (line 4) does not fit.\nUpstream has there now:\n  4: 4\n  5: 5\n  6: six',
    ],
    ['at several places', `0\n${NINE}${NINE}`, CHANGE, 'does not fit'],
    ['of the first line, behind others', `0\n${NINE}`, '@@ -1,2 +1,2 @@\n-1\n+one\n 2\n', 'does not fit'],
    ['of the last line, before others', `${NINE}0\n`, '@@ -8,2 +8,2 @@\n 8\n-9\n+nine\n', 'does not fit'],
    ['without lines around it', NINE, '@@ -5 +5 @@\n-5\n+five\n', 'does not fit'],
    [
      'before the one before it',
      NINE,
      `${CHANGE}@@ -2,2 +2,2 @@\n 2\n-3\n+three\n 4\n`.replace('2,2 +2,2', '2,3 +2,3'),
      'hunk 2',
    ],
    ['with other line ends', NINE.replaceAll('\n', '\r\n'), CHANGE, 'does not fit'],
    ['of a file that is empty', '', CHANGE, 'empty'],
  ])('%s is refused', (_, source, hunks, words) => {
    const result = applied(source, hunks);
    expect(result).toContain('refused: ');
    expect(result).toContain(words);
  });

  it('counts the bytes in which it is sought, as lines may be long', () => {
    const lines = Array.from({ length: 60 }, (_, index) => `${index} ${'x'.repeat(2_000)}`);
    // Each has moved by a line.
    const hunks = Array.from(
      { length: 29 },
      (_, index) =>
        `@@ -${2 * index + 3},2 +${2 * index + 3},2 @@\n-${lines[2 * index + 1]}\n+a\n ${lines[2 * index + 2]}\n`,
    );
    const budget = { bytes: 1_000_000, wrong: 1 };
    expect(applied(`${lines.join('\n')}\n`, hunks.join(''), budget)).toContain('Too many of its hunks');
  });

  it('is sought in linear time, and not for ever', () => {
    const same = 'a\n'.repeat(20_000);
    const hunk = `@@ -50,10000 +50,10000 @@\n${' a\n'.repeat(9_998)}-b\n a\n+c\n`;
    expect(applied(same, hunk)).toContain('does not fit');
    const moved = `0\n${NINE}`;
    const words = 'Too many of its hunks';
    // The file, and the four lines of the hunk with their signs.
    const needed = moved.length + '4\n-5\n+five\n 6\n'.length + 1 + 32 * (10 + 3);
    expect(applied(moved, CHANGE, { bytes: needed, wrong: 1 })).not.toContain(words);
    expect(applied(moved, CHANGE, { bytes: needed - 1, wrong: 1 })).toContain(words);
  });

  it('is compared at few places whose lines have the same hashes, and in few short lines', () => {
    const words = 'Too many of its hunks';
    const compared = vi.spyOn(HunkLines.prototype, 'next');
    // A NUL has the hash of nothing.
    const twin = `@@ -50,5000 +50,5001 @@\n${'\n'.repeat(4_999)}+a\n \0\n`;
    expect(applied('\n'.repeat(20_000), twin)).toContain(words);
    expect(compared.mock.calls.length).toBeLessThan(10 * 5_000);
    compared.mockRestore();
    const marks = Array.from({ length: 8 }, (_, at) => `${at}\n\n`);
    const hunks = marks.map((_, at) => `@@ -5000,2 +5000,3 @@\n ${at}\n+x\n\n`).join('');
    expect(applied(marks.join('') + '\n'.repeat(900_000), hunks)).toContain(words);
  });
});

describe('its memory', () => {
  it('grows with the lines of the file', () => {
    expect(bytesToPlace(Buffer.from('a\n\nb'), 'x')).toBe(3 * 12);
  });

  it('is refused for more than a million lines', () => {
    expect(() => bytesToPlace(Buffer.alloc(1_000_000, '\n'), 'x')).not.toThrow();
    expect(() => bytesToPlace(Buffer.alloc(1_000_001, '\n'), 'x')).toThrow('too large');
  });
});

function read(method: string, size: number, lines: string) {
  const diff = Buffer.from(
    `diff --git a/x b/x\nindex ${'0'.repeat(40)}..${'1'.repeat(40)}\nGIT binary patch\n${method} ${size}\n${lines}\n\n`,
  );
  const [file] = readDiffs(diff, 0, diff.length, { files: 0, hunks: 0 });
  return { diff, change: file?.binary ?? expect.fail('no binary patch') };
}
async function outcome(method: string, size: number, lines: string): Promise<string> {
  const { diff, change } = read(method, size, lines);
  try {
    const content = await applyBinary(new Uint8Array(0), diff, change, 1_000, 'x', async () => {});
    return Buffer.from(content).toString('latin1');
  } catch (error) {
    return (error as PatchError).lines.join('\n');
  }
}

describe('a binary patch', () => {
  it.each([
    ['an empty file', 'literal', 0, 'HcmV?d00001', ''],
    ['a length that is wrong', 'literal', 5, 'HcmV?d00001', 'A binary patch in it is broken.'],
    ['a line that is too short', 'literal', 0, 'HcmV?d0000', 'A binary patch in it is broken.'],
    ['a digit that is none', 'literal', 0, 'HcmV?d0000"', 'A binary patch in it is broken.'],
    ['a group that is too large', 'literal', 0, 'D~~~~~', 'A binary patch in it is broken.'],
    [
      'a file that would be too large',
      'literal',
      9_999_999_999,
      'HcmV?d00001',
      'x is too large.\nPush it, or send a bundle.',
    ],
    ['a delta that is none', 'delta', 0, 'HcmV?d00001', 'A binary patch in it is broken.'],
    ['nothing', 'literal', 0, '', 'A binary patch in it is broken.'],
  ])('of %s ends in one sentence or in the file', async (_, method, size, lines, words) => {
    expect(await outcome(method, size, lines)).toBe(words);
  });
});
