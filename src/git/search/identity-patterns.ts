/**
 * What to search for so that nobody publishes their own name by mistake: the names and addresses in the headers of
 * pushed objects, in the forms in which a text may contain them.
 *
 * An address is searched for as a whole. A name is searched for if it has at least two words, separated by a blank or
 * by a character that replaces it in file names. A single word, such as "Ada", is too common. Upper and lower case are
 * equal.
 */
import { BOUNDARY, COPY_MARK } from './boundary.ts';
import type { RawIdentity } from './raw-identity.ts';
import { type ByteClass, type BytePattern, MAX_PATTERN_BYTES } from './byte-search.ts';

/** Length of letters and digits in UTF-8: two Chinese characters are as significant as six Latin letters. */
const MIN_NAME_BYTES = 5;
/** Longer texts are not names, and would be expensive to search for. */
const MAX_LENGTH = 100;
const MIN_WORD_LENGTH = 2;
/** What stands between two words of a name. */
const SEPARATORS: ByteClass = Array.from(' \t_.-+', (sign) => sign.charCodeAt(0));
/** Characters before an address that cannot be part of a longer one. */
const EMAIL_BOUNDARY = BOUNDARY.filter((byte) => !/[._+-]/.test(String.fromCharCode(byte)));
/** Shorter ones, such as `info` or `me`, are words like others. */
const MIN_LOCAL_LENGTH = 6;
/** How many of the last letters of an address may be missing. */
const MOST_CUT = 12;
const MOST_CUT_IF_SHORT = 4;
/** The host's own address, in every commit that it makes, and what people and tools fill in for nobody in particular. */
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
  const patterns = new Map<string, BytePattern>();
  let length = 0;
  const add = (pattern: BytePattern): boolean => {
    const key = JSON.stringify(pattern);
    if (patterns.has(key)) return true;
    if (length + pattern.length > MAX_PATTERN_BYTES) return false;
    patterns.set(key, pattern);
    length += pattern.length;
    return true;
  };
  const isComplete = identities.every((identity) => patternsOf(identity, nobodys).every(add));
  // Rare, so they get the room that is left.
  for (const identity of identities) cutEmailPatterns(identity, nobodys).every(add);
  return { patterns: [...patterns.values()], isComplete };
}

function patternsOf({ name, email, encoding }: RawIdentity, nobodys: ReadonlySet<string>): BytePattern[] {
  const [nameText, emailText] = [decode(name, encoding), decode(email, encoding)];
  const searchedName = isTelling(nameText) && !isNobodys(nameText, nobodys) ? nameText : null;
  const address = searchedEmail(emailText, nobodys);
  return [
    // Composed and decomposed letters look alike, and some systems write the latter.
    ...(searchedName === null ? [] : [searchedName.normalize('NFC'), searchedName.normalize('NFD')]).map(
      (text) => bounded(text.split(/\s+/).map(textClasses).reduce(separated)),
    ),
    ...(searchedName === null ? [] : [bounded(textClasses(surnameFirst(searchedName)))]),
    ...(address === null ? [] : emailPatterns(address)),
    // In the encoding of the commit, if that is not UTF-8.
    ...(searchedName === null || encoding === null
      ? []
      : [
          bounded(
            splitWords(name)
              .map((word: Uint8Array) => byteClasses(word))
              .reduce(separated),
          ),
        ]),
  ];
}

/**
 * The whole address. And what stands before its `@`, if a delta copies the rest: in a list of addresses of the same
 * provider, only the beginning of another one is new.
 */
function emailPatterns(email: string): BytePattern[] {
  const whole = [EMAIL_BOUNDARY, ...textClasses(email), BOUNDARY];
  const local = localPart(email);
  return local.length < MIN_LOCAL_LENGTH ? [whole] : [whole, beginning(local)];
}

/**
 * Addresses without their last letters. A delta's copy begins as early as it can: where the line before ends in the same
 * letters as the address, they come with the copy.
 */
function cutEmailPatterns({ email, encoding }: RawIdentity, nobodys: ReadonlySet<string>): BytePattern[] {
  const searched = searchedEmail(decode(email, encoding), nobodys);
  if (searched === null) return [];
  const local = localPart(searched);
  const most = local.length < MIN_LOCAL_LENGTH ? MOST_CUT_IF_SHORT : MOST_CUT;
  const cuts = Math.max(0, Math.min(most, searched.length - local.length - 1));
  return Array.from({ length: cuts }, (_, index) => beginning(searched.slice(0, -index - 1)));
}

/** What a delta's copy follows. */
const beginning = (text: string): BytePattern => [EMAIL_BOUNDARY, ...textClasses(text), [COPY_MARK]];

const localPart = (email: string): string => email.slice(0, email.lastIndexOf('@'));

/** Null: it tells nothing of a person, or is no address. */
function searchedEmail(text: string, nobodys: ReadonlySet<string>): string | null {
  const isEmail = text.length <= MAX_LENGTH && /^[^\s@]+@[^\s@]+$/.test(text);
  return isEmail && !isNobodys(text, nobodys) ? text : null;
}

function isNobodys(text: string, nobodys: ReadonlySet<string>): boolean {
  return nobodys.has(text.toLowerCase()) || NOBODYS.has(text.toLowerCase());
}

function isTelling(name: string): boolean {
  const words = name.split(/\s+/).filter((word) => word.length >= MIN_WORD_LENGTH);
  const letters = name.replaceAll(/[^\p{L}\p{N}]/gu, '');
  return words.length > 1 && name.length <= MAX_LENGTH && Buffer.byteLength(letters) >= MIN_NAME_BYTES;
}

/** `Ada Lovelace` as lists and catalogues write it: `Lovelace, Ada`. */
function surnameFirst(name: string): string {
  const words = name.normalize('NFC').split(/\s+/);
  return `${words.at(-1)}, ${words.slice(0, -1).join(' ')}`;
}

const bounded = (pattern: BytePattern): BytePattern => [BOUNDARY, ...pattern, BOUNDARY];
const separated = (words: BytePattern, word: BytePattern): BytePattern => [...words, SEPARATORS, ...word];

/** UTF-8, each letter in both cases if both take the same number of bytes. */
function textClasses(text: string): BytePattern {
  return Array.from(text).flatMap((letter) => {
    const own = Buffer.from(letter);
    const others = [letter.toLowerCase(), letter.toUpperCase()].map((other) => Buffer.from(other));
    const variants = [own, ...others.filter((other) => other.length === own.length)];
    return Array.from(own, (_, at) => [...new Set(variants.map((bytes) => bytes[at] as number))]);
  });
}

/** The bytes unchanged; ASCII letters in both cases. */
function byteClasses(word: Uint8Array): BytePattern {
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
