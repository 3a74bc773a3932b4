/**
 * Texts that cost a search most if a push is full of one of them, as the searches' own tables
 * suggest: each beginning of what they find, and as much as they test before they look closely. So
 * a new row is tested by being there.
 */
import * as fc from 'fast-check';
import { CREDENTIAL_TEXTS, CREDENTIALS } from '../../src/git/search/credentials.ts';
import { HOME_TEXTS } from '../../src/git/search/home-folders.ts';
import type { SearchedText } from '../../src/git/search/text-search.ts';
import { SEARCHED } from '../../src/leaks/messages.ts';

/**
 * The shortest beginning of a text that a search finds, with a blank before it where that may be.
 */
function beginningOf({ before, letters }: SearchedText): string {
  const first = before.includes(0x20) ? 0x20 : (before[0] ?? 0);
  return Buffer.from([first, ...letters.map(([letter = 0]) => letter)]).toString('latin1');
}

/** Credentials with what is tested before anything is copied. */
const credentials = CREDENTIALS.map(({ needs }, kind) => {
  const more = needs.map(([of, least]) => {
    const letters = Array.from({ length: 95 }, (_, at) => String.fromCharCode(0x20 + at));
    return (letters.find((letter) => of.test(letter)) ?? '').repeat(least);
  });
  return beginningOf(CREDENTIAL_TEXTS[kind]!) + more.join('');
});

/** A text that a pattern finds, wherever it stands. */
function sampleOf({ source }: RegExp): string {
  let plain = source.replaceAll(/\\b|\^(?!\])/g, '').replaceAll('[0-9a-f]{4}-', '');
  for (let before = ''; before !== plain;) {
    before = plain;
    plain = plain.replaceAll(/\(\?<?[=!][^()]*\)/g, '');
  }
  return fc.sample(fc.stringMatching(new RegExp(`^(?:${plain})$`)), { numRuns: 1, seed: 1 })[0] ?? '';
}

/** Parts that files may be full of. */
export const IN_FILES: readonly string[] = [
  ...[...CREDENTIAL_TEXTS, ...HOME_TEXTS].map(beginningOf),
  ...credentials,
  // What needs no blank before it follows itself at once.
  '://',
  '://a:',
  '/home/a/',
  '160000 ',
  'contributor ',
  'Ada Lovelace ',
  'contributor@users.noreply.github.com ',
];
/** Parts that messages may be full of. */
export const IN_MESSAGES: readonly string[] = [
  ...IN_FILES,
  ...Object.values(SEARCHED).flatMap((pattern) => [` ${sampleOf(pattern)} `, `${sampleOf(pattern)}\n`]),
];
