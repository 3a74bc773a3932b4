/** Which texts contain the id of a commit. */
import { expect, it } from 'vitest';
import { lookAt } from '../../support/inserting.ts';
import { treeContent } from '../../support/objects.ts';
import { namesOf } from '../../support/pack-searching.ts';
import { MAX_SEARCHED_IDS, ownIdTexts } from '../../../src/git/search/searched-names.ts';
import { MAX_TEXT_BYTES, placesOf, TextSearch } from '../../../src/git/search/text-search.ts';

const ID = '0123abcdef0123abcdef0123abcdef0123abcdef';

const isIn = (text: string | Uint8Array): boolean =>
  [...new TextSearch(ownIdTexts([ID])).spans(Buffer.from(text))].length > 0;

it.each([ID, ID.toUpperCase(), '* fix (0123abc)', 'v1.0-3-g0123abc', 'see 0123abcd', '"0123abcdef01"'])(
  'is found in %j',
  (text) => {
    expect(isIn(text)).toBe(true);
  },
);

it.each(['0123ab', '0123abcz', '50123abc', '0123abd', 'x0123abcdef0'])('is not found in %j', (text) => {
  expect(isIn(text)).toBe(false);
});

it.each<[text: string, what: ReturnType<typeof lookAt>]>([
  ['see 0123abc|', 'found'],
  ['|0123abcd|', 'found'],
  ['|123abcdef01', 'part'],
  ['|23abcdef01', 'part'],
  ['see 0123a|', 'part'],
  ['|abcdef01', 'nothing'],
  ['0123|', 'nothing'],
  ['0|', 'nothing'],
])('of what a delta copies in part, here written as |, it may be in %j: %s', (text, what) => {
  expect(lookAt(namesOf('bot <bot@x.example>', [ID]), text)).toBe(what);
});

it('is found in a folder, as the commit of a submodule', () => {
  expect(isIn(treeContent([{ name: 'nested', oid: ID }]))).toBe(true);
});

it('is searched for with those of fifty other commits, in half of the room', () => {
  expect(MAX_SEARCHED_IDS).toBeGreaterThan(50);
  const ids = Array.from({ length: MAX_SEARCHED_IDS }, (_, at) =>
    ID.replace('0123', String(at).padStart(4, '0')),
  );
  expect(ownIdTexts(ids).reduce((sum, text) => sum + placesOf(text), 0)).toBeLessThanOrEqual(
    MAX_TEXT_BYTES / 2,
  );
});
