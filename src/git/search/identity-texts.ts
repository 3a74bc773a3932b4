/**
 * Makes the texts to search for so that nobody publishes their own name by mistake: names and
 * addresses in the headers of pushed objects, in the forms in which a text may contain them, in
 * upper and lower case. An address is searched for as a whole, and so is the login in one that the
 * host has made. A name is searched for if it has two words, or one long word: "Ada" is too common.
 *
 * Certain forms are its words as they are, with a blank or what replaces it in file names between
 * them, and with the last one first, followed by a comma. There are also the encodings of URLs,
 * HTML and UTF-16, and the hashes of an address by which avatars are found. All else follows one
 * rule: the words in any rotation, with one other character or none between two of them, also
 * without accents. That may mean something else (`markdown` is no Mark Down), and so may a login or
 * a name of one word: these are minor texts, which are only noted.
 */
import { createHash } from 'node:crypto';
import { decodeUtf8, NO_BYTES, utf8 } from '../bytes.ts';
import { decoderOf } from '../objects/commit-message.ts';
import type { RawIdentity } from './identity-collector.ts';
import {
  BOUNDARY,
  type ByteClass,
  byteClass,
  placesOf,
  type SearchedText,
  TEXT_ROOM,
} from './text-search.ts';

/**
 * Minimum length of a name's letters and digits in UTF-8. Two Chinese characters are as significant
 * as six Latin letters.
 */
const MIN_NAME_BYTES = 5;
/** Maximum length. Longer texts are not names, and would be expensive to search for. */
const MAX_LENGTH = 100;
/**
 * Minimum length of a word. A letter of a Latin alphabet is an initial, but one of other scripts
 * may be a surname.
 */
const MIN_WORD_BYTES = 2;
/** Minimum number of letters and digits of a word that is searched for alone. */
const MIN_LONE_LETTERS = 6;
/**
 * Matches characters of scripts in which one is as significant as two letters, and full names have
 * no blank.
 */
const SYLLABLES = /[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}]/gu;
const MIN_SYLLABLES = 3;
/**
 * Matches addresses that a host makes of a login: `123+login@users.noreply.<host>`. Forgejo's have
 * no `users`.
 */
const LOGIN = /^(?:\d+[+-])?([^@]+)@(?:users\.)?noreply\./i;
/** Encodes a letter, or returns null if the encoding has no such letter. */
type Encode = (letter: string) => Uint8Array | null;
const BYTES = Array.from({ length: 256 }, (_, byte) => byte);
const WINDOWS_1252 = new TextDecoder('windows-1252').decode(Uint8Array.from(BYTES));
type Letters = readonly ByteClass[];

const SEPARATORS = byteClass(' \t_.-+');
/**
 * First bytes of one character that is no letter, in ASCII, Latin-1 or UTF-8, and the bytes that
 * follow in UTF-8.
 */
const GAP_START: ByteClass = BYTES.filter((byte) =>
  byte < 0xc0 ? !/[A-Za-z]/.test(String.fromCharCode(byte)) : [0xc2, 0xe2, 0xe3, 0xef, 0xf0].includes(byte),
);
const GAP_REST: ByteClass = GAP_START.filter((byte) => byte >= 0x80 && byte < 0xc0);
const GAP_COMMA = byteClass(',');
const GAP: Letters = [GAP_COMMA, GAP_START, GAP_REST, GAP_REST, GAP_REST];
/**
 * Maximum number of words that are rotated. In longer names, only the last word changes its place.
 */
const MAX_ROUND = 5;
const ACCENTS = /[\u0300-\u036f]/g;
/** Matches names such as `Lovelace, Ada`, as directories of companies write them. */
const SURNAME_FIRST = /^([^,]+),\s*([^,\s][^,]*)$/;
const COMMA: Letters = textClasses(', ');
/** Characters that may stand before an address, because they cannot belong to a longer one. */
const EMAIL_BOUNDARY = BOUNDARY.filter((byte) => !/[._+-]/.test(String.fromCharCode(byte)));
/**
 * Bytes of an escaped blank or `@`: `%20`, `&nbsp;`, `&#64;`, `&#x40;`, `\\u0040`, and `=40` in
 * quoted-printable.
 */
const ESCAPE_START = byteClass('%&=\\');
const ESCAPE_REST = byteClass('0123456789abcdefABCDEFxuUnspNBSP#;{}');
const ESCAPE_LENGTHS = [3, 6] as const;
/**
 * Maximum number of people whose certain further forms are searched for. They take as much room as
 * all other forms of a person.
 */
