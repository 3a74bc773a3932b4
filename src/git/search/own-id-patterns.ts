/**
 * Original ids of the push's own commits, in the forms in which a file may contain them: `.git-blame-ignore-revs` names
 * whole ids, changelogs and version strings name abbreviations. A clone of the same repository inside the work tree
 * becomes a submodule that names one, too.
 *
 * An original id is a hash over name, address and second, so whoever sees it can test a guess. In messages, ids are
 * replaced; files stay as they are.
 */
import { BOUNDARY, COPY_MARK } from './boundary.ts';
import type { Oid } from '../oid.ts';
import { type ByteClass, type BytePattern, MAX_PATTERN_BYTES } from './byte-search.ts';

/** What Git shows at least. A number of seven digits is common, so it must stand alone. */
const SHORTEST = 7;
/** `git describe` writes `v1.0-3-g0123abc`. */
const BEFORE: ByteClass = [...BOUNDARY, 'g'.charCodeAt(0)];

/** Of the 20 bytes that a folder names a submodule's commit by, behind a NUL, which a delta may copy. */
const RAW_BYTES = 6;
const BEFORE_RAW: ByteClass = [0, COPY_MARK];

const PATTERN_BYTES = 3 * SHORTEST + 6 + RAW_BYTES;
/** Half of the room for patterns. */
export const MAX_SEARCHED_IDS = Math.floor(MAX_PATTERN_BYTES / 2 / PATTERN_BYTES);

/**
 * Four for each id: exactly seven digits of it, eight or more, the same without the first one, which a delta may copy
 * from another id in a list, and its bytes in a folder.
 */
export function ownIdPatterns(oids: readonly Oid[]): BytePattern[] {
  return oids.flatMap((oid) => {
    const digits = Array.from(oid.slice(0, SHORTEST + 1), digitClass);
    const raw = Array.from(Buffer.from(oid.slice(0, 2 * RAW_BYTES), 'hex'), (byte: number) => [byte]);
    const earlyEnd = { after: SHORTEST, byte: COPY_MARK };
    return [
      { classes: [BEFORE, ...digits.slice(0, SHORTEST), BOUNDARY], earlyEnd },
      { classes: [BEFORE, ...digits] },
      { classes: [[COPY_MARK], ...digits.slice(1)] },
      { classes: [BEFORE_RAW, ...raw] },
    ];
  });
}

function digitClass(digit: string): ByteClass {
  return [...new Set([digit.charCodeAt(0), digit.toUpperCase().charCodeAt(0)])];
}
