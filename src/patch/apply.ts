/**
 * Applies the hunks of one file, exactly: at their place, or where all their lines stand, if that
 * is one place. Nothing is guessed. It is stricter than `git apply`, which takes the nearest of
 * several places: what it accepts, Git accepts with the same result. Only the new file is copied:
 * hunks are compared where they stand in the patch.
 * Proved by test/e2e/push/patch-oracle.test.ts and test/e2e/push/patch.test.ts.
 */
import type { Hunk } from './diff.ts';
import { HunkLines } from './hunk-lines.ts';
import { countFeeds, LINE_FEED } from './lines.ts';
import { doesNotApply, tooMuch } from './patch-error.ts';

/** The looks that are left to a whole patch, so that no file is searched for ever. */
export interface SearchBudget {
  bytes: number;
  wrong: number;
}

/**
 * Bytes that may be looked at in order to find hunks that have moved, and how many each line counts
 * besides its own: a megabyte can be a million lines.
 */
const MAX_SEARCHED_BYTES = 128 * 1024 * 1024;
const LINE_WORK = 32;
/** Lines of a file that is changed, some 20 MB of source code. */
const MAX_LINES = 1_000_000;
/** Three numbers of four bytes, if a hunk of nearly all lines has moved. */
const BYTES_OF_A_LINE = 12;
/** Places that may look right by the hashes of their lines, and are not: hardly by chance. */
const MAX_WRONG_PLACES = 5;
/** Lines of upstream that are shown, and the length of each. */
const MOST_SHOWN = 7;
const MOST_OF_A_LINE = 120;

export const newBudget = (): SearchBudget => ({ bytes: MAX_SEARCHED_BYTES, wrong: MAX_WRONG_PLACES });

/**
 * Counts the memory that `placeHunks` needs.
 * @throws PatchError
 */
export function bytesToPlace(source: Uint8Array, name: string): number {
  const lines = countLines(source);
  if (lines > MAX_LINES) throw tooMuch(`${name} has more than a million lines upstream.`);
  return BYTES_OF_A_LINE * lines;
}

/** Where a hunk stands in a file, in bytes. */
interface Placed {
  readonly hunk: Hunk;
  readonly start: number;
  readonly end: number;
}

/** A file with the places of its hunks. */
export interface PlacedHunks {
  readonly source: Uint8Array;
  readonly patch: Uint8Array;
  readonly placed: readonly Placed[];
  /** Bytes of the file that `applyHunks` makes. */
  readonly byteLength: number;
}

/**
 * @param name the file's, for messages.
 * @throws PatchError
 */
export function placeHunks(
  source: Uint8Array,
  patch: Uint8Array,
  hunks: readonly Hunk[],
  name: string,
  budget: SearchBudget,
): PlacedHunks {
  const lines = new LineStarts(source);
  const placed: Placed[] = [];
  let { byteLength } = source;
  /** The first line behind the last hunk, and how many lines the result has more until there. */
  let [done, more] = [0, 0];
  for (const [index, hunk] of hunks.entries()) {
    const at = placeOf(lines, patch, hunk, done, more, budget);
    if (at === null) throw misfit(lines, hunk, hunk.newStart - 1 - more, `${name}, hunk ${index + 1}`);
    done = at + hunk.oldCount;
    const [start, end] = [lines.start(at), lines.start(done)];
    placed.push({ hunk, start, end });
    let lineCount = 0;
    byteLength -= end - start;
    for (const line = new HunkLines(patch, hunk); line.next('new'); lineCount++)
      byteLength += line.byteLength;
    more += lineCount - hunk.oldCount;
  }
  return { source, patch, placed, byteLength };
}

/** Makes the new file. */
export function applyHunks({ source, patch, placed, byteLength }: PlacedHunks): Uint8Array {
  const result = new Uint8Array(byteLength);
  let [filled, copied] = [0, 0];
  const copyUntil = (end: number): void => {
    result.set(source.subarray(copied, end), filled);
    filled += end - copied;
  };
  for (const { hunk, start, end } of placed) {
    copyUntil(start);
    copied = end;
    for (const line = new HunkLines(patch, hunk); line.next('new');) {
      for (let at = line.start; at < line.end; at++) result[filled++] = patch[at]!;
      if (line.hasFeed) result[filled++] = LINE_FEED;
    }
  }
  copyUntil(source.byteLength);
  return result;
}

function countLines(text: Uint8Array): number {
  const hasLast = text.byteLength > 0 && text.at(-1) !== LINE_FEED;
  return countFeeds(text, text.byteLength) + (hasLast ? 1 : 0);
}

/**
 * The line at which a hunk stands; null: at none, or at several. As for `git apply`, one without
 * lines behind its change ends the file, and one of the first line begins it.
 */
function placeOf(
  lines: LineStarts,
  patch: Uint8Array,
  hunk: Hunk,
  done: number,
  more: number,
  budget: SearchBudget,
): number | null {
  const { oldStart, oldCount, newStart } = hunk;
  const fits = (at: number): boolean =>
    at >= done && at + oldCount <= lines.count && lines.has(patch, hunk, at);
  const last = lines.count - oldCount;
  const hasLinesBehind = endsWithContext(patch, hunk);
  if (oldStart <= 1) return fits(0) && (hasLinesBehind || last === 0) ? 0 : null;
  if (!hasLinesBehind) return fits(last) ? last : null;
  const expected = newStart - 1 - more;
  if (fits(expected)) return expected;
  return oldCount > lines.count - done ? null : lines.onlyPlaceOf(patch, hunk, done, budget);
}

