/**
 * The table of who waits first: each of its examples, and that code and document have the same. And
 * that its benchmark runs in Node, which strips types by a parser of its own.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Claimant, fairWait, SHARED, type SharedWindow, type Use } from '../../src/limits/fairness.ts';

const ROOT = join(import.meta.dirname, '../..');
const NOW = 1_800_000_000_000;
const LIMIT = { most: 100, withinMs: 60 * 60_000 };
const HEADING = ['Rule', 'Used', 'Goes on', 'Waits'];

/** The cells of each row below the heading of the table. */
function rowsIn(path: string): string[][] {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
  const cells = lines.map((line) => line.replace(/^ \* /, '').split('|').slice(1, -1));
  const rows = cells.map((row) => row.map((cell) => cell.trim()));
  const start = rows.findIndex((row) => row.join() === HEADING.join());
  const end = rows.findIndex((row, index) => index > start && row.length === 0);
  return rows.slice(start + 2, end);
}

/** `b/x` or `member b`: network b, in repository x or in none. */
function claimantIn(text: string): Claimant {
  const [by = '', repository = null] = text.replace('member ', '').split('/');
  return { by, repository, takesPart: text.startsWith('member ') };
}

/** `account: a 47, b/x 20`: those uses, in one window or, without a name, in each. */
function usesIn(text: string): { readonly windows: readonly SharedWindow[]; readonly uses: readonly Use[] } {
  const [list = '', name] = text.split(': ').toReversed();
  const uses = list.split(', ').flatMap((part) => {
    const [who = '', count = ''] = part.split(' ');
    return Array.from({ length: Number(count) }, () => ({ at: NOW, ...claimantIn(who) }));
  });
  return { windows: SHARED.filter((window) => name === undefined || window === name), uses };
}

const ROWS = rowsIn('src/limits/fairness.ts');

it('is the same in docs/operations.md', () => {
  expect(ROWS.length).toBeGreaterThan(5);
  expect(rowsIn('docs/operations.md')).toEqual(ROWS);
});

it.each(ROWS)('has an example that holds: %s (%s)', (_rule, used = '', goesOn = '', waits = '') => {
  const { windows, uses } = usesIn(used);
  expect(windows).not.toEqual([]);
  for (const window of windows) {
    const isServed = (who: string): boolean =>
      fairWait(window, uses, [LIMIT], claimantIn(who), NOW).waitMs === 0;
    expect([goesOn, waits].filter(Boolean).map(isServed)).toEqual(
      [goesOn, waits].filter(Boolean).map((who) => who === goesOn),
    );
  }
});

it.each(readdirSync(join(ROOT, 'src/limits')))('has a benchmark for which Node can read %s', (file) => {
  const text = readFileSync(join(ROOT, 'src/limits', file), 'utf8');
  expect(() => stripTypeScriptTypes(text)).not.toThrow();
});
