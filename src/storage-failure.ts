/**
 * The failure of an object, or of D1, whose database could not be written or opened: the disk of
 * one machine is full, read-only or broken, or Cloudflare's storage does not answer. A failed write
 * resets the object with its memory, and what it would have answered since is not sent (the output
 * gate). So its callers learn it by this error alone. An object that a deployment has reset counts
 * as one, too, because trying again helps there as well.
 * Proved by test/log.test.ts.
 */

/** Matches SQLite's codes for a failing disk, and the runtime's words where it hides the code. */
const STORAGE =
  /\bSQLITE_(?:FULL|IOERR|READONLY|CANTOPEN)\b|^internal error; reference = |\bobject (?:was |to be )?reset\b/i;

export function isStorageFailure(error: unknown): boolean {
  return error instanceof Error && (STORAGE.test(error.message) || isStorageFailure(error.cause));
}
