export const MAX_SHOWN_LENGTH = 120;
/** More lines are counted, not shown. */
const MAX_SHOWN = 10;

/** What someone has written, so that it fits on one line of a terminal. */
export function shown(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line;
}

/** The first lines under a heading; nothing if there are none. */
export function told(heading: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MAX_SHOWN ? [`  and ${lines.length - MAX_SHOWN} more`] : [];
  return [heading, ...lines.slice(0, MAX_SHOWN).map((line) => `  ${line}`), ...more];
}
