const LF = 0x0a;
const SHOWN_BEFORE = 80;
/** How much of what follows a hit is shown. */
export const SHOWN_AFTER = 40;

/** The line around a hit, shortened. @param end of the hit, without the boundary behind it. */
export function excerptAt(text: Uint8Array, end: number): Uint8Array {
  const lineStart = Math.max(text.lastIndexOf(LF, end - 1) + 1, end - SHOWN_BEFORE);
  const nextLine = text.indexOf(LF, end);
  const lineEnd = nextLine < 0 ? text.length : nextLine;
  return text.slice(lineStart, Math.min(lineEnd, end + 1 + SHOWN_AFTER));
}
