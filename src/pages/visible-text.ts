/** Characters that change the direction of what follows (Unicode Standard Annex 9). */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Controls, marks, fillers, other spaces, halves of characters: what cannot be seen, or looks like something else. */
const UNSEEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;
/** A byte that is not UTF-8: see `decodeEscaped`. */
const ESCAPED_BYTE = /[\udc80-\udcff]/u;
const BYTE_OFFSET = 0xdc00;

/** A repository's text with direction marks written out: they let a name or a line look like another (CVE-2021-42574). */
export function visibleText(text: string): string {
  return text.replaceAll(DIRECTION_MARKS, codeOf);
}

/** A text in which nothing hides, for whoever decides whether it becomes public. @param text as `decodeEscaped` has it. */
export function exactText(text: string): string {
  return text.replaceAll(UNSEEN, codeOf);
}

/** `[U+200B]`, or of a byte `[0xFF]`. */
function codeOf(mark: string): string {
  const code = mark.codePointAt(0) ?? 0;
  return ESCAPED_BYTE.test(mark) ? `[0x${hex(code - BYTE_OFFSET, 2)}]` : `[U+${hex(code, 4)}]`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}
