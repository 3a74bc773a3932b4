/** Which texts contain the id of a commit. */
import { expect, it } from 'vitest';
import { markCopies } from '../../support/copy-marks.ts';
import { treeContent } from '../../support/objects.ts';
import { ByteSearch, MAX_PATTERN_BYTES, patternBytes } from '../../../src/git/search/byte-search.ts';
import { MAX_SEARCHED_IDS, ownIdPatterns } from '../../../src/git/search/own-id-patterns.ts';

const ID = '0123abcdef0123abcdef0123abcdef0123abcdef';

function isIn(text: string | Uint8Array): boolean {
  const bytes = Buffer.concat([Buffer.from('\n'), Buffer.from(text), Buffer.from('\n')]);
  return new ByteSearch(ownIdPatterns([ID])).find(bytes, 0, bytes.length) >= 0;
}

it.each([
  ID,
  ID.toUpperCase(),
  '* fix (0123abc)',
  'v1.0-3-g0123abc',
  'see 0123abcd',
  '"0123abcdef01"',
  '|123abcdef01',
  'see 0123ab|',
])('is found in %j', (text) => {
  expect(isIn(markCopies(text))).toBe(true);
});

it.each(['0123ab', '0123abcz', '50123abc', '0123abd', 'x0123abcdef0', '|abcdef01', '0123a|'])(
  'is not found in %j',
  (text) => {
    expect(isIn(markCopies(text))).toBe(false);
  },
);

it('is found in a folder, as the commit of a submodule', () => {
  expect(isIn(treeContent([{ name: 'nested', oid: ID }]))).toBe(true);
});

it('is searched for with those of fifty other commits, in half of the room', () => {
  expect(MAX_SEARCHED_IDS).toBeGreaterThan(50);
  const ids = Array.from({ length: MAX_SEARCHED_IDS }, (_, at) =>
    ID.replace('0123', String(at).padStart(4, '0')),
  );
  expect(patternBytes(ownIdPatterns(ids))).toBeLessThanOrEqual(MAX_PATTERN_BYTES / 2);
});
