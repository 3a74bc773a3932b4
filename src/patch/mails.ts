/**
 * Reads the mails that `git format-patch` writes, by the rules of `git am` (git-mailinfo): what
 * becomes the message, and where the diff begins. Dates, addresses and ids of the mail are dropped;
 * its senders are kept only to be searched for. Unlike `git am`, line ends stay as they are.
 * Proved by test/e2e/push/patch-oracle.test.ts and test/e2e/push/patch.test.ts.
 */
import { fromLatin1, latin1 } from '../git/bytes.ts';
import type { CommitIdentity } from '../git/objects/commit.ts';
import { WITHOUT_LINE_ENDS } from '../git/wire/bundle.ts';
import { LINE_FEED, Lines } from './lines.ts';
import { malformed, tooMuch } from './patch-error.ts';

export interface PatchMail {
  /** Its senders, the author among them. A name and its address are one person each. */
  readonly people: readonly CommitIdentity[];
  readonly message: string;
  /** Where its diff begins and ends in the patch. */
  readonly start: number;
  readonly end: number;
}

const MAX_MAILS = 1_000;
const MAX_HEADER_LINES = 500;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_MESSAGE_LENGTH = 1024 * 1024;
/** Each becomes a line of a commit, of which 100 are searched for. */
const MAX_PEOPLE = 50;
const MAX_SENDER_LENGTH = 4_000;
const MAKE = 'Make it with: git format-patch --stdout origin/main';

/** Whether a patch is a diff alone, without a message. @throws PatchError if it is neither. */
export function isPlainDiff(patch: Uint8Array): boolean {
  const beginning = beginningOf(patch).trimStart();
  if (beginning.startsWith('# v2 git bundle') || beginning.startsWith('# v3 git bundle'))
    throw malformed('This is a bundle. Send it to /bundle instead of /patch.');
  if (/^[^\n]*\r\n/.test(beginning))
    throw malformed(`A program has changed the line ends of this patch. ${MAKE}`);
  const isDiff = beginning.startsWith('diff --git ');
  if ((isDiff || beginning.startsWith('From ')) && !patch.includes(LINE_FEED))
    throw malformed(WITHOUT_LINE_ENDS);
  if (isDiff) return true;
  if (/^(?:From |[A-Za-z-]{1,60}:)/.test(beginning)) return false;
  throw malformed(`This is neither a patch nor a diff of Git. ${MAKE}`);
}

/**
 * @param patch begins with a mail, perhaps behind blanks.
 * @throws PatchError
 */
export function readMails(patch: Uint8Array): PatchMail[] {
  const blanks = /^\s*/.exec(beginningOf(patch))?.[0] ?? '';
  const starts = mailStarts(new Lines(patch, blanks.length));
  if (starts.length > MAX_MAILS) throw tooMuch(`It has more than ${MAX_MAILS} commits.`);
  return starts.map((start, index) =>
    readMail(new Lines(patch, start, starts[index + 1] ?? patch.byteLength)),
  );
}

const beginningOf = (patch: Uint8Array): string => latin1(patch.subarray(0, 1_024));

/** Where each mail begins. The first one needs no `From ` line. */
function mailStarts(lines: Lines): number[] {
  const starts = [lines.at];
  for (lines.skip(); !lines.isAtEnd; lines.skip()) {
    if (lines.startsWith('From ') && isFromLine(lines.line)) starts.push(lines.at);
  }
  return starts;
}

/** Tells the line between two mails by its time, as Git does (mailsplit.c, `is_from_line`). */
function isFromLine(line: string): boolean {
  const colon = line.lastIndexOf(':');
  const [, year = '0'] = /^\d.\d\d:\d\d\s*(\d{1,9})/.exec(line.slice(Math.max(0, colon - 4))) ?? [];
  return Number(year) > 90;
}

