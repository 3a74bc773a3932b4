/** The difference of two texts, line by line: the shortest one, by jsdiff, within a limit. Pure. */
import { diffArrays } from 'diff';

/** How many lines stay, and how many then go and come. */
export interface DiffBlock {
  readonly same: number;
  readonly removed: number;
  readonly added: number;
}

export interface LineDiff {
  readonly blocks: readonly DiffBlock[];
  /** Beyond the limit, everything between the first and the last changed line counts as replaced. */
  readonly isBeyondLimit: boolean;
}

/** Lines that may be removed and added, together: jsdiff's time and memory grow with the square of it. */
export const MAX_CHANGES = 1_000;

export function diffLines(before: readonly string[], after: readonly string[]): LineDiff {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shortest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const old = before.slice(head, before.length - tail);
  const now = after.slice(head, after.length - tail);
  const replaced = [{ same: head, removed: old.length, added: now.length }];
  const isOneSided = old.length === 0 || now.length === 0;
  const changes = isOneSided ? undefined : diffArrays(old, now, { maxEditLength: MAX_CHANGES });
  const blocks = changes === undefined ? replaced : [{ same: head, removed: 0, added: 0 }];
  for (const { added, removed, count } of changes ?? []) {
    const last = blocks.at(-1)!;
    if (removed) last.removed += count;
    else if (added) last.added += count;
    else blocks.push({ same: count, removed: 0, added: 0 });
  }
  if (tail > 0) blocks.push({ same: tail, removed: 0, added: 0 });
  return { blocks, isBeyondLimit: !isOneSided && changes === undefined };
}
