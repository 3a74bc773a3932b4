/**
 * What to search for so that nobody publishes their own name by mistake: the names and addresses in the headers of
 * pushed objects, in the forms in which a text may contain them.
 *
 * An address is searched for as a whole. A name is searched for if it has at least two words, separated by a blank or
 * by a character that replaces it in file names. A single word, such as "Ada", is too common. Upper and lower case are
 * equal.
 */
import { decodeUtf8 } from '../bytes.ts';
import { BOUNDARY, COPY_MARK } from './boundary.ts';
import type { RawIdentity } from './raw-identity.ts';
import { type ByteClass, type BytePattern, MAX_PATTERN_BYTES } from './byte-search.ts';

/** Length of letters and digits in UTF-8: two Chinese characters are as significant as six Latin letters. */
const MIN_NAME_BYTES = 5;
/** Longer texts are not names, and would be expensive to search for. */
const MAX_LENGTH = 100;
/** A letter of a Latin alphabet is an initial; one of other scripts may be a surname. */
const MIN_WORD_BYTES = 2;
/** A row of bytes, each in both cases if it is a letter. */
type Letters = readonly ByteClass[];

/** What stands between two words of a name. */
const SEPARATORS: ByteClass = Array.from(' \t_.-+', (sign) => sign.charCodeAt(0));
const COMMA: Letters = textClasses(', ');
/** Characters before an address that cannot be part of a longer one. */
const EMAIL_BOUNDARY = BOUNDARY.filter((byte) => !/[._+-]/.test(String.fromCharCode(byte)));
/** Shorter ones, such as `info` or `me`, are words like others: the `@` and a letter must follow. */
const MIN_LOCAL_BYTES = 6;
/** So many bytes of a name or an address must be new, if a delta copies the others. */
const MIN_NEW_BYTES = 5;
/** Each missing first byte takes a pattern of its own. */
const MOST_LACKED_FIRST = 12;
/** The other half is for original ids. */
const ROOM = MAX_PATTERN_BYTES / 2;
/** Of all texts together; some are the same. */
const MAX_TEXT_BYTES = 4 * ROOM;
/**
 * The host's own address, in every commit that it makes, and what people and tools fill in for nobody in particular.
 */
const NOBODYS = new Set([
  'noreply@github.com',
  'your name',
  'you@example.com',
  'test user',
  'test@example.com',
  'user@example.com',
  'dev container',
]);

export interface IdentityPatterns {
  readonly patterns: readonly BytePattern[];
  /** False if there are more names and addresses than are searched for. */
  readonly isComplete: boolean;
}

/** @param nobodys names and addresses that may be public, in lower case: the bot's. */
export function identityPatterns(
  identities: readonly RawIdentity[],
  nobodys: ReadonlySet<string>,
): IdentityPatterns {
  const { texts, isCut } = searchedTexts(identities, nobodys);
  // What only a delta needs gets the room that is left.
  const { patterns, isComplete } = fitting(
    texts.map(wholePattern),
    texts.flatMap((text) => tailPatterns(text, MIN_NEW_BYTES)),
  );
  return { patterns, isComplete: isComplete && !isCut };
}

/**
 * What a delta may insert of the same names and addresses, be it a single letter: the rest may be in its base. Too
 * little to tell that a name is there, but enough to tell that none is.
 */
export function partialPatterns(
  identities: readonly RawIdentity[],
  nobodys: ReadonlySet<string>,
): IdentityPatterns {
  const { texts, isCut } = searchedTexts(identities, nobodys);
  const parts = texts.map(inPart);
  const all = [...parts.map(wholePattern), ...parts.flatMap((text) => tailPatterns(text, 1))];
  const { patterns, isComplete } = fitting(all, []);
  return { patterns, isComplete: isComplete && !isCut };
}