const MOST_SPELLED = 4;
/**
 * Hashes of an address by which Gravatar and Libravatar show a picture, and the number of their
 * digits that are searched for, which is no coincidence.
 */
const HASHES = ['md5', 'sha256'];
const HASH_DIGITS = 16;
/**
 * Maximum number of letters at either end that a delta may copy. Digits and zeros are in most
 * changes.
 */
const MAX_COPIED = 2;
const NUL = 0;
/** The byte-order mark of UTF-16 is `ff fe` or `fe ff`. */
const MARK_END = 0xff;
const NUL_OR_MARK: ByteClass = [NUL, 0xfe];
/** Room for texts including repetitions. */
const MAX_ALL_PLACES = 4 * TEXT_ROOM;
/**
 * Addresses and names of nobody in particular: the host's own, in every commit that it makes, and
 * those that people and tools fill in.
 */
const NOBODYS = new Set(
  ['noreply@github.com', 'you@example.com', 'test@example.com', 'user@example.com', 'your name', 'test user']
    .concat('dev container,github,gitlab,dependabot,web-flow,unknown,nobody,no name,anonymous'.split(','))
    .concat('username,administrator,ubuntu,debian,vagrant,docker,jenkins,runner,vscode'.split(',')),
);

export interface IdentityTexts {
  readonly texts: readonly SearchedText[];
  /** The index of the first identity to which each text belongs. */
  readonly owners: readonly number[];
  /**
   * Names, addresses and logins that are searched for, as they are written, and the reasons why
   * others are not.
   */
  readonly terms: ReadonlySet<string>;
  readonly skipped: ReadonlyMap<string, string>;
  /** False if not all names and addresses are searched for in all their forms. */
  readonly isComplete: boolean;
}

/** A name, an address or a login. */
interface Term {
  readonly term: string;
  /** The reason why it is not searched for, or null. */
  readonly reason: string | null;
  /** Makes the texts for it. That costs much, so it is done only for what is searched for. */
  readonly forms: () => readonly SearchedText[];
  /**
   * Make further texts, certain and uncertain ones, if there is room after everybody was searched
   * for.
   */
  readonly spelled?: () => readonly SearchedText[];
  readonly loose?: () => readonly SearchedText[];
}

/**
 * Makes as many texts as there is room for, each once.
 * @param nobodys are in lower case, and may be public: the bot's.
 */
export function identityTexts(
  identities: readonly RawIdentity[],
  nobodys: ReadonlySet<string>,
): IdentityTexts {
  const texts = new Map<string, SearchedText>();
  const owners: number[] = [];
  const terms = new Set<string>();
  const skipped = new Map<string, string>();
  let left = TEXT_ROOM;
  let leftOfAll = MAX_ALL_PLACES;
  const found = (isComplete: boolean) => ({ texts: [...texts.values()], owners, terms, skipped, isComplete });
  const add = (text: SearchedText, owner: number): boolean => {
    const key = JSON.stringify(text.letters);
    leftOfAll -= placesOf(text);
    const known = texts.get(key);
    if (known !== undefined && leftOfAll >= 0) {
      // A login such as `ada-lovelace` may be a form of the name, too.
      if (known.isMinor) texts.set(key, text);
      return true;
    }
    left -= placesOf(text);
    if (left < 0 || leftOfAll < 0) return false;
    texts.set(key, text);
    owners.push(owner);
    return true;
  };
  const further: [text: SearchedText, owner: number][] = [];
  for (const [owner, identity] of identities.entries()) {
    for (const { term, reason, forms, spelled, loose } of termsOf(identity)) {
      if (term === '' || nobodys.has(term.toLowerCase())) continue;
      if (reason !== null) {
        skipped.set(term, reason);
        continue;
      }
      if (!forms().every((text) => add(text, owner))) return found(false);
      terms.add(term);
      const others = owner < MOST_SPELLED ? (spelled?.() ?? []) : [];
      for (const text of [...others, ...(loose?.() ?? [])]) further.push([text, owner]);
    }
  }
  return found(further.every(([text, owner]) => add(text, owner)));
}

