/** The changed places of a text, with some lines around them, as a page shows them. Pure. */
import { type Line, linesOf } from './lines.ts';
import { type DiffPart, diffLines } from './line-diff.ts';

export interface ShownLine {
  readonly kind: DiffPart['kind'];
  /** In the old and in the new text, from 1 on; null: it is not there. */
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
  /** Whether only its line end has changed, or what follows it is missing: worth a word. */
  readonly hasEnd: boolean;
}

export interface Hunk {
  readonly lines: readonly ShownLine[];
}

export interface Difference {
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
  /** Whether not all of it is shown. */
  readonly isCut: boolean;
}

const CONTEXT_LINES = 3;
const MAX_SHOWN_LINES = 2_000;

/** @param before empty: a new file. Cost: that of `diffLines`; in memory, the lines of both texts. */
export function difference(before: string, after: string): Difference {
  const [old, now] = [linesOf(before), linesOf(after)];
  // With their ends: a line whose end has changed is another line.
  const parts = diffLines(old.map(whole), now.map(whole));
  const hunks: ShownLine[][] = [];
  let [oldAt, nowAt, wanted, shown] = [0, 0, 0, 0];
  for (const [index, part] of parts.entries()) {
    for (const { from, to } of nearLines(part, index === 0, index === parts.length - 1)) {
      const shownTo = Math.min(to, from + MAX_SHOWN_LINES - shown);
      wanted += to - from;
      if (shownTo === from) continue;
      shown += shownTo - from;
      // Lines were left out before it.
      if (from > 0 || hunks.length === 0) hunks.push([]);
      for (let line = from; line < shownTo; line++) {
        hunks.at(-1)?.push(shownLine(part.kind, old, now, oldAt + line, nowAt + line));
      }
    }
    if (part.kind !== 'added') oldAt += part.count;
    if (part.kind !== 'removed') nowAt += part.count;
  }
  const count = (kind: DiffPart['kind']): number =>
    parts.reduce((sum, part) => (part.kind === kind ? sum + part.count : sum), 0);
  return {
    hunks: hunks.map((lines) => ({ lines })),
    added: count('added'),
    removed: count('removed'),
    isCut: wanted > shown,
  };
}

interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** The lines of a part that are changed, or near a change. */
function nearLines({ kind, count }: DiffPart, isFirst: boolean, isLast: boolean): LineRange[] {
  if (kind !== 'same') return [{ from: 0, to: count }];
  const head = isFirst ? 0 : Math.min(CONTEXT_LINES, count);
  const tail = isLast ? 0 : Math.min(CONTEXT_LINES, count);
  if (head > 0 && head + tail >= count) return [{ from: 0, to: count }];
  return [
    { from: 0, to: head },
    { from: count - tail, to: count },
  ];
}

/** @param oldAt where it would be in the old text, and in the new one: `nowAt`; from 0 on. */
function shownLine(
  kind: DiffPart['kind'],
  old: readonly Line[],
  now: readonly Line[],
  oldAt: number,
  nowAt: number,
): ShownLine {
  const { text, end } = (kind === 'removed' ? old[oldAt] : now[nowAt]) as Line;
  return {
    kind,
    before: kind === 'added' ? null : oldAt + 1,
    after: kind === 'removed' ? null : nowAt + 1,
    text,
    hasEnd: end !== '',
  };
}

function whole({ text, end }: Line): string {
  return text + end;
}