function readMail(lines: Lines): PatchMail {
  if (lines.startsWith('From ')) lines.skip();
  const header = readHeader(lines);
  refuseEncoding(header.fields);
  const inBody = new Map<string, string>();
  const body = readBody(lines, inBody);
  const subject = decodedWords(inBody.get('subject') ?? header.fields.get('subject') ?? '');
  const message = stripped(`${withoutMarks(subject)}\n\n${textOf(body)}`);
  if (message === '')
    throw malformed('A mail in it has no subject, which would be the message of the commit.');
  const people = [inBody.get('from') ?? '', ...header.senders].flatMap((field) => peopleOf(field));
  if (people.length > MAX_PEOPLE) throw malformed('A mail in it has too many senders.');
  return { people, message, start: lines.at, end: lines.end };
}

interface Header {
  /** The values by names in lower case; the last one where a name is repeated. */
  readonly fields: Map<string, string>;
  readonly senders: readonly string[];
}

const SENDERS: ReadonlySet<string> = new Set(['from', 'sender', 'reply-to', 'return-path']);

/** The lines in which fields may stand, of which none becomes a long text. */
function fieldLines({ bytes, at, end }: Lines): Lines {
  return new Lines(bytes, at, Math.min(end, at + MAX_HEADER_BYTES));
}

/** Goes on behind fields. @throws PatchError if these had no end */
function skipFields(lines: Lines, fields: Lines): void {
  if (fields.isAtEnd && fields.end < lines.end)
    throw tooMuch('A mail in it has a header of more than 64 KB.');
  lines.at = fields.at;
}

function readHeader(lines: Lines): Header {
  const fields = new Map<string, string>();
  const senders: string[] = [];
  const head = fieldLines(lines);
  for (let left = MAX_HEADER_LINES; !head.isAtEnd && head.line !== '';) {
    const [, name, value = ''] = /^([!-9;-~]+):(.*)$/s.exec(head.line) ?? [];
    if (name === undefined || --left < 0)
      throw malformed(`Line ${head.numberAt()} is no line of a mail's header. ${MAKE}`);
    const field = readFolded(head, value);
    fields.set(name.toLowerCase(), field);
    if (SENDERS.has(name.toLowerCase())) senders.push(field);
  }
  skipFields(lines, head);
  lines.skip();
  return { fields, senders };
}

/** Reads the rest of a field, which may go on in lines that begin with a blank. */
function readFolded(lines: Lines, beginning: string): string {
  let value = trimmed(beginning);
  for (lines.skip(); !lines.isAtEnd && /^[ \t]/.test(lines.line); lines.skip())
    value += ` ${trimmed(lines.line)}`;
  return value;
}

function refuseEncoding(header: ReadonlyMap<string, string>): void {
  const type = header.get('content-type') ?? 'text/plain';
  const transfer = header.get('content-transfer-encoding') ?? '8bit';
  const [, charset = 'utf-8'] = /charset="?([^";\s]+)/i.exec(type) ?? [];
  if (!/^text\/plain\b/i.test(type)) throw malformed(`A mail in it has attachments. ${MAKE}`);
  if (!/^(?:7bit|8bit|binary)$/i.test(transfer.trim()))
    throw malformed(`A mail in it is encoded as ${transfer.trim().slice(0, 40)}. ${MAKE}`);
  if (!/^(?:utf-8|us-ascii)$/i.test(charset))
    throw malformed(
      'A mail in it is not in UTF-8. Make it with: git format-patch --stdout --encoding=UTF-8 origin/main',
    );
}

const IN_BODY = /^(from|subject|date):(.*)$/is;

/**
 * Reads the rest of the message up to the diff. Its first lines may repeat fields of the header,
 * until a blank line ends them.
 * @param fields takes these.
 */