function termsOf({ name, email, encoding }: RawIdentity): Term[] {
  // Some commits do not say that they are not UTF-8.
  const own = encoding ?? (decodeUtf8(name) === null ? 'windows-1252' : 'utf-8');
  const nameText = decode(name, own);
  const names = (): SearchedText[] => {
    // Read the bytes as Windows-1252, too, whatever they are.
    const bytes = decode(name, 'windows-1252').split(/ +/);
    const raw = own === 'utf-8' ? [] : [nameOf(bytes, inWindows1252)];
    return [...nameForms(nameText), ...raw];
  };
  const address = decode(email, encoding ?? 'utf-8');
  const login = LOGIN.exec(address)?.[1] ?? '';
  return [
    {
      term: address,
      reason: reasonAgainst(address, true),
      forms: () => [searchedText(EMAIL_BOUNDARY, textClasses(address))],
      spelled: () => [
        escaped(address.split('@'), EMAIL_BOUNDARY),
        ...inUtf16(address, EMAIL_BOUNDARY),
        ...hashesOf(address),
      ],
    },
    { term: login, reason: reasonAgainst(login), forms: () => [minor(nameOf([login]))] },
    {
      term: nameText,
      reason: reasonAgainst(nameText),
      forms: () => (isFull(nameText) ? names() : names().map(minor)),
      spelled: () =>
        isFull(nameText) ? [escaped(nameText.split(/\s+/), BOUNDARY), ...inUtf16(nameText, BOUNDARY)] : [],
      loose: () => looseForms(nameText),
    },
  ];
}

/**
 * Tells if a name has two words, as in `ada.lovelace`, or is in a script that writes full names as
 * one.
 */
function isFull(name: string): boolean {
  return /[^\s,._][\s,._]+[^\s,._]/.test(name) || (name.match(SYLLABLES)?.length ?? 0) >= MIN_SYLLABLES;
}

function minor(text: SearchedText): SearchedText {
  return { ...text, maxCopied: 0, isMinor: true };
}

/**
 * Makes the forms of a name: `Ada Lovelace` and, as in catalogues, `Lovelace, Ada`. Some systems
 * write decomposed letters.
 */
function nameForms(name: string): SearchedText[] {
  const texts = [name, name.replace(SURNAME_FIRST, '$2 $1')];
  const forms = texts.flatMap((text) => [text.normalize('NFC'), text.normalize('NFD')]);
  return [...new Set(forms)].flatMap((text) => {
    const words = text.split(/\s+/);
    const listed = [words.at(-1) ?? '', words.slice(0, -1).join(' ')];
    return encodedForms(words).concat(words.length === 1 ? [] : encodedForms(listed, COMMA));
  });
}

/**
 * Makes the uncertain forms of a name. One without a blank, in a script that has none, is taken
 * character by character.
 */
function looseForms(name: string): SearchedText[] {
  const plain = name.normalize('NFD').replaceAll(ACCENTS, '').normalize('NFC');
  return [...new Set([name.normalize('NFC'), name.normalize('NFD'), plain])].flatMap((text) => {
    const parts = text.split(/[\s,._+-]+/).filter((part) => part !== '');
    const isUnspaced = parts.length === 1 && (text.match(SYLLABLES)?.length ?? 0) >= MIN_SYLLABLES;
    const words = isUnspaced ? Array.from(text) : parts;
    const last = words.length - 1;
    const firsts = words.length <= MAX_ROUND ? words.keys() : [0, last];
    const orders = Array.from(firsts, (first) => [...words.slice(first), ...words.slice(0, first)]);
    return orders.flatMap((order) => encodedForms(order, GAP)).map(minor);
  });
}

/** Makes the form with any character reference or escape between its parts, as in a URL. */
function escaped(parts: readonly string[], before: ByteClass): SearchedText {
  const [least, most] = ESCAPE_LENGTHS;
  const escape = [ESCAPE_START, ...Array.from({ length: most - 1 }, () => ESCAPE_REST)];
  const optional: number[] = [];
  const letters = parts.flatMap((part, index) => {
    const own = textClasses(encodeURIComponent(part));
    return index === 0 ? own : [...escape, ...own];
  });
  for (const [at, letter] of letters.entries()) {
    if (letter === ESCAPE_START) for (let more = least; more < most; more++) optional.push(at + more);
  }
  return { before, letters, optional, after: BOUNDARY, maxCopied: MAX_COPIED };
}

/**
 * Makes the forms in UTF-16. Between ASCII characters, both byte orders of Latin letters look the
 * same.
 */