/** No more texts than there can be room for: each makes many patterns. */
function searchedTexts(
  identities: readonly RawIdentity[],
  nobodys: ReadonlySet<string>,
): { readonly texts: readonly SearchedText[]; readonly isCut: boolean } {
  const texts: SearchedText[] = [];
  let left = MAX_TEXT_BYTES;
  for (const identity of identities) {
    for (const text of textsOf(identity, nobodys)) {
      left -= text.letters.length;
      if (left < 0) return { texts, isCut: true };
      texts.push(text);
    }
  }
  return { texts, isCut: false };
}

/** As many patterns as there is room for, each once. @param more may be missing. */
function fitting(needed: readonly BytePattern[], more: readonly BytePattern[]): IdentityPatterns {
  const patterns = new Map<string, BytePattern>();
  let left = ROOM;
  const add = (pattern: BytePattern): boolean => {
    const key = JSON.stringify(pattern);
    if (patterns.has(key)) return true;
    if (pattern.classes.length > left) return false;
    patterns.set(key, pattern);
    left -= pattern.classes.length;
    return true;
  };
  const isComplete = needed.every(add);
  more.every(add);
  return { patterns: [...patterns.values()], isComplete };
}

/**
 * A text to search for. A delta copies what a new line shares with its neighbours in upstream: in a sorted list of
 * people, the first letters come with the line behind it, the last ones with the line before, or of the same provider.
 */
interface SearchedText {
  readonly before: ByteClass;
  readonly letters: Letters;
  /** How many of its first and of its last bytes may come from the base of a delta, at most. */
  readonly lacksFirst: number;
  readonly lacksLast: number;
}

const wholePattern = ({ before, letters, lacksLast }: SearchedText): BytePattern => ({
  classes: [before, ...letters, BOUNDARY],
  ...(lacksLast > 0 && { earlyEnd: { after: 1 + letters.length - lacksLast, byte: COPY_MARK } }),
});

const inPart = (text: SearchedText): SearchedText => {
  const mostLacked = text.letters.length - 1;
  return { ...text, lacksFirst: mostLacked, lacksLast: mostLacked };
};

/**
 * The text without its first byte, its first two, and so on: behind a copy. @param least how many bytes must be new.
 */
function tailPatterns({ letters, lacksFirst, lacksLast }: SearchedText, least: number): BytePattern[] {
  return Array.from({ length: lacksFirst }, (_, index) => {
    const tail = letters.slice(index + 1);
    return wholePattern({
      before: [COPY_MARK],
      letters: tail,
      lacksFirst: 0,
      lacksLast: Math.max(0, Math.min(lacksLast, tail.length - least)),
    });
  });
}

function textsOf({ name, email, encoding }: RawIdentity, nobodys: ReadonlySet<string>): SearchedText[] {
  const nameText = decode(name, encoding);
  const address = searchedEmail(decode(email, encoding), nobodys);
  const own = address === null ? [] : [addressText(address)];
  if (!isTelling(nameText) || isNobodys(nameText, nobodys)) return own;
  const isUtf8 = encoding === null && decodeUtf8(name) !== null;
  return [
    ...[nameText, ...surnameLast(nameText)].flatMap((text) => [
      // Composed and decomposed letters look alike, and some systems write the latter.
      nameOf(text.normalize('NFC').split(/\s+/).map(wordClasses)),
      nameOf(text.normalize('NFD').split(/\s+/).map(wordClasses)),
      nameOf(surnameFirst(text).map(wordClasses), COMMA),
    ]),
    // In the encoding of the commit, if that is not UTF-8; some do not say theirs.
    ...(isUtf8 ? [] : [nameOf(splitWords(name).map(byteClasses))]),
    ...own,
  ];
}

/** At least its first word and a letter of the next are new, or its last bytes. */
function nameOf(words: readonly Letters[], separator: Letters = [SEPARATORS]): SearchedText {
  const letters = words.flatMap((word, index) => (index === 0 ? word : [...separator, ...word]));
  const beginning = (words[0]?.length ?? 0) + separator.length + 1;
  return {
    before: BOUNDARY,
    letters,
    lacksFirst: Math.min(MOST_LACKED_FIRST, Math.max(0, letters.length - MIN_NEW_BYTES)),
    lacksLast: Math.max(0, letters.length - Math.max(beginning, MIN_NEW_BYTES)),
  };
}