function readBody(lines: Lines, fields: Map<string, string>): string {
  while (lines.startsWith('\n')) lines.skip();
  const head = fieldLines(lines);
  while (!head.isAtEnd) {
    const [, name = '', value = ''] = IN_BODY.exec(head.line) ?? [];
    if (name === '' || fields.has(name.toLowerCase())) break;
    fields.set(name.toLowerCase(), readFolded(head, value));
  }
  skipFields(lines, head);
  const start = lines.at;
  while (!lines.isAtEnd && !beginsPatch(lines)) {
    lines.skip();
    if (lines.at - start > MAX_MESSAGE_LENGTH) throw tooMuch('It has a message of more than 1 MB.');
  }
  return latin1(lines.bytes, start, lines.at);
}

/** Tells where Git takes the message to end (mailinfo.c, `patchbreak`). */
function beginsPatch(lines: Lines): boolean {
  if (lines.startsWith('diff -') || lines.startsWith('Index: ')) return true;
  return lines.startsWith('---') && /^---(?: [^ \t\r]|[ \t\r]*$)/.test(lines.line);
}

/** Decodes words such as `=?UTF-8?q?...?=` (RFC 2047). @throws PatchError */
function decodedWords(value: string): string {
  const joined = value.replaceAll(/\?=[ \t]+=\?/g, '?==?');
  const text = joined.replaceAll(
    /=\?([\w-]{1,40})\?([bq])\?([^? ]*)\?=/gi,
    (_, charset: string, kind: string, content: string) => {
      if (!/^(?:utf-8|us-ascii)$/i.test(charset)) throw malformed('A field of a mail in it is not in UTF-8.');
      if (kind.toLowerCase() === 'b') return Buffer.from(content, 'base64').toString('latin1');
      const plain = content.replaceAll('_', ' ');
      return plain.replaceAll(/=([0-9a-f]{2})/gi, (__, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      );
    },
  );
  return trimmed(textOf(text).replaceAll(/[ \t\n\r]+/g, ' '));
}

/** Decodes bytes that are UTF-8. @throws PatchError */
function textOf(bytes: string): string {
  const text = fromLatin1(bytes);
  if (text.includes('\uFFFD') || text.includes('\0')) throw malformed('A message in it is not UTF-8.');
  return text;
}

/** Removes `[PATCH 1/2]` and the like, as Git does (mailinfo.c, `cleanup_subject`). */
function withoutMarks(subject: string): string {
  const [marks = ''] = /^(?:re:|[ \t:]|\[[^\]]*\])*/i.exec(subject) ?? [];
  return subject.slice(marks.length);
}

/** Removes blanks at the ends of lines, and blank lines but one (git-stripspace). */
function stripped(text: string): string {
  const lines = text.split('\n').map((line) => trimmedEnd(line));
  const kept = lines.filter((line, index) => line !== '' || (index > 0 && lines[index - 1] !== ''));
  const whole = kept.join('\n').replace(/^\n/, '').replace(/\n$/, '');
  return whole === '' ? '' : `${whole}\n`;
}

/** Removes blanks at both ends: those of Git, because others are bytes of letters in UTF-8. */
function trimmed(text: string): string {
  return trimmedEnd(text.replace(/^[ \t\n\r]+/, ''));
}

function trimmedEnd(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\n\r'.includes(text[end - 1] as string)) end--;
  return text.slice(0, end);
}

/** Reads `Name <address>`, `address (Name)` or a list of these. @throws PatchError */
function peopleOf(field: string): CommitIdentity[] {
  if (field.length > MAX_SENDER_LENGTH) throw malformed('A mail in it has too many senders.');
  const people: CommitIdentity[] = [];
  for (const part of decodedWords(field).split(/[<>()]/)) {
    const words = part.split(/[\s"\p{Cc}]+/u);
    const name = withoutCommas(words.filter((word) => !word.includes('@')).join(' '));
    if (name !== '') people.push({ name, email: '' });
    for (const word of words) if (word.includes('@')) people.push({ name: '', email: withoutCommas(word) });
  }
  return people;
}

const withoutCommas = (text: string): string => text.replace(/^[ ,;:]+/, '').replace(/[ ,;:]$/, '');
