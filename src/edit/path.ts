/**
 * Checks the path of a file in a repository, as someone types it or a link names it.
 * Proved by test/edit/build-change.test.ts.
 */

type ParsedPath =
  | { readonly kind: 'path'; readonly parts: readonly string[] }
  | { readonly kind: 'invalid'; readonly problem: string };

/** Maximum number of folders. Each level may cost a request to the code host. */
export const MAX_FOLDERS = 20;
/** Maximum length of a name, and of a path, on usual file systems. */
const MAX_PART_BYTES = 255;
const MAX_PATH_BYTES = 4096;
const TOO_LONG = `The path is too long: at most ${MAX_PART_BYTES} bytes in each name, ${MAX_PATH_BYTES} in all.`;

/**
 * Tells if a file system may read a name as `.git`: in any case, with invisible characters, dots or
 * blanks, or as its short name.
 */
function isGitFolder(part: string): boolean {
  const plain = part.replaceAll(/\p{Cf}/gu, '').replace(/(?<![. ])[. ]+$/, '');
  return /^(?:\.git|git~1)$/i.test(plain) || /^\.git[:\\]/i.test(plain);
}

/** Parses a path. An empty one is the repository itself, and has no parts. */
export function parsePath(text: string): ParsedPath {
  if (text === '') return { kind: 'path', parts: [] };
  // A patch may name ten megabytes of slashes.
  if (text.length > MAX_PATH_BYTES) return { kind: 'invalid', problem: TOO_LONG };
  const parts = text.split('/');
  const problem = problemOf(text, parts);
  return problem === null ? { kind: 'path', parts } : { kind: 'invalid', problem };
}

function isLongName(part: string): boolean {
  return Buffer.byteLength(part) > MAX_PART_BYTES;
}

function problemOf(text: string, parts: readonly string[]): string | null {
  if (!text.isWellFormed()) return 'The path must be valid Unicode.';
  if (/\p{Cc}/u.test(text)) return 'The path must not contain line breaks or other control characters.';
  if (Buffer.byteLength(text) > MAX_PATH_BYTES || parts.some(isLongName)) return TOO_LONG;
  if (parts.includes('')) return 'Write the path without a slash at its beginning or end, and without “//”.';
  if (parts.includes('.') || parts.includes('..')) return 'The path must not contain “.” or “..”.';
  if (parts.some(isGitFolder)) return 'No path may contain “.git”: Git keeps its own files there.';
  if (parts.length > MAX_FOLDERS + 1)
    return `This file lies more than ${MAX_FOLDERS} folders deep. Change it with Git.`;
  return null;
}

/** Endings of files of prose, whose lines may be long. Without one, a name in capitals is prose. */
const PROSE = /(?:\.(?:md|markdown|mdx|txt|text|rst|adoc|asciidoc|org|textile|wiki)|^[A-Z][A-Z_-]{1,40})$/;

/** Tells if long lines of a file are to be wrapped where it is edited. */
export function isProse(path: string): boolean {
  return PROSE.test(path.slice(path.lastIndexOf('/') + 1));
}
