/**
 * Finds characters that a text shows as nothing, or as a blank. By other ones for each visitor, a
 * site that fills in a form can know its visitor again in what becomes public.
 */
import { codeOf } from '../words/host-text.ts';

/** Matches what cannot be seen, or looks like something else: controls, marks, other spaces. */
export const UNSEEN_CHARACTERS =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;
/** Matches emoji with the characters that join them and choose their look. */
const EMOJI =
  /[\d#*]\uFE0F\u20E3|\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]?(?:\u200D\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]?)*/gu;

/** How many different ones are named. */
const MOST_NAMED = 5;
/** How much of the old text is read. What stands behind counts as new. */
const MOST_OF_OLD = 1_000_000;

/** Tells which of them the new text has more often, in a line; none if there are none. */
export function newUnseen(before: string, after: string): readonly string[] {
  const found = countsOf(after);
  const known = countsOf(found.size === 0 ? '' : before.slice(0, MOST_OF_OLD));
  const more = [...found].filter(([mark, count]) => count > (known.get(mark) ?? 0));
  if (more.length === 0) return [];
  const names = more.slice(0, MOST_NAMED).map(([mark]) => codeOf(mark));
  const rest = more.length > MOST_NAMED ? `, and ${more.length - MOST_NAMED} more` : '';
  return [
    `It has characters that nobody sees: ${names.join(', ')}${rest}. Whoever gave you this text can know it again by them. Type it anew.`,
  ];
}

function countsOf(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [mark] of text.replaceAll(EMOJI, '').matchAll(UNSEEN_CHARACTERS))
    counts.set(mark, (counts.get(mark) ?? 0) + 1);
  return counts;
}
