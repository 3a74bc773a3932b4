/**
 * Lines in which findings are told: short, and few.
 * Proved by test/leaks/remarks.test.ts and test/leaks/message-names.test.ts.
 */
import { ownText } from '../git/bytes.ts';
import { cut } from '../git/objects/commit-message.ts';
import { visible } from '../words/host-text.ts';

export const MAX_SHOWN_LENGTH = 120;
export const MAX_READ_TO_SHOW = 1_000;
/** Maximum number of lines that are shown. More are only counted. */
const MAX_SHOWN = 10;
/**
 * Number of different names or paths after which a search of texts ends. A message can have a
 * hundred thousand.
 */
const MAX_FOUND = 1_000;

/**
 * Shortens what someone has written to one line of a terminal. The whole text may then be freed.
 */
export function shown(text: string): string {
  const near = ownText(text.slice(0, MAX_READ_TO_SHOW));
  return cut(visible(near.replaceAll(/\s+/g, ' ').trim()), MAX_SHOWN_LENGTH + 1);
}

/**
 * Tells of a search that has ended early; nothing if it has not.
 * @param kinds as `Looks` has them.
 */
export function unsearchedLines(
  kinds: Iterable<string>,
  advice = 'Check the rest yourself: git log -p HEAD --not --remotes',
): string[] {
  const all = [...new Set(kinds)];
  if (all.length === 0) return [];
  return [`Not searched further for ${listed(all)}: there is too much to look at. ${advice}`];
}

/** The first lines under a heading; nothing if there are none. */
export function told(heading: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MAX_SHOWN ? [`  and ${lines.length - MAX_SHOWN} more`] : [];
  return [heading, ...lines.slice(0, MAX_SHOWN).map((line) => `  ${line}`), ...more];
}

/** Lists words, such as `a, b and 7 more`. */
export function listed(words: readonly string[]): string {
  const few = words.slice(0, MAX_SHOWN);
  if (words.length > few.length) few.push(`${words.length - few.length} more`);
  return few.length === 1 ? few.join() : `${few.slice(0, -1).join(', ')} and ${few.at(-1)}`;
}

/** Returns the first thousand different texts. */
export function firstOf(found: Iterable<string>): Set<string> {
  const first = new Set<string>();
  for (const words of found) if (first.add(words).size === MAX_FOUND) break;
  return first;
}
