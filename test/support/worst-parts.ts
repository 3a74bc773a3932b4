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

/** Leaves out what must, or must not, stand before or behind. */
function withoutAssertions(source: string): string {
  const start = source.search(/\(\?<?[=!]/);
  if (start < 0) return source;
  let [end, depth] = [start, 0];
  do depth += { '(': 1, ')': -1 }[source[end++] ?? ''] ?? 0;
  while (depth > 0);
  return withoutAssertions(source.slice(0, start) + source.slice(end));
}

/** A text that a pattern finds, wherever it stands. */
function sampleOf({ source }: RegExp): string {
  const plain = withoutAssertions(source.replaceAll(/\\b|\^(?!\])/g, '').replaceAll('[0-9a-f]{4}-', ''));
  return fc.sample(fc.stringMatching(new RegExp(`^(?:${plain})$`)), { numRuns: 1, seed: 1 })[0] ?? '';
}

/** Whole credentials: what is looked at closely is read further. */
export const WHOLE_CREDENTIALS: readonly string[] = CREDENTIALS.map(({ form }) => ` ${sampleOf(form)} `);

/** Parts that files may be full of. */
export const IN_FILES: readonly string[] = [
  ...WHOLE_CREDENTIALS,
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
