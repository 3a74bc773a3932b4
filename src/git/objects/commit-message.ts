/**
 * The title and body of a pull request, from a commit's message, cut to the host's limits
 * (contract, 4.6).
 */
import { ownText } from '../bytes.ts';
import type { Commit } from './commit.ts';

/** GitHub refuses longer titles. */
const MAX_TITLE_LENGTH = 256;
export const MAX_BODY_LENGTH = 65_536;
/**
 * Bytes of a message that are decoded: messages can have megabytes, and no encoding takes more than
 * four bytes for a character of the title and body.
 */
const MAX_READ_BYTES = 4 * (MAX_TITLE_LENGTH + MAX_BODY_LENGTH + 2);
export const UNTITLED = 'Anonymous contribution';

export interface PullRequestText {
  readonly title: string;
  readonly body: string;
}

/**
 * Encoding names of glibc (`iconv -l`) and their labels in the Encoding Standard
 * (encoding.spec.whatwg.org).
 */
const LABELS: Readonly<Record<string, string>> = {
  cp932: 'shift_jis',
  eucjp: 'euc-jp',
  cp936: 'gbk',
  euccn: 'gbk',
  cp949: 'euc-kr',
  uhc: 'euc-kr',
  euckr: 'euc-kr',
  koi8r: 'koi8-r',
  koi8u: 'koi8-u',
  cp950: 'big5',
  big5hkscs: 'big5',
  latin9: 'iso-8859-15',
  cp65001: 'utf-8',
};

/**
 * The decoders of names that were looked up lately, because it takes ten microseconds to make one,
 * or to find out that a name is unknown. None of them is used for a part of a text.
 */
const remembered = new Map<string, TextDecoder>();
const MOST_REMEMBERED = 1_000;

/**
 * Finds the decoder for an encoding's name as people write it. An unknown encoding is decoded as
 * UTF-8, which shows most of a text.
 */
export function decoderOf(encoding: string): TextDecoder {
  const known = remembered.get(encoding);
  if (known !== undefined) return known;
  const decoder = newDecoder(encoding);
  if (remembered.size === MOST_REMEMBERED) remembered.clear();
  remembered.set(encoding, decoder);
  return decoder;
}

function newDecoder(encoding: string): TextDecoder {
  const plain = encoding.toLowerCase();
  const joined = plain.replaceAll(/[-_]/g, '');
  // The last one finds `latin-1`, `iso8859-1` and `cp-1252`.
  for (const label of [plain, LABELS[joined], joined]) {
    try {
      if (label !== undefined) return new TextDecoder(label);
    } catch {
      // Not a label.
    }
  }
  return new TextDecoder();
}

/** Decodes a message with the encoding that its commit names. */
export function decodedMessage({ encoding, message }: Pick<Commit, 'message' | 'encoding'>): string {
  return decoderOf(encoding ?? 'utf-8').decode(message);
}

/**
 * Shortens a text to at most `maxLength` UTF-16 units and ends it with `…`, without splitting a
 * surrogate pair.
 */
export function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(maxLength - 2)) ? maxLength - 2 : maxLength - 1;
  return `${text.slice(0, end)}…`;
}

/** Recognizes ASCII white space and NUL. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}

export function pullRequestText({
  encoding,
  message,
}: Pick<Commit, 'message' | 'encoding'>): PullRequestText {
  let start = 0;
  while (isBlank(message[start])) start++;
  const shown = message.subarray(start, start + MAX_READ_BYTES);
  // The host's JSON fields do not accept NUL, and it has no meaning in a message.
  const text = decodedMessage({ encoding, message: shown }).replaceAll('\0', '').trimStart();
  const lineEnd = text.search(/\n|$/);
  const [title, body] = [text.slice(0, lineEnd).trim(), text.slice(lineEnd).trim()];
  if (title === '') return { title: UNTITLED, body: '' };
  // The part that does not fit into the title begins the body.
  const full = title.length > MAX_TITLE_LENGTH ? `${title}\n\n${body}`.trimEnd() : body;
  // Thousands of titles may be kept, and must not keep their messages.
  return { title: ownText(cut(title, MAX_TITLE_LENGTH)), body: cut(full, MAX_BODY_LENGTH) };
}
