/**
 * The least length of names that may differ in two letters: a shorter one would be another word.
 */
const LONG_NAME = 7;

/**
 * Finds the known name that somebody has misspelt; undefined if there is none, or if `name` is
 * known itself. An insertion, a deletion, a replacement and a swap of two neighbours each count as
 * one letter.
 */
export function nearName<N extends string>(name: string, known: readonly N[]): N | undefined {
  if (known.some((one) => one === name)) return undefined;
  const nearest = [0, 1, 2].flatMap((edits) => {
    const fit = known.filter(({ length }) => edits < 2 || length >= LONG_NAME);
    return fit.find((one) => isWithin(edits, folded(name), folded(one))) ?? [];
  });
  return nearest[0];
}

/** Ignores case, and `_` in place of `-`. */
const folded = (name: string): string => name.toLowerCase().replaceAll('_', '-');

/** Answers whether at most `edits` edits turn one text into the other. */
function isWithin(edits: number, left: string, right: string): boolean {
  let same = 0;
  while (same < left.length && left[same] === right[same]) same += 1;
  const a = left.slice(same);
  const b = right.slice(same);
  if (Math.abs(a.length - b.length) > edits) return false;
  if (edits === 0 || a === b) return a === b;
  return (
    isWithin(edits - 1, a.slice(1), b.slice(1)) ||
    isWithin(edits - 1, a.slice(1), b) ||
    isWithin(edits - 1, a, b.slice(1)) ||
    (a[0] === b[1] && a[1] === b[0] && isWithin(edits - 1, a.slice(2), b.slice(2)))
  );
}
