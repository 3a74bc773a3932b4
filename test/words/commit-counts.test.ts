/** The changes of an update, in words. */
import { expect, it } from 'vitest';
import { countsText } from '../../src/words/commit-counts.ts';

const NONE = { added: 0, changed: 0, dropped: 0 };

it.each([
  [NONE, [], ''],
  [{ ...NONE, added: 1 }, [], '1 commit added'],
  [{ added: 2, changed: 1, dropped: 1 }, ['Old'], '2 commits added, 1 changed, 1 dropped (Old)'],
  [{ ...NONE, dropped: 4 }, ['a', 'b', 'c', 'd'], '4 commits dropped (a, b, c, ...)'],
  [{ ...NONE, dropped: 4 }, [], '4 commits dropped'],
])('%j with %j reads %j', (counts, dropped, text) => {
  expect(countsText(counts, dropped)).toBe(text);
});
