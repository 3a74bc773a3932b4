/** The changed places of a text, with some lines around them, as a page shows them. Pure. */
import { diffLines, type Line, linesOf, MAX_CHANGES } from './lines.ts';

export interface ShownLine {
  readonly kind: 'same' | 'removed' | 'added';
  /** In the old and in the new text, from 1 on; null: it is not there. */
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
  /** As `Line` has it: only that may have changed. */
  readonly end: string;
}

export interface Difference {
  /** Each the lines of one place. */
  readonly hunks: readonly (readonly ShownLine[])[];
  readonly added: number;
  readonly removed: number;
  /** What of it is not shown as it is, in sentences. */
  readonly remarks: readonly string[];
}

const CONTEXT_LINES = 3;
const MAX_SHOWN_LINES = 2_000;

const COARSE = `More than ${MAX_CHANGES.toLocaleString('en')} lines differ: all lines from the first change to the last are shown as replaced.`;
const CUT = 'The difference is longer; this is its beginning.';

/** A line whose end has changed is another line. */
const whole = ({ text, end }: Line): string => text + end;

/** @param oldText empty: a new file. Cost: that of `diffLines`; in memory, the lines of both texts. */
export function difference(oldText: string, newText: string): Difference {
  const [old, now] = [linesOf(oldText), linesOf(newText)];
  const { blocks, isBeyondLimit } = diffLines(old.map(whole), now.map(whole));
  const hunks: ShownLine[][] = [];
  let [oldAt, nowAt, wanted, hasGap] = [0, 0, 0, true];
  const show = (kind: ShownLine['kind'], { text, end }: Line): void => {
    if (++wanted > MAX_SHOWN_LINES) return;
    if (hasGap) hunks.push([]);
    hasGap = false;
    const before = kind === 'added' ? null : oldAt + 1;
    const after = kind === 'removed' ? null : nowAt + 1;
    hunks.at(-1)?.push({ kind, before, after, text, end });
  };
  for (const [index, { same, removed, added }] of blocks.entries()) {
    for (let line = 0; line < same; line++, oldAt++, nowAt++) {
      const isNear =
        (index > 0 && line < CONTEXT_LINES) || (removed + added > 0 && line >= same - CONTEXT_LINES);
      if (isNear) show('same', now[nowAt] as Line);
      else hasGap = true;
    }
    for (let line = 0; line < removed; line++, oldAt++) show('removed', old[oldAt] as Line);
    for (let line = 0; line < added; line++, nowAt++) show('added', now[nowAt] as Line);
  }
  const sum = (kind: 'removed' | 'added'): number => blocks.reduce((lines, block) => lines + block[kind], 0);
  return {
    hunks,
    added: sum('added'),
    removed: sum('removed'),
    remarks: [...(isBeyondLimit ? [COARSE] : []), ...(wanted > MAX_SHOWN_LINES ? [CUT] : [])],
  };
}
