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

/** @param before null: a new file. */
export function difference(before: string, after: string): Difference {
  const [old, now] = [linesOf(before), linesOf(after)];
  // With their ends: a line whose end has changed is another line.
  const parts = diffLines(old.map(whole), now.map(whole));
  const all = shownLines(old, now, parts);
  const near = new Set<number>();
  for (const [index, { kind }] of all.entries()) {
    if (kind === 'same') continue;
    for (let at = Math.max(0, index - CONTEXT_LINES); at <= index + CONTEXT_LINES; at++) near.add(at);
  }
  const hunks: ShownLine[][] = [];
  let shown = 0;
  for (const [index, line] of all.entries()) {
    if (!near.has(index) || shown === MAX_SHOWN_LINES) continue;
    if (!near.has(index - 1)) hunks.push([]);
    hunks.at(-1)?.push(line);
    shown++;
  }
  const count = (kind: DiffPart['kind']): number => all.filter((line) => line.kind === kind).length;
  const wanted = all.filter((_, index) => near.has(index)).length;
  return {
    hunks: hunks.map((lines) => ({ lines })),
    added: count('added'),
    removed: count('removed'),
    isCut: wanted > shown,
  };
}

function shownLines(old: readonly Line[], now: readonly Line[], parts: readonly DiffPart[]): ShownLine[] {
  const lines: ShownLine[] = [];
  let [oldAt, nowAt] = [0, 0];
  for (const { kind, count } of parts) {
    for (let index = 0; index < count; index++) {
      const { text, end } = (kind === 'removed' ? old[oldAt] : now[nowAt]) as Line;
      lines.push({
        kind,
        before: kind === 'added' ? null : ++oldAt,
        after: kind === 'removed' ? null : ++nowAt,
        text,
        hasEnd: end !== '',
      });
    }
  }
  return lines;
}

function whole({ text, end }: Line): string {
  return text + end;
}
