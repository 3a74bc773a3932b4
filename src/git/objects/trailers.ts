/**
 * Trailers of a commit message (git-interpret-trailers(1)). Messages are handled as Latin-1 texts
 * of their bytes, because trailers are ASCII in every encoding.
 * Proved by test/git/objects/sign-offs.test.ts and test/e2e/push/trailers.test.ts.
 */

/**
 * Matches the trailers that Git itself writes. If a block has one of them, a quarter of its lines
 * must be trailers; otherwise all must be (Git's trailer.c).
 */
const OF_GIT = /^(?:Signed-off-by: |\(cherry picked from commit )/;
const TRAILER = /^[A-Za-z0-9-]+[ \t]*:/;
const CONTINUATION = /^[ \t\v\f\r]/;
const BLANK = /^[ \t\v\f\r]*$/;
const MIN_SHARE = 3;
/**
 * Maximum number of lines of a block of trailers. Each line costs a few patterns, and a message can
 * have millions of lines.
 */
const MAX_LINES = 250;

/**
 * Appends a trailer to a message: to its block of trailers if there is one, otherwise as a new
 * paragraph.
 */
export function withTrailer(message: string, trailer: string): string {
  const end = contentEnd(message);
  const lineEnd = message.indexOf('\n', end);
  const words = lineEnd < 0 ? `${message.slice(0, end)}\n` : message.slice(0, lineEnd + 1);
  return `${words}${endsWithTrailers(words) ? '' : '\n'}${trailer}\n`;
}

/**
 * Finds the end of the text without trailing white space. `trimEnd` would also remove 0xA0, which
 * may be a part of a character.
 */
export function contentEnd(text: string): number {
  let end = text.length;
  while (end > 0 && isWhiteSpace(text.charCodeAt(end - 1))) end--;
  return end;
}

/**
 * Recognizes ASCII white space. It compares numbers, because a message can have megabytes of it.
 */
function isWhiteSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/**
 * Tells if the last paragraph is a block of trailers. The first paragraph, the title, never is.
 * @param words must end with a line feed.
 */
function endsWithTrailers(words: string): boolean {
  let [trailers, others, continuations] = [0, 0, 0];
  let isGits = false;
  let linesLeft = MAX_LINES;
  for (let end = words.length - 1; end > 0 && linesLeft > 0; linesLeft--) {
    const start = words.lastIndexOf('\n', end - 1) + 1;
    const line = words.slice(start, end);
    if (BLANK.test(line)) {
      others += continuations;
      const isBlock = isGits ? trailers * MIN_SHARE >= others : trailers > 0 && others === 0;
      return isBlock && contentEnd(words.slice(0, start)) > 0;
    }
    isGits ||= OF_GIT.test(line);
    if (CONTINUATION.test(line)) {
      continuations += 1;
    } else {
      if (OF_GIT.test(line) || TRAILER.test(line)) trailers += 1;
      else others += 1 + continuations;
      continuations = 0;
    }
    end = start - 1;
  }
  return false;
}
