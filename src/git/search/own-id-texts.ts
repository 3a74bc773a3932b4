/**
 * Original ids of the push's own commits, in the forms in which a file may contain them: `.git-blame-ignore-revs` names
 * whole ids, changelogs and version strings name abbreviations. A clone of the same repository inside the work tree
 * becomes a submodule that names one, too.
 *
 * An original id is a hash over name, address and second, so anybody who sees it can test a guess. In messages, ids are
 * replaced; files stay as they are.
 */
import type { Oid } from '../objects/oid.ts';
import { type ByteClass, placesOf, type SearchedText, TEXT_ROOM } from './text-search.ts';
import { BOUNDARY } from './word-boundary.ts';

/** What Git shows at least. A number of seven digits is common, so it must stand alone. */
const SHORTEST = 7;
/** `git describe` writes `v1.0-3-g0123abc`. */
const BEFORE: ByteClass = [...BOUNDARY, 'g'.charCodeAt(0)];

/** Of the 20 bytes that a folder names a submodule's commit by, behind a NUL. */
const RAW_BYTES = 6;
const BEFORE_RAW: ByteClass = [0];

/** Ids in a list share a digit with their neighbours, rarely two. Single digits are in most changes. */
const MAX_COPIED = 2;

/** Three for each id: seven digits of it, eight or more, and its bytes in a folder. */
export function ownIdTexts(oids: readonly Oid[]): SearchedText[] {
  return oids.flatMap((oid) => {
    const digits = Array.from(oid.slice(0, SHORTEST + 1), digitClass);
    const raw = Array.from(Buffer.from(oid.slice(0, 2 * RAW_BYTES), 'hex'), (byte: number) => [byte]);
    return [
      { before: BEFORE, letters: digits.slice(0, SHORTEST), after: BOUNDARY, maxCopied: MAX_COPIED },
      { before: BEFORE, letters: digits, after: null, maxCopied: MAX_COPIED },
      { before: BEFORE_RAW, letters: raw, after: null, maxCopied: MAX_COPIED },
    ];
  });
}

/** As many as there is room for. */
export const MAX_SEARCHED_IDS = Math.floor(
  TEXT_ROOM / ownIdTexts(['0'.repeat(40)]).reduce((sum, text) => sum + placesOf(text), 0),
);

function digitClass(digit: string): ByteClass {
  return [...new Set([digit.charCodeAt(0), digit.toUpperCase().charCodeAt(0)])];
}
