/**
 * Applies the hunks of one file, exactly: at their place, or where all their lines stand, if that
 * is one place. Nothing is guessed. It is stricter than `git apply`, which takes the nearest of
 * several places: what it accepts, Git accepts with the same result.
 * Proved by test/e2e/push/patch-oracle.test.ts and test/e2e/push/patch.test.ts.
 */
import { latin1 } from '../git/bytes.ts';
import type { Hunk } from './diff.ts';
import { Lines } from './lines.ts';
import { doesNotApply, tooMuch } from './patch-error.ts';

/** The looks that are left to a whole patch, so that no file is searched for ever. */
export interface SearchBudget {
  lines: number;
  wrong: number;
}

/** Lines that may be looked at in order to find hunks that have moved. */
const MAX_SEARCHED_LINES = 50_000_000;
/**
 * Lines of a file that is changed, some 20 MB of source code. For each there are four numbers of
 * four bytes in memory, if a hunk of nearly all lines has moved.
 */
const MAX_LINES = 1_000_000;
const BYTES_OF_A_LINE = 16;
/** Both sides of a hunk as bytes and as texts. */
const HUNK_COPIES = 4;
/** Places that may look right by the hashes of their lines, and are not. */
const MAX_WRONG_PLACES = 100;
/** Lines of upstream that are shown, and the length of each. */
const MOST_SHOWN = 7;
const MOST_OF_A_LINE = 120;
const LINE_FEED = 0x0a;

export const newBudget = (): SearchBudget => ({ lines: MAX_SEARCHED_LINES, wrong: MAX_WRONG_PLACES });

/** The sides of a hunk, line ends included. */
interface Sides {
  readonly old: string;
  readonly now: string;
  /** Whether the hunk ends with lines that stay. */
  readonly hasLinesBehind: boolean;
}

/**
 * Counts the memory that `applyHunks` needs besides the file and the result.
 * @throws PatchError
 */
export function bytesToApply(source: string, hunks: readonly Hunk[], name: string): number {
  const lines = countOf(source);
  if (lines > MAX_LINES) throw tooMuch(`${name} has more than a million lines upstream.`);
  const most = hunks.reduce((bytes, { start, end }) => Math.max(bytes, end - start), 0);
  return BYTES_OF_A_LINE * lines + HUNK_COPIES * most;
}

/**
 * @param source the file, one character for each byte.
 * @param name the file's, for messages.
 * @throws PatchError
 */
export function applyHunks(
  source: string,
  patch: string,
  hunks: readonly Hunk[],
  name: string,
  budget: SearchBudget,
): string {
  const lines = new LineStarts(source);
  let result = '';
  /** The first line behind the last hunk, and how many lines the result has more until there. */
  let [done, more] = [0, 0];
  for (const [index, hunk] of hunks.entries()) {
    const sides = sidesOf(patch, hunk);
    const at = placeOf(lines, sides, hunk, done, more, budget);
    if (at === null) throw misfit(lines, hunk, hunk.newStart - 1 - more, `${name}, hunk ${index + 1}`);
    result += source.slice(lines.start(done), lines.start(at)) + sides.now;
    more += countOf(sides.now) - hunk.oldCount;
    done = at + hunk.oldCount;
  }
  return result + source.slice(lines.start(done));
}

