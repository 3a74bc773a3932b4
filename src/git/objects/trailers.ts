/** Trailers of a commit's message (git-interpret-trailers(1)). Texts are its bytes as Latin-1: trailers are ASCII. */

/** What Git itself writes: with one of these, only a quarter of the lines must be trailers. */
const OF_GIT = /^(?:Signed-off-by: |\(cherry picked from commit )/;
const TRAILER = /^[A-Za-z0-9-]+[ \t]*:/;
const CONTINUATION = /^[ \t\v\f\r]/;
const BLANK = /^[ \t\v\f\r]*$/;
const MIN_SHARE = 3;

/** The message with one more trailer as its last line: in the block of the others, else behind a blank line. */
export function withTrailer(message: string, trailer: string): string {
  const end = contentEnd(message);
  const lineEnd = message.indexOf('\n', end);
  const words = lineEnd < 0 ? `${message.slice(0, end)}\n` : message.slice(0, lineEnd + 1);
  return `${words}${endsWithTrailers(words) ? '' : '\n'}${trailer}\n`;
}

/** Behind the last byte that is no white space; 0: there is none. Not `trimEnd`, which would also take 0xA0. */
export function contentEnd(text: string): number {
  let end = text.length;
  while (end > 0 && ' \t\n\v\f\r'.includes(text.charAt(end - 1))) end--;
  return end;
}

/** Whether the last paragraph is a block of trailers. The first one is the title. @param words end with a line feed. */
function endsWithTrailers(words: string): boolean {
  let [trailers, others, continuations] = [0, 0, 0];
  let isGits = false;
  for (let end = words.length - 1; end > 0;) {
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
