/**
 * Finds the name that somebody meant when they misspelt it. Each insertion, deletion, replacement, or swap of two
 * neighbours counts as one letter off.
 */

/** Names of this length or longer may be two letters off. In shorter ones, that would be another word. */
const LONG_NAME = 7;

/** The known name that `name` nearly matches; undefined if there is none, or if `name` is a known name itself. */
export function nearName(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return undefined;
  for (const edits of [0, 1, 2]) {
    const near = known.find(
      (candidate) =>
        edits <= (candidate.length < LONG_NAME ? 1 : 2) && isWithin(edits, folded(name), folded(candidate)),
    );
    if (near !== undefined) return near;
  }
  return undefined;
}

/** Case, and `_` for `-`, count as no difference. */
function folded(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/** Whether so many edits turn one text into the other. */
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
