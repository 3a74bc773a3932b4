/** Words for how an update changes commits, where only their numbers are known. */
import { expect, it } from 'vitest';
import { changesText } from '../../src/text/commit-changes.ts';

it('names no commit where only the counts are known', () => {
  expect(changesText({ counts: { added: 2, changed: 1, dropped: 4 }, dropped: [] })).toBe(
    '2 commits added, 1 changed, 4 dropped',
  );
  expect(changesText({ counts: { added: 0, changed: 0, dropped: 0 }, dropped: [] })).toBe('');
});
