import type { ByteClass } from './text-search.ts';

/**
 * First bytes of the letters that may follow within a word (UTF-8): Latin letters with accents, accents of their own,
 * Greek, Cyrillic, Hebrew, Arabic; and Vietnamese. In other scripts, words stand next to each other, and the other
 * first bytes belong to quotation marks, dashes, pictures. Their last bytes are those of accented letters, too, but a
 * name rarely begins in the middle of a word.
 */
const isLetterStart = (byte: number): boolean => (byte >= 0xc3 && byte <= 0xdf) || byte === 0xe1;
const isAsciiLetter = (byte: number): boolean => byte < 128 && /[A-Za-z0-9]/.test(String.fromCharCode(byte));
/** More do not appear in UTF-8. */
const LAST_START = 0xf4;

/** What stands around a word: anything but letters and digits. */
export const BOUNDARY: ByteClass = Array.from({ length: LAST_START + 1 }, (_, byte) => byte).filter(
  (byte) => !isAsciiLetter(byte) && !isLetterStart(byte),
);
