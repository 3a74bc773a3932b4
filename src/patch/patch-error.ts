/**
 * An error for a patch that cannot be read, or does not apply. It may name files and show lines of
 * the patch and of upstream, because only its sender reads it.
 * Proved by test/e2e/push/patch-oracle.test.ts and test/e2e/push/patch.test.ts.
 */
export class PatchError extends Error {
  override readonly name = 'PatchError';
  /** A text for the last line of a refusal. */
  readonly reason: string;
  /** Explanation and next step. */
  readonly lines: readonly string[];

  constructor(reason: string, ...lines: readonly string[]) {
    super(reason);
    this.reason = reason;
    this.lines = lines;
  }
}

export function malformed(...lines: readonly string[]): PatchError {
  return new PatchError('the patch cannot be read', ...lines);
}

export function doesNotApply(...lines: readonly string[]): PatchError {
  return new PatchError('the patch does not apply', ...lines);
}

export function tooMuch(...lines: readonly string[]): PatchError {
  return new PatchError('the patch is too large', ...lines, 'Push it, or send a bundle.');
}

/** Shows a name that has one character for each byte. */
export const shownPath = (path: string): string => Buffer.from(path, 'latin1').toString();
