/**
 * Walks the lines of a hunk where they stand in the patch, and copies none of them.
 * Proved by test/patch/apply.test.ts.
 */
import type { Hunk } from './diff.ts';
import { LINE_FEED, Lines } from './lines.ts';

export class HunkLines {
  readonly #lines: Lines;
  /** A blank, `-` or `+`. */
  kind = '';
  /** Where the text of the line begins and ends in the patch, without its line feed. */
  start = 0;
  end = 0;
  /** Whether a line feed ends the line: not if the next line of the patch says so. */
  hasFeed = true;

  constructor(patch: Uint8Array, { start, end }: Pick<Hunk, 'start' | 'end'>) {
    this.#lines = new Lines(patch, start, end);
  }

  /**
   * Goes to the next line. Answers whether there is one.
   * @param side `old` has the lines that are there before, `new` those that the hunk leaves.
   */
  next(side: 'old' | 'new' | 'both' = 'both'): boolean {
    const other = side === 'old' ? '+' : '-';
    while (this.#advance()) if (side === 'both' || this.kind !== other) return true;
    return false;
  }

  /** Counts the bytes of the line, with its line feed. */
  get byteLength(): number {
    return this.end - this.start + (this.hasFeed ? 1 : 0);
  }

  #advance(): boolean {
    const lines = this.#lines;
    if (lines.isAtEnd) return false;
    const { at, bytes } = lines;
    this.kind = lines.kind;
    // Some programs remove the blank of an empty line.
    this.start = bytes[at] === LINE_FEED ? at : at + 1;
    lines.skip();
    this.end = bytes[lines.at - 1] === LINE_FEED ? lines.at - 1 : lines.at;
    this.hasFeed = lines.isAtEnd || lines.kind !== '\\';
    if (!this.hasFeed) lines.skip();
    return true;
  }
}