function addressText(address: string): SearchedText {
  const letters = textClasses(address);
  const localBytes = textClasses(address.slice(0, address.lastIndexOf('@'))).length;
  const restBytes = letters.length - localBytes;
  return {
    before: EMAIL_BOUNDARY,
    letters,
    lacksFirst: Math.min(MOST_LACKED_FIRST, localBytes, Math.max(0, letters.length - MIN_NEW_BYTES)),
    lacksLast: localBytes < MIN_LOCAL_BYTES ? Math.max(0, restBytes - 2) : restBytes,
  };
}

/** Null: it tells nothing of a person, or is no address. */
function searchedEmail(text: string, nobodys: ReadonlySet<string>): string | null {
  const isEmail = text.length <= MAX_LENGTH && /^[^\s@]+@[^\s@]+$/.test(text);
  return isEmail && !isNobodys(text, nobodys) ? text : null;
}

function isNobodys(text: string, nobodys: ReadonlySet<string>): boolean {
  return nobodys.has(text.toLowerCase()) || NOBODYS.has(text.toLowerCase());
}

function isTelling(name: string): boolean {
  const words = name.split(/\s+/).filter((word) => Buffer.byteLength(word) >= MIN_WORD_BYTES);
  const letters = name.replaceAll(/[^\p{L}\p{N}]/gu, '');
  return words.length > 1 && name.length <= MAX_LENGTH && Buffer.byteLength(letters) >= MIN_NAME_BYTES;
}

/** `Ada Lovelace` as lists and catalogues write it: `Lovelace, Ada`. */
function surnameFirst(name: string): [surname: string, others: string] {
  const words = name.normalize('NFC').split(/\s+/);
  return [words.at(-1) ?? '', words.slice(0, -1).join(' ')];
}

/** `Lovelace, Ada`, as directories of companies write names: `Ada Lovelace`. */
function surnameLast(name: string): string[] {
  const [, surname, others] = /^([^,]+),\s*([^,]+)$/.exec(name) ?? [];
  return surname === undefined || others === undefined ? [] : [`${others} ${surname}`];
}

/** As a text, but what may stand between words may stand in place of a hyphen or a full stop, too. */
function wordClasses(word: string): Letters {
  return textClasses(word).map((letter) =>
    letter.some((byte) => SEPARATORS.includes(byte)) ? SEPARATORS : letter,
  );
}

/** UTF-8, each letter in both cases if both take the same number of bytes. */
function textClasses(text: string): Letters {
  return Array.from(text).flatMap((letter) => {
    const own = Buffer.from(letter);
    const others = [letter.toLowerCase(), letter.toUpperCase()].map((other) => Buffer.from(other));
    const variants = [own, ...others.filter((other) => other.length === own.length)];
    return Array.from(own, (_, at) => [...new Set(variants.map((bytes) => bytes[at] as number))]);
  });
}

/** The bytes unchanged; ASCII letters in both cases. */
function byteClasses(word: Uint8Array): Letters {
  return Array.from(word, (byte: number) => {
    const letter = String.fromCharCode(byte);
    return /[A-Za-z]/.test(letter)
      ? [letter.toLowerCase().charCodeAt(0), letter.toUpperCase().charCodeAt(0)]
      : [byte];
  });
}

function splitWords(name: Uint8Array): Uint8Array[] {
  const text = Buffer.from(name).toString('latin1');
  return text.split(' ').flatMap((word: string) => (word === '' ? [] : [Buffer.from(word, 'latin1')]));
}

function decode(bytes: Uint8Array, encoding: string | null): string {
  try {
    return new TextDecoder(encoding ?? 'utf-8').decode(bytes).trim();
  } catch {
    return new TextDecoder().decode(bytes).trim();
  }
}
