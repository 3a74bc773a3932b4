/**
 * Walks the lines of a patch without splitting it, because ten megabytes may be ten million lines.
 * The patch is a string with one character for each byte, so that slices of it are views.
 * Proved by test/e2e/push/patch-oracle.test.ts and test/e2e/push/patch.test.ts.
 */
export class Lines {
  readonly text: string;
  /** Where the next line begins. */
  at: number;
  readonly end: number;

  constructor(text: string, at = 0, end = text.length) {
    this.text = text;
    this.at = at;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  /** The next line without its line feed; empty at the end. */
  get line(): string {
    return this.text.slice(this.at, Math.min(this.#feed(), this.end));
  }

  /** The first character of the next line; a blank if it is empty. */
  get kind(): string {
    const kind = this.text[this.at] ?? ' ';
    return kind === '\n' ? ' ' : kind;
  }

  skip(): void {
    this.at = Math.min(this.#feed() + 1, this.end);
  }

  startsWith(beginning: string): boolean {
    return this.text.startsWith(beginning, this.at) && this.at + beginning.length <= this.end;
  }

  /** Counts lines from the beginning of the patch, for a message: it reads all of them. */
  numberAt(at = this.at): number {
    let number = 1;
    for (
      let feed = this.text.indexOf('\n');
      feed >= 0 && feed < at;
      feed = this.text.indexOf('\n', feed + 1)
    ) {
      number++;
    }
    return number;
  }

  #feed(): number {
    const feed = this.text.indexOf('\n', this.at);
    return feed < 0 ? this.end : feed;
  }
}
