/**
 * Characters that change the direction of what follows (Unicode Standard Annex 9, "Explicit directional formatting").
 */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A repository's text with direction marks written out: with them, a file's name or a line of code may look like
 * another one ("Trojan source", CVE-2021-42574).
 */
export function visibleText(text: string): string {
  return text.replaceAll(
    DIRECTION_MARKS,
    (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}
