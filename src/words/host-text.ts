/**
 * What a code host says, without network addresses. It may name the address that it was asked from
 * ("API rate limit exceeded for 203.0.113.77", an IP allow list): the service's own, which shows
 * where an onion service stands. A request's id may hold the same in hexadecimal (HAProxy's
 * `unique-id-format`), so it goes, too.
 */

/** The longest text that is shown. */
const MAX_LENGTH = 300;
/** As much is read, so that what is shown depends on no longer text. */
const MAX_READ = 4 * 1024;
const MAX_LINES = 20;

/**
 * What stands between spaces, quotes and the like: an address is removed with its brackets, port
 * and path.
 */
const WORD = /[^\s"'`<>(),;]+/g;
/** Decimal, octal or hexadecimal. */
const BYTE = String.raw`(?:0x[\da-f]{1,2}|\d{1,4})`;
/** Dotted, or with dashes as in a name of reverse DNS. */
const IPV4 = new RegExp(String.raw`${BYTE}(?:\.${BYTE}){3}|${BYTE}(?:-${BYTE}){3}`, 'i');
const HEX_GROUPS = /[\da-f:_]+/gi;
/** Fewer are a time of day, or the place in a file. */
const LEAST_GROUPS = 4;

/**
 * What a terminal or a browser obeys and nobody sees: controls, direction marks, characters without
 * a width.
 */
const UNSEEN = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const BLANKS = /[\t-\r\u0085\u2028\u2029]+/g;

/** A byte that is not UTF-8, behind 0xdc00: see `decodeEscaped`. */
const ESCAPED_BYTE = /[\udc80-\udcff]/u;

/** `[U+200B]`, or of a byte `[0xFF]`. */
export function codeOf(mark: string): string {
  const code = (mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return ESCAPED_BYTE.test(mark) ? `[0x${code.slice(2)}]` : `[U+${code}]`;
}

/** A line in which nothing hides. */
export function visible(line: string): string {
  return line.replaceAll(UNSEEN, codeOf);
}

/** One line, shortened, in which nothing hides. */
export function oneLine(text: string): string {
  const line = visible(text.slice(0, MAX_READ).replaceAll(BLANKS, ' ').trim());
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
}

/** The host's text in one line. */
export function hostText(text: string): string {
  const words = text.length <= MAX_READ ? text : text.slice(0, text.lastIndexOf(' ', MAX_READ) + 1);
  return oneLine(words.replaceAll(WORD, (word) => (holdsAddress(word) ? '[removed]' : word)));
}

/** The host's text, line by line, without empty ones; the first few. */
export function hostLines(text: string): string[] {
  return text.split('\n').map(hostText).filter(Boolean).slice(0, MAX_LINES);
}

/** Whether a word holds an address of IPv4 or IPv6, in any spelling, or what may be one. */
export function holdsAddress(word: string): boolean {
  // Digits may be full-width, and in the query of a web address colons and dots are encoded.
  const plain = word.normalize('NFKC').replaceAll(/%(?:2e|3a)/gi, (code) => decodeURIComponent(code));
  return IPV4.test(plain) || [...plain.matchAll(HEX_GROUPS)].some((run) => isLikeIpv6(run, plain));
}

/**
 * Groups of hexadecimal digits between colons. A name that ends before them (`IP:`), or begins
 * after, is none.
 */
function isLikeIpv6({ 0: run, index }: RegExpExecArray, text: string): boolean {
  const groups = run.split(':');
  if (/[g-z]/i.test(text[index - 1] ?? '')) groups.shift();
  if (/[g-z]/i.test(text[index + run.length] ?? '')) groups.pop();
  const count = groups.filter((group) => group !== '').length;
  return run.includes('::') ? count > 0 : count >= LEAST_GROUPS;
}
