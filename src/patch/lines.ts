/**
 * Walks the lines of a patch without splitting or copying it, because ten megabytes may be ten
 * million lines. A line becomes a string only where it is read, with one character for each byte.
 * Proved by test/e2e/push/patch-oracle.test.ts and test/e2e/push/patch.test.ts.
 */
import { latin1 } from '../git/bytes.ts';

export const LINE_FEED = 0x0a;
const BLANK = ' ';

export class Lines {
  readonly bytes: Uint8Array;
  /** Where the next line begins. */
  at: number;
  readonly end: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.byteLength) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  /** The next line without its line feed; empty at the end. */
  get line(): string {
    return latin1(this.bytes, this.at, this.#feed());
  }

  /** The first character of the next line; a blank if it is empty. */
  get kind(): string {
    const code = this.bytes[this.at] ?? LINE_FEED;
    return code === LINE_FEED ? BLANK : String.fromCharCode(code);
  }

  skip(): void {
    this.at = Math.min(this.#feed() + 1, this.end);
  }

  startsWith(beginning: string): boolean {
    if (this.at + beginning.length > this.end) return false;
    for (let index = 0; index < beginning.length; index++) {
      if (this.bytes[this.at + index] !== beginning.charCodeAt(index)) return false;
    }
    return true;
  }

  /** The lines behind the next one. */
  get next(): Lines {
    const { bytes, end } = this;
    return new Lines(bytes, Math.min(this.#feed() + 1, end), end);
  }

  /** Counts lines from the beginning of the patch, for a message: it reads all of them. */
  numberAt(at = this.at): number {
    return 1 + countFeeds(this.bytes, at);
  }

  #feed(): number {
    const { bytes, end } = this;
    // Lines are short: a call out of the engine would take ten times as long.
    let feed = this.at;
    while (feed < end && bytes[feed] !== LINE_FEED) feed++;
    return feed;
  }
}

/** Counts the line feeds in front of an offset. */
export function countFeeds(bytes: Uint8Array, end: number): number {
  let count = 0;
  for (let at = 0; at < end; at++) if (bytes[at] === LINE_FEED) count++;
  return count;
}
