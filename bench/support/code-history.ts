/**
 * A synthetic repository with the shape of a real one: some thousand source files in folders, and
 * thousands of commits that each change a few lines in a few of them, and now and then add one. Its
 * packs hold many small objects, most of them deltas in chains.
 */
import { blob, commit } from './fast-import.ts';
import { randomFrom } from './random.ts';

const SEED = 20_260_101;
const BASE_FILES = 2_400;
const FOLDERS = 7;
const MAX_FILES = 4;
const NEW_FILE_CHANCE = 0.03;
/**
 * Number of lines in a fixed stock: generating each line anew would take longer than everything
 * else.
 */
const LINES = 60_000;
const WORDS = 4_000;
const LETTERS = 'etaoinshrdlucmfwypvbgkqjxz';
const BEGAN_AT = 1_500_000_000;
const HOUR_SECONDS = 3_600;

/**
 * Puts a seventh of the files at the root, because folders of a few hundred files make trees large.
 */
const path = (file: number): string =>
  file % FOLDERS === 0 ? `file-${file}.c` : `part-${file % FOLDERS}/file-${file}.c`;

export class CodeHistory {
  readonly #random = randomFrom(SEED);
  readonly #words = this.#many(WORDS, () => this.#word());
  readonly #lines = this.#many(LINES, () => this.#line());
  readonly #files = this.#many(BASE_FILES, () => this.#newFile());

  /** Writes upstream's history: one commit with the first files, on main. */
  *base(): Generator<string> {
    const files = this.#files.map((_, file) => [path(file), this.#text(file)] as const);
    yield commit({ ref: 'refs/heads/main', at: BEGAN_AT, message: 'Begin\n', files });
  }

  /** Writes the commits of a branch ahead of main, which a push brings. Call it after `base`. */
  *pushed(branch: string, commits: number): Generator<string> {
    const changes = this.#many(commits, () => this.#chooseFiles());
    // File by file, so that each version is stored as a delta of the one before it.
    const versions = changes
      .flatMap((files, index) =>
        files.map((file) => ({ file, number: index * MAX_FILES + files.indexOf(file) })),
      )
      .toSorted((a, b) => a.file - b.file || a.number - b.number);
    for (const { file, number } of versions) {
      this.#edit(this.#files[file] as string[]);
      yield blob(number + 1, this.#text(file));
    }
    for (const [index, files] of changes.entries()) {
      yield commit(
        {
          ref: `refs/heads/${branch}`,
          ...(index === 0 ? { from: 'refs/heads/main' } : {}),
          at: BEGAN_AT + (index + 1) * HOUR_SECONDS,
          message: `${this.#many(2 + this.#below(8), () => this.#stockLine().trim()).join('\n')}\n`,
          files: files.map((file, place) => [path(file), index * MAX_FILES + place + 1] as const),
        },
        index,
      );
    }
  }

  /**
   * Chooses the files that one commit changes, at most `MAX_FILES`. Some files change often, and
   * some are new.
   */
  #chooseFiles(): number[] {
    const files = new Set(
      this.#many(1 + this.#below(MAX_FILES - 1), () => this.#below(this.#files.length, 2)),
    );
    if (this.#random() < NEW_FILE_CHANCE) files.add(this.#files.push(this.#newFile()) - 1);
    return [...files];
  }

  #text(file: number): string {
    return `${(this.#files[file] as string[]).join('\n')}\n`;
  }

  #newFile(): string[] {
    return this.#many(60 + this.#below(3_000, 2.5), () => this.#stockLine());
  }

  #edit(lines: string[]): void {
    for (let hunks = 1 + this.#below(4); hunks > 0; hunks--) {
      const length = 1 + this.#below(14, 2);
      const removed = this.#below(length * 1.6);
      lines.splice(this.#below(lines.length), removed, ...this.#many(length, () => this.#stockLine()));
    }
  }

  #stockLine(): string {
    return this.#lines[this.#below(LINES)] as string;
  }

  /**
   * Makes a line that looks like code: indentation, words of which few are frequent, and
   * punctuation between them.
   */
  #line(): string {
    let text = '\t'.repeat(this.#below(3));
    for (let words = 1 + this.#below(8); words > 0; words--) {
      text += this.#words[this.#below(WORDS, 3)] as string;
      text += this.#random() < 0.6 ? ' ' : '();->_=,*&'[this.#below(10)];
    }
    return text + (this.#random() < 0.7 ? ';' : '');
  }

  #word(): string {
    return this.#many(2 + this.#below(9, 1.5), () => LETTERS[this.#below(LETTERS.length, 2)] as string).join(
      '',
    );
  }

  #many<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }

  /**
   * Draws a whole number from 0 to `limit`, exclusive. The higher `power`, the more often it is
   * small.
   */
  #below(limit: number, power = 1): number {
    return Math.floor(limit * this.#random() ** power);
  }
}
