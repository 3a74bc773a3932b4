/**
 * Cleans the texts of a code host of network addresses. A host may name the address that it was
 * asked from ("API rate limit exceeded for 203.0.113.77", an IP allow list): the service's own,
 * which would show where an onion service stands. A request's id may contain it in hexadecimal
 * (HAProxy's `unique-id-format`), so that is removed, too.
 */

/** The longest text that is shown. */
const MAX_LENGTH = 300;
/** How much of a longer text is read. */
const MAX_READ = 4 * 1024;
const MAX_LINES = 20;

/** Matches a word between spaces, quotes and the like: an address goes with its port and path. */
const WORD = /[^\s"'`<>(),;]+/g;
/** Matches a byte in decimal, octal or hexadecimal. */
const BYTE = String.raw`(?:0x[\da-f]{1,2}|\d{1,4})`;
/** Matches an address with dots, or with dashes as in names of reverse DNS. */
const IPV4 = new RegExp(String.raw`${BYTE}(?:\.${BYTE}){3}|${BYTE}(?:-${BYTE}){3}`, 'i');
const HEX_GROUPS = /[\da-f:_]+/gi;
/** The fewest groups of an address: fewer are a time of day, or a place in a file. */
const LEAST_GROUPS = 4;

/**
 * Matches what nobody sees, but terminals and browsers obey: controls, direction marks and so on.
 */
const UNSEEN = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const BLANKS = /[\t-\r\u0085\u2028\u2029]+/g;

/** Matches a byte that is not UTF-8, as `decodeEscaped` writes it: added to 0xdc00. */
const ESCAPED_BYTE = /[\udc80-\udcff]/u;

/** Writes a character as `[U+200B]`, or a byte that is not UTF-8 as `[0xFF]`. */
export function codeOf(mark: string): string {
  const code = (mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return ESCAPED_BYTE.test(mark) ? `[0x${code.slice(2)}]` : `[U+${code}]`;
}

/** Writes out what nobody sees. */
export function visible(line: string): string {
  return replaceUnseen(line, codeOf);
}

/** Writes each character that nobody sees in another way. */
export function replaceUnseen(text: string, write: (mark: string) => string): string {
  return text.replaceAll(UNSEEN, write);
}

/**
 * Answers whether a name or path from a repository can stand in a sentence of the service: with a
 * blank, its maintainers could continue the sentence.
 */
export function isPlainName(text: string): boolean {
  return /^[\w./-]{1,100}$/.test(text);
}

/** Makes one line of a text, shortened, with everything visible. */
export function oneLine(text: string): string {
  const line = visible(text.slice(0, MAX_READ).replaceAll(BLANKS, ' ').trim());
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
}

/** Makes one line of the host's text, without network addresses. */
export function hostText(text: string): string {
  const words = text.length <= MAX_READ ? text : text.slice(0, text.lastIndexOf(' ', MAX_READ) + 1);
  return oneLine(words.replaceAll(WORD, (word) => (holdsAddress(word) ? '[removed]' : word)));
}

/** Cleans the first lines of the host's text, and leaves out empty ones. */
export function hostLines(text: string): string[] {
  return text.split('\n').map(hostText).filter(Boolean).slice(0, MAX_LINES);
}

/** Answers whether a word contains what may be an address of IPv4 or IPv6 in a usual spelling. */
export function holdsAddress(word: string): boolean {
  // Digits may be full-width, and colons and dots may be encoded, as in the query of a web address.
  const plain = word.normalize('NFKC').replaceAll(/%(?:2e|3a)/gi, (code) => decodeURIComponent(code));
  return IPV4.test(plain) || [...plain.matchAll(HEX_GROUPS)].some((run) => isLikeIpv6(run, plain));
}

/**
 * Answers whether these groups of hexadecimal digits between colons may be an address. Letters of a
 * name that ends before them (`IP:`) or begins after them do not count.
 */
function isLikeIpv6({ 0: run, index }: RegExpExecArray, text: string): boolean {
  const groups = run.split(':');
  if (/[g-z]/i.test(text[index - 1] ?? '')) groups.shift();
  if (/[g-z]/i.test(text[index + run.length] ?? '')) groups.pop();
  const count = groups.filter((group) => group !== '').length;
  return run.includes('::') ? count > 0 : count >= LEAST_GROUPS;
}