/** Whether the last line of a hunk is one that stays. */
function endsWithContext(patch: Uint8Array, hunk: Hunk): boolean {
  const line = new HunkLines(patch, hunk);
  while (line.next());
  return line.kind === ' ';
}

function misfit(lines: LineStarts, { oldStart, oldCount }: Hunk, expected: number, where: string) {
  const first = Math.max(0, Math.min(expected, lines.count - 1));
  const shown = Array.from({ length: Math.min(oldCount, MOST_SHOWN, lines.count - first) }, (_, index) => {
    const text = lines.line(first + index);
    return `  ${first + index + 1}: ${text.length > MOST_OF_A_LINE ? `${text.slice(0, MOST_OF_A_LINE)}…` : text}`;
  });
  return doesNotApply(
    `${where} (line ${oldStart}) does not fit.`,
    ...(shown.length === 0 ? ['The file is empty there.'] : ['Upstream has there now:', ...shown]),
    'Bring your branch up to date (git pull --rebase), and make the patch again.',
  );
}

/** Where each line of a text begins, in one array. */
class LineStarts {
  readonly #text: Uint8Array;
  readonly #starts: Int32Array;
  readonly count: number;

  constructor(text: Uint8Array) {
    this.#text = text;
    const count = countLines(text);
    this.count = count;
    this.#starts = new Int32Array(count + 1);
    for (let [line, at] = [1, 0]; line < count; at++)
      if (text[at] === LINE_FEED) this.#starts[line++] = at + 1;
    this.#starts[count] = text.byteLength;
  }

  /** The offset of a line; behind the last one, that of the end. */
  start(line: number): number {
    return this.#starts[line] ?? this.#text.byteLength;
  }

  line(number: number): string {
    const most = this.start(number) + 4 * MOST_OF_A_LINE;
    const bytes = this.#text.subarray(this.start(number), Math.min(most, this.start(number + 1)));
    return Buffer.from(bytes)
      .toString()
      .replace(/\r?\n$/, '');
  }

  /** Whether the old lines of a hunk, and nothing else, stand from a line on. */
  has(patch: Uint8Array, hunk: Hunk, at: number): boolean {
    let place = this.start(at);
    for (const line = new HunkLines(patch, hunk); line.next('old');) {
      for (let from = line.start; from < line.end; from++)
        if (this.#text[place++] !== patch[from]) return false;
      if (line.hasFeed && this.#text[place++] !== LINE_FEED) return false;
    }
    return place === this.start(at + hunk.oldCount);
  }

  /**
   * The only place of a hunk's old lines from a line on; null if there is none, or several. It
   * compares hashes of lines first, as Knuth, Morris and Pratt compare characters, so that it takes
   * linear time.
   * @throws PatchError if too much was searched
   */
  onlyPlaceOf(patch: Uint8Array, hunk: Hunk, from: number, budget: SearchBudget): number | null {
    const lines = this.count - from + hunk.oldCount;
    budget.bytes -= this.start(this.count) - this.start(from) + hunk.end - hunk.start + LINE_WORK * lines;
    if (budget.bytes < 0) throw tooMuchMoved();
    const sought = hashesOf(patch, hunk);
    const borders = bordersOf(sought);
    let found: number | null = null;
    for (let [line, same] = [from, 0]; line < this.count; line++) {
      const hash = hashOf(this.#text, this.start(line), this.start(line + 1));
      while (same > 0 && hash !== sought[same]) same = borders[same - 1] as number;
      if (hash === sought[same]) same++;
      if (same < sought.length) continue;
      same = borders[same - 1] as number;
      const at = line + 1 - sought.length;
      if (!this.has(patch, hunk, at)) budget.wrong--;
      else if (found !== null) return null;
      else found = at;
      if (budget.wrong < 0) throw tooMuchMoved();
    }
    return found;
  }
}

const tooMuchMoved = () => tooMuch('Too many of its hunks stand elsewhere upstream.');

/** Hashes of the old lines of a hunk. */
function hashesOf(patch: Uint8Array, hunk: Hunk): Int32Array {
  const hashes = new Int32Array(hunk.oldCount);
  const line = new HunkLines(patch, hunk);
  for (let index = 0; line.next('old'); index++) {
    const hash = hashOf(patch, line.start, line.end);
    hashes[index] = line.hasFeed ? withByte(hash, LINE_FEED) : hash;
  }
  return hashes;
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at++) hash = withByte(hash, bytes[at]!);
  return hash;
}

const withByte = (hash: number, byte: number): number => (Math.imul(hash, 31) + byte) | 0;

/** For each beginning of a sequence, how long the longest end of it is that also begins it. */
function bordersOf(sought: Int32Array): Int32Array {
  const borders = new Int32Array(sought.length);
  for (let [at, same] = [1, 0]; at < sought.length; at++) {
    while (same > 0 && sought[at] !== sought[same]) same = borders[same - 1] as number;
    if (sought[at] === sought[same]) same++;
    borders[at] = same;
  }
  return borders;
}