function inUtf16(text: string, boundary: ByteClass): SearchedText[] {
  const little = textClasses(text, (letter) => Buffer.from(letter, 'utf16le'));
  const big = textClasses(text, (letter) => Buffer.from(letter, 'utf16le').swap16());
  const before = [...boundary, MARK_END];
  const form = (letters: Letters): SearchedText => ({
    before,
    letters,
    after: BOUNDARY,
    maxCopied: MAX_COPIED,
  });
  const isLatin = Array.from(text).every((letter) => letter <= '\xff');
  return [form([NUL_OR_MARK, ...little]), ...(isLatin ? [] : [form([...big, [NUL]])])];
}

/** Makes the beginnings of an address's hashes, in hexadecimal. */
function hashesOf(address: string): SearchedText[] {
  return HASHES.map((algorithm) => {
    const digits = createHash(algorithm).update(address.toLowerCase()).digest('hex').slice(0, HASH_DIGITS);
    return { before: BOUNDARY, letters: textClasses(digits), after: null, maxCopied: MAX_COPIED };
  });
}

/** Makes a name in UTF-8 and, if it differs there, in Windows-1252, which includes Latin-1. */
function encodedForms(words: readonly string[], separator?: Letters): SearchedText[] {
  const letters = Array.from(words.join(''));
  const hasOther =
    letters.some((letter) => letter > '\x7f') && letters.every((letter) => inWindows1252(letter));
  const encodings = hasOther ? [utf8, inWindows1252] : [utf8];
  return encodings.map((encode) => nameOf(words, encode, separator));
}

/**
 * Makes a name with separators between its words. They may also replace a hyphen or a full stop.
 */
function nameOf(
  words: readonly string[],
  encode: Encode = utf8,
  separator: Letters = [SEPARATORS],
): SearchedText {
  const letters = words.flatMap((word, index) => {
    const own = textClasses(word, encode).map((letter) =>
      letter.some((byte) => SEPARATORS.includes(byte)) ? SEPARATORS : letter,
    );
    return index === 0 ? own : [...separator, ...own];
  });
  const text = searchedText(BOUNDARY, letters);
  if (separator !== GAP) return text;
  // Short words without anything between them are too common.
  const mayJoin = isLong(words.join(''));
  const mayMiss = (letter: ByteClass): boolean =>
    letter === GAP_COMMA || letter === GAP_REST || (mayJoin && letter === GAP_START);
  return { ...text, optional: [...letters.keys()].filter((at) => mayMiss(letters[at]!)) };
}

/** Makes a text of which a delta may insert a single letter. */
function searchedText(before: ByteClass, letters: Letters): SearchedText {
  return { before, letters, after: BOUNDARY, maxCopied: letters.length - 1 };
}

/** Returns the reason why a name, a login or an address is not searched for, or null. */
function reasonAgainst(text: string, isAddress = false): string | null {
  if (text.length > MAX_LENGTH) return 'too long';
  if (NOBODYS.has(text.toLowerCase()) || /\[bot\]$/i.test(text)) return 'no particular person';
  if (isAddress) return /^[^\s@]+@[^\s@]+$/.test(text) ? null : 'no address';
  const words = text.split(/\s+/);
  const letters = text.replaceAll(/[^\p{L}\p{N}]/gu, '');
  const hasTwo = words.filter((word) => Buffer.byteLength(word) >= MIN_WORD_BYTES).length > 1;
  const isEnough = hasTwo ? Buffer.byteLength(letters) >= MIN_NAME_BYTES : words.some(isLong);
  if (isEnough) return null;
  return words.length === 1 ? 'one short word' : 'too short';
}

/** Tells if a word alone says who somebody is. */
function isLong(word: string): boolean {
  const letters = word.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  return /\p{L}/u.test(word) && letters + (word.match(SYLLABLES)?.length ?? 0) >= MIN_LONE_LETTERS;
}

/**
 * Makes the classes of a text: each letter in both cases, if both take the same number of bytes.
 */
function textClasses(text: string, encode: Encode = utf8): Letters {
  return Array.from(text).flatMap((letter) => {
    const own = encode(letter) ?? NO_BYTES;
    const others = [letter.toLowerCase(), letter.toUpperCase()].map((other) => encode(other));
    const variants = [own, ...others.filter((other) => other?.length === own.length)];
    return Array.from(own, (_, at) =>
      [...new Set(variants.map((bytes) => bytes?.[at] as number))].toSorted((a, b) => a - b),
    );
  });
}

function inWindows1252(letter: string): Uint8Array | null {
  const byte = WINDOWS_1252.indexOf(letter);
  return byte < 0 || letter.length !== 1 ? null : Uint8Array.of(byte);
}

function decode(bytes: Uint8Array, encoding: string): string {
  return decoderOf(encoding).decode(bytes).trim();
}