function countOf(text: string): number {
  let count = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/**
 * Reads both sides of a hunk. A line that says so takes the line feed from the one before. They are
 * gathered as bytes, because a string of half a million pieces takes ten times its length.
 */
function sidesOf(patch: string, { start, end }: Hunk): Sides {
  const [old, now] = [new Side(end - start), new Side(end - start)];
  let hasLinesBehind = false;
  for (let kind = '', lines = new Lines(patch, start, end); !lines.isAtEnd;) {
    const { at, kind: next } = lines;
    lines.skip();
    if (next === '\\') {
      if (kind !== '+') old.length--;
      if (kind !== '-') now.length--;
      continue;
    }
    kind = next;
    const from = patch[at] === '\n' ? at : at + 1;
    if (kind !== '+') old.add(patch, from, lines.at);
    if (kind !== '-') now.add(patch, from, lines.at);
    hasLinesBehind = kind === ' ';
  }
  return { old: old.text, now: now.text, hasLinesBehind };
}

class Side {
  readonly #bytes: Uint8Array;
  length = 0;

  /** @param most bytes that are added, but for the last line feed. */
  constructor(most: number) {
    this.#bytes = new Uint8Array(most + 1);
  }

  /** Adds a line, which ends with a line feed even if the patch does not. */
  add(patch: string, from: number, to: number): void {
    for (let at = from; at < to; at++) this.#bytes[this.length++] = patch.charCodeAt(at);
    if (patch[to - 1] !== '\n') this.#bytes[this.length++] = LINE_FEED;
  }

  get text(): string {
    return latin1(this.#bytes, 0, this.length);
  }
}

/**
 * The line at which a hunk stands; null: at none, or at several. As for `git apply`, one without
 * lines behind its change ends the file, and one of the first line begins it.
 */
function placeOf(
  lines: LineStarts,
  { old, hasLinesBehind }: Sides,
  { oldStart, oldCount, newStart }: Hunk,
  done: number,
  more: number,
  budget: SearchBudget,
): number | null {
  const fits = (at: number): boolean =>
    at >= done && at + oldCount <= lines.count && lines.has(old, at, oldCount);
  const last = lines.count - oldCount;
  if (oldStart <= 1) return fits(0) && (hasLinesBehind || last === 0) ? 0 : null;
  if (!hasLinesBehind) return fits(last) ? last : null;
  const expected = newStart - 1 - more;
  if (fits(expected)) return expected;
  return oldCount > lines.count - done ? null : lines.onlyPlaceOf(old, done, budget);
}

function misfit(lines: LineStarts, { oldStart, oldCount }: Hunk, expected: number, where: string) {
  const first = Math.max(0, Math.min(expected, lines.count - 1));
  const shown = Array.from({ length: Math.min(oldCount, MOST_SHOWN, lines.count - first) }, (_, index) => {
    const text = Buffer.from(lines.line(first + index), 'latin1').toString();
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
  readonly #text: string;
  readonly #starts: Int32Array;
  readonly count: number;

  constructor(text: string) {
    this.#text = text;
    const count = countOf(text);
    this.count = count;
    this.#starts = new Int32Array(count + 1);
    for (let line = 1; line < count; line++)
      this.#starts[line] = text.indexOf('\n', this.#starts[line - 1]) + 1;
    this.#starts[count] = text.length;
  }

  /** The offset of a line; behind the last one, that of the end. */
  start(line: number): number {
    return this.#starts[line] ?? this.#text.length;
  }

  line(number: number): string {
    return this.#text.slice(this.start(number), this.start(number + 1)).replace(/\r?\n$/, '');
  }

  /** Whether these lines, and nothing else, stand from a line on. */
  has(lines: string, at: number, count: number): boolean {
    return (
      this.start(at + count) - this.start(at) === lines.length && this.#text.startsWith(lines, this.start(at))
    );
  }

  /**
   * The only place of these lines from a line on; null if there is none, or several. It compares
   * hashes of lines first, as Knuth, Morris and Pratt compare characters, so that it takes linear
   * time.
   * @throws PatchError if too much was searched
   */
  onlyPlaceOf(lines: string, from: number, budget: SearchBudget): number | null {
    const sought = new LineStarts(lines).#hashes();
    budget.lines -= this.count + sought.length;
    const borders = bordersOf(sought);
    let found: number | null = null;
    for (let [line, same] = [from, 0]; line < this.count; line++) {
      const hash = this.#hashOf(line);
      while (same > 0 && hash !== sought[same]) same = borders[same - 1] as number;
      if (hash === sought[same]) same++;
      if (same < sought.length) continue;
      same = borders[same - 1] as number;
      const at = line + 1 - sought.length;
      if (!this.has(lines, at, sought.length)) budget.wrong--;
      else if (found !== null) return null;
      else found = at;
      if (budget.wrong < 0) break;
    }
    if (budget.lines < 0 || budget.wrong < 0)
      throw tooMuch('Too many of its hunks stand elsewhere upstream.');
    return found;
  }

  #hashes(): Int32Array {
    return Int32Array.from({ length: this.count }, (_, line) => this.#hashOf(line));
  }

  #hashOf(line: number): number {
    let hash = 0;
    for (let at = this.start(line); at < this.start(line + 1); at++)
      hash = (Math.imul(hash, 31) + this.#text.charCodeAt(at)) | 0;
    return hash;
  }
}

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
