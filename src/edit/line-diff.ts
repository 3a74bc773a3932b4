/**
 * The difference of two texts, line by line: the shortest one (Myers, "An O(ND) Difference Algorithm and Its
 * Variations", 1986), within a limit. Pure.
 *
 * Cost: time (N + M) times the number of changed lines, memory the square of that. Beyond the limit, everything between
 * the first and the last changed line counts as replaced.
 */

export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added';
  /** How many lines. */
  readonly count: number;
}

/** Lines that may be removed and added, together. */
const MAX_CHANGES = 1_000;

export function diffLines(before: readonly string[], after: readonly string[]): DiffPart[] {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shortest - head && before[before.length - 1 - tail] === after[after.length - 1 - tail])
    tail++;
  const middle = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)] as const;
  return joined([
    { kind: 'same', count: head },
    ...(shortestScript(...middle) ?? replaced(...middle)),
    { kind: 'same', count: tail },
  ]);
}

function replaced(before: readonly string[], after: readonly string[]): DiffPart[] {
  return [
    { kind: 'removed', count: before.length },
    { kind: 'added', count: after.length },
  ];
}

/** Null beyond the limit. */
function shortestScript(before: readonly string[], after: readonly string[]): DiffPart[] | null {
  const [rows, columns] = [before.length, after.length];
  /** For each number of changes: how far down `before` each diagonal reaches, from `-changes` on. */
  const reaches: Int32Array[] = [];
  for (let changes = 0; changes <= Math.min(MAX_CHANGES, rows + columns); changes++) {
    const last = reaches[changes - 1];
    const reach = new Int32Array(2 * changes + 1);
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let row = last === undefined ? 0 : entry(last, changes, diagonal);
      while (row < rows && row - diagonal < columns && before[row] === after[row - diagonal]) row++;
      reach[diagonal + changes] = row;
      if (row >= rows && row - diagonal >= columns) return backtrack([...reaches, reach], rows, columns);
    }
    reaches.push(reach);
  }
  return null;
}

/** How far down a diagonal begins after one change more: beside the better of its neighbours. */
function entry(last: Int32Array, changes: number, diagonal: number): number {
  return isAddition(last, changes, diagonal)
    ? reachOf(last, changes - 1, diagonal + 1)
    : reachOf(last, changes - 1, diagonal - 1) + 1;
}

function isAddition(last: Int32Array, changes: number, diagonal: number): boolean {
  if (diagonal === -changes) return true;
  if (diagonal === changes) return false;
  return reachOf(last, changes - 1, diagonal - 1) < reachOf(last, changes - 1, diagonal + 1);
}

function reachOf(reach: Int32Array, changes: number, diagonal: number): number {
  return reach[diagonal + changes] as number;
}

function backtrack(reaches: readonly Int32Array[], rows: number, columns: number): DiffPart[] {
  const parts: DiffPart[] = [];
  let [row, column] = [rows, columns];
  for (let changes = reaches.length - 1; changes > 0; changes--) {
    const last = reaches[changes - 1] as Int32Array;
    const diagonal = row - column;
    const isAdded = isAddition(last, changes, diagonal);
    const startRow = entry(last, changes, diagonal);
    parts.unshift({ kind: isAdded ? 'added' : 'removed', count: 1 }, { kind: 'same', count: row - startRow });
    row = isAdded ? startRow : startRow - 1;
    column = row - (isAdded ? diagonal + 1 : diagonal - 1);
  }
  return [{ kind: 'same', count: row }, ...parts];
}

/** Without empty parts, and neighbours of a kind as one; of a change, what is removed comes first. */
function joined(parts: readonly DiffPart[]): DiffPart[] {
  const result: DiffPart[] = [];
  let [removed, added] = [0, 0];
  const flush = (): void => {
    if (removed > 0) result.push({ kind: 'removed', count: removed });
    if (added > 0) result.push({ kind: 'added', count: added });
    [removed, added] = [0, 0];
  };
  for (const { kind, count } of parts) {
    if (count === 0) continue;
    if (kind === 'removed') removed += count;
    else if (kind === 'added') added += count;
    else {
      flush();
      const last = result.at(-1);
      if (last?.kind === 'same') result[result.length - 1] = { kind, count: last.count + count };
      else result.push({ kind, count });
    }
  }
  flush();
  return result;
}
