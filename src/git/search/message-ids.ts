/**
 * Ids in messages that lead to an account: tools write them into links and trailers. They are known
 * by their shape, not by a list of vendors.
 */
/** A line of a message that holds an id in a link, or as the value of a trailer. */
export interface LineWithId {
  /** The start of the line. For a folded trailer, it is that of its first line. */
  readonly start: number;
  /** The start of the id. */
  readonly at: number;
  /** The key of the trailer, such as `link:`, in lower case; null: the line is no trailer. */
  readonly key: string | null;
  /** The link that holds the id, from `://` to the id; null: no link holds it. */
  readonly link: string | null;
  /** The link's server, such as `//lore.kernel.org`, in lower case; null: there is no link. */
  readonly server: string | null;
}

/** Letters, digits, `_` and `-`, by their codes. */
const IN_RUN = Uint8Array.from({ length: 256 }, (_, code) => Number(/[\w-]/.test(String.fromCharCode(code))));
const LEAST_RUN = 20;
/** Matches in every message that has an id. It looks only where a run begins. */
export const LONG_RUN = new RegExp(String.raw`(?<![\w-])[\w-]{${LEAST_RUN}}`, 'g');
/** Maximum length of a run. Longer ones are encoded files. */
const MOST_RUN = 300;
/** UUIDs (RFC 9562), and what may be an id of another form. */
const LIKE_IDS = /(?<![\da-z])(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-z]{20,300})(?![\da-z])/gi;
/**
 * Three changes between letters and digits: a word with a number in it has two
 * (`X509CertificateBuilder`).
 */
const MIXED = /\d[a-z]+\d+[a-z]|[a-z]\d+[a-z]+\d/i;
/** SHA-1 and everything longer: ids of commits and digests name contents, not accounts. */
const DIGEST = /^[\da-f]{40,}$/i;
/** Keys of trailers, and not an address at the beginning of a line. */
const TRAILER = String.raw`^([a-z][a-z\d-]{0,39})[ \t]*:(?!\/\/)`;
export const KEYS = new RegExp(TRAILER, 'gim');
const KEY = new RegExp(TRAILER, 'i');
/** Names that tools give to what somebody has typed, in keys of trailers. */
export const SESSION_KEY = /session|thread|chat|conversation|transcript/;
/** Nobody writes these by hand, whereas a long name with numbers may be a word of the code. */
const NO_WORD = /^(?:[\da-f]{8}-.*|[\da-f]{32,})$/i;
const MAX_KEY_LENGTH = 50;
/** Servers of links (RFC 3986, section 3.2), behind the name of a user. */
export const SERVERS = /:\/\/(?:[^\s/?#@]{1,100}@)?([^\s/:?#]{1,255})/g;
/** Blanks by name: in Latin-1, `\s` matches a byte of `à` and of many other letters. */
const ENDS_LINK = /[ \t\r\n<>"'`]/;
/** Maximum length that is read of the line before an id. */
const MAX_BEFORE = 4_096;

/**
 * Lines of a message with an id in a link or a trailer, in order; a line with several ids comes
 * several times.
 * @param text its bytes as Latin-1.
 * @param mayLook asked at each id, whose line is then read.
 */
export function* linesWithIds(text: string, mayLook: () => boolean = () => true): Generator<LineWithId> {
  for (const [runStart, runEnd] of longRuns(text)) {
    const found = [...text.slice(runStart, runEnd).matchAll(LIKE_IDS)].find(([run]) => isId(run));
    if (found === undefined) continue;
    if (!mayLook()) return;
    const [id] = found;
    const at = runStart + found.index;
    const from = Math.max(0, at - MAX_BEFORE);
    const before = text.slice(from, at);
    const lineStart = headOf(before);
    // The title is no trailer: it may begin with the name of a part (`chat-template: mend it`).
    const key = lineStart === 0 ? null : keyOf(before.slice(lineStart), id);
    const link = linkOf(before, id);
    if (key !== null || link !== null)
      yield { start: from + lineStart, at, key, link, server: link === null ? null : serverOf(link) };
  }
}

/**
 * Runs in which there is room for an id. Looks at every twentieth character, and goes back from
 * there: where one is found that is in no run, none that is long enough holds what stands before.
 */
function* longRuns(text: string): Generator<readonly [start: number, end: number]> {
  for (let last = LEAST_RUN - 1; last < text.length;) {
    const start = last - LEAST_RUN + 1;
    let at = last;
    while (at >= start && IN_RUN[text.charCodeAt(at)]) at--;
    if (at < start) {
      at = last + 1;
      while (at < text.length && IN_RUN[text.charCodeAt(at)]) at++;
      if (at - start <= MOST_RUN) yield [start, at];
    }
    last = at + LEAST_RUN;
  }
}

function isId(run: string): boolean {
  return run.includes('-') || (!DIGEST.test(run) && MIXED.test(run));
}

/** Maximum number of lines that continue a trailer. Thousands may be blank. */
const MAX_FOLDED = 20;

export const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t';

/**
 * Finds the start of the last line, or of the trailer that it continues
 * (git-interpret-trailers(1)).
 */
function headOf(before: string): number {
  const lineStart = before.lastIndexOf('\n') + 1;
  let start = lineStart;
  for (let folded = 0; folded < MAX_FOLDED && start > 0 && isBlank(before[start]); folded++)
    start = before.slice(0, start - 1).lastIndexOf('\n') + 1;
  return start > 0 && KEY.test(before.slice(start, start + MAX_KEY_LENGTH)) ? start : lineStart;
}

/**
 * The key of a trailer. `Follow-up: see https://…` is a sentence: tools write nothing but the value
 * before an id, which is a part of it, or stands after a link (`git-svn-id`). That of a session may
 * be a whole command (`claude --resume <id>`).
 * @param line up to the id.
 */
function keyOf(line: string, id: string): string | null {
  const [head, name = ''] = KEY.exec(line) ?? [];
  if (head === undefined) return null;
  const key = name.toLowerCase();
  const words = line.slice(head.length).trimStart().split(/\s+/, 3);
  const isValue = words.length === 1 || (words.length === 2 && words[0]!.includes('://'));
  return isValue || (SESSION_KEY.test(key) && NO_WORD.test(id)) ? `${key}:` : null;
}

function linkOf(before: string, id: string): string | null {
  const start = before.lastIndexOf('://');
  return start < 0 || ENDS_LINK.test(before.slice(start)) ? null : before.slice(start) + id;
}

/** The server of a link or an address, as `LineWithId` has it. */
export function serverOf(link: string): string {
  const [[, server = ''] = []] = link.matchAll(SERVERS);
  return `//${server.toLowerCase()}`;
}
