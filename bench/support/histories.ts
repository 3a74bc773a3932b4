/**
 * Repositories of a simple shape: a line of small commits, and branches of one commit, of many, or
 * of many bytes.
 */
import { blob, commit } from './fast-import.ts';
import { randomText } from './random.ts';

const MAIN = 'refs/heads/main';
const DAY_SECONDS = 24 * 60 * 60;
/** Dates of the last commit and of the first, as in a repository that is worked on. */
const ENDED_AT = Math.floor(Date.now() / 1000) - DAY_SECONDS;
const BEGAN_AT = ENDED_AT - 8 * 365 * DAY_SECONDS;
const FILES = 64;
const FILE_BYTES = 2_000;
const LARGE_FILE_BYTES = 250_000;
/** More files than any branch of bytes has, so that no two texts have the same seed. */
const MOST_FILES = 10_000;

const path = (file: number): string => `src/part-${file % 8}/file-${file}.txt`;

/**
 * Writes a main branch of so many commits, spread over eight years, each of which changes one of 64
 * files.
 */
export function* mainLine(commits: number): Generator<string> {
  const files = Array.from(
    { length: FILES },
    (_, file) => [path(file), randomText(file, FILE_BYTES)] as const,
  );
  for (let number = 0; number < commits; number++) {
    const at = Math.round(BEGAN_AT + ((ENDED_AT - BEGAN_AT) * number) / Math.max(1, commits - 1));
    const changed = [path(number % FILES), randomText(FILES + number, FILE_BYTES)] as const;
    const message = `Change number ${number}\n\nIt is as good as the ones before it.\n`;
    yield commit({ ref: MAIN, at, message, files: number === 0 ? files : [changed] }, number);
  }
}

/**
 * Writes a commit behind those of `mainLine`, in the same stream, that adds so many files, a
 * hundred in a folder.
 */
export function* manyFiles(files: number): Generator<string> {
  const added = Array.from(
    { length: files },
    (_, file) => [manyFilesPath(file), `Line one\nLine ${file}\n`] as const,
  );
  yield commit({ ref: MAIN, at: ENDED_AT + 1, message: 'Add files\n', files: added });
}

export function manyFilesPath(file: number): string {
  return `many/folder-${Math.floor(file / 100)}/file-${file}.txt`;
}

/** Writes a branch ahead of main by so many commits, each of which changes a file. */
export function* branchOfCommits(
  branch: string,
  commits: number,
  seed: number,
  from = MAIN,
): Generator<string> {
  for (let number = 0; number < commits; number++) {
    yield commit(
      {
        ref: `refs/heads/${branch}`,
        ...(number === 0 ? { from } : {}),
        at: ENDED_AT + 60 + number,
        message: `Change ${path(number % FILES)}\n\nReported as number ${seed}.\n`,
        files: [[path(number % FILES), `${seed}/${number}\n${randomText(number, 500)}`]],
      },
      seed,
    );
  }
}

/**
 * Writes a branch ahead of main by so many commits that change nothing, so its pack has commits
 * only.
 */
export function* branchOfCommitsOnly(
  branch: string,
  commits: number,
  messageLength = 200,
): Generator<string> {
  for (let number = 0; number < commits; number++) {
    yield commit(
      {
        ref: `refs/heads/${branch}`,
        ...(number === 0 ? { from: MAIN } : {}),
        at: ENDED_AT + 60 + number,
        message: `Think about ${path(number % FILES)}\n\n${randomText(number, messageLength)}\n`,
        files: [],
      },
      number,
    );
  }
}

/** Writes a branch ahead of main by one commit, whose pack has so many megabytes. */
export function* branchOfBytes(branch: string, megabytes: number): Generator<string> {
  // Deflate leaves so much of the text. A little is for trees and headers.
  const bytes = (megabytes * 1e6) / 0.765;
  const count = Math.max(1, Math.round(bytes / LARGE_FILE_BYTES));
  const files = Array.from({ length: count }, (_, file) => [`data/file-${file}.txt`, file + 1] as const);
  for (const [, number] of files) {
    yield blob(number, randomText(megabytes * MOST_FILES + number, Math.round(bytes / count)));
  }
  yield commit({ ref: `refs/heads/${branch}`, from: MAIN, at: ENDED_AT + 60, message: 'Add data\n', files });
}
