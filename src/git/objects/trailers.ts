/**
 * Trailers of a commit's message (git-interpret-trailers(1)), and sign-offs among them. Texts are
 * its bytes as Latin-1: trailers are ASCII.
 */
import { latin1, utf8 } from '../bytes.ts';
import type { KeptObjects } from '../pack/kept-objects.ts';
import { type ProtocolError, tooLarge } from '../wire/protocol-error.ts';
import { IdentityCollector } from '../search/identity-texts.ts';
import type { Identity } from './commit.ts';
import { UNTITLED } from './commit-message.ts';
import type { NewCommits } from './new-commits.ts';
import type { Oid } from './oid.ts';
import { OidTable } from './oid-table.ts';

/** What Git itself writes: with one of these, only a quarter of the lines must be trailers. */
const OF_GIT = /^(?:Signed-off-by: |\(cherry picked from commit )/;
const TRAILER = /^[A-Za-z0-9-]+[ \t]*:/;
const CONTINUATION = /^[ \t\v\f\r]/;
const BLANK = /^[ \t\v\f\r]*$/;
const MIN_SHARE = 3;
/**
 * Of a block. What has more is prose: each costs some patterns, and a message can have millions.
 */
const MAX_LINES = 250;

/**
 * The message with one more trailer as its last line: in the block of the others, else behind a
 * blank line.
 */
export function withTrailer(message: string, trailer: string): string {
  const end = contentEnd(message);
  const lineEnd = message.indexOf('\n', end);
  const words = lineEnd < 0 ? `${message.slice(0, end)}\n` : message.slice(0, lineEnd + 1);
  return `${words}${endsWithTrailers(words) ? '' : '\n'}${trailer}\n`;
}

/**
 * Behind the last byte that is no white space; 0: there is none. Not `trimEnd`, which would also
 * take 0xA0.
 */
export function contentEnd(text: string): number {
  let end = text.length;
  while (end > 0 && isWhiteSpace(text.charCodeAt(end - 1))) end--;
  return end;
}

/**
 * Compares numbers, because a message can have megabytes of blanks: ASCII's, from the tab to the
 * carriage return.
 */
function isWhiteSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/**
 * Whether the last paragraph is a block of trailers. The first one is the title.
 * @param words end with a line feed.
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

/**
 * `-o sign-off` affirms the Developer Certificate of Origin 1.1
 * (https://developercertificate.org/): each new commit ends with its new author's sign-off. The
 * person's own, which would name them, go; those of others stay.
 */

/** Where the pack's commits are. */
type Kept = Pick<KeptObjects, 'withOid'>;

/** Also indented, as `git merge --squash` lists them. */
const SIGN_OFFS = /^[ \t]*Signed-off-by[ \t]*:([^\n]*)(?:\n|$)/gim;

/**
 * Makes the message that a commit leaves with. The same message gives the same bytes, and so does
 * the one that was made.
 */
export type Reword = (oid: Oid, message: Uint8Array) => Uint8Array;

/**
 * In all messages of a push: each costs some patterns, and millions of them compress to kilobytes.
 */
export const MAX_SIGN_OFFS = 250_000;

/**
 * Signs messages, each as often as it is asked for.
 * @param signer the author of what leaves.
 * @throws ProtocolError `too-large` over MAX_SIGN_OFFS.
 */
export function signerOf(kept: Kept, signer: Identity): Reword {
  const counter = countedOnce(MAX_SIGN_OFFS, tooManySignOffs);
  return (oid, message) => {
    const signers = ownWords(kept, oid);
    for (const own of [signer.name, signer.email]) signers.add(folded(latin1(utf8(own))));
    const count = counter(oid);
    const words = withoutSignOffs(latin1(message), (value) => {
      count();
      return isBy(value, signers);
    });
    const titled = contentEnd(words) === 0 ? UNTITLED : words;
    return Buffer.from(withTrailer(titled, latin1(utf8(signOffLine(signer)))), 'latin1');
  };
}

/**
 * Counts steps at the messages of a push. Messages are made each time they are asked for, and only
 * the first time counts.
 * @param tooMany thrown over `most` steps.
 */
export function countedOnce(most: number, tooMany: () => Error): (oid: Oid) => () => void {
  const counted = new OidTable();
  let left = most;
  return (oid) => {
    const known = counted.size;
    const isNew = counted.add(oid) === known;
    return () => {
      if (isNew && --left < 0) throw tooMany();
    };
  };
}

/** Leaves out lines one by one: `replaceAll` would first remember all of them. */
function withoutSignOffs(text: string, isLeftOut: (value: string) => boolean): string {
  let words = '';
  let from = 0;
  for (const { 0: line, 1: value = '', index } of text.matchAll(SIGN_OFFS)) {
    if (!isLeftOut(value)) continue;
    words += text.slice(from, index);
    from = index + line.length;
  }
  return words + text.slice(from);
}

function tooManySignOffs(): ProtocolError {
  return tooLarge(
    `The messages have more than ${MAX_SIGN_OFFS} sign-offs. Push fewer commits at once, or without -o sign-off.`,
  );
}

export function signOffLine({ name, email }: Identity): string {
  return `Signed-off-by: ${name} <${email}>`;
}

/**
 * Whether any of the commits has a sign-off of its own author or committer, which `-o sign-off`
 * would replace, as far as that is looked for.
 */
export function haveOwnSignOff(kept: Kept, commits: NewCommits): boolean {
  let left = MAX_SIGN_OFFS;
  for (const { oid, commit } of commits) {
    let words: ReadonlySet<string> | null = null;
    for (const [, value = ''] of latin1(commit.message).matchAll(SIGN_OFFS)) {
      if (--left < 0) return false;
      words ??= ownWords(kept, oid);
      if (isBy(value, words)) return true;
    }
  }
  return false;
}

/** Names and addresses of a commit's author and committer, as their bytes stand there. */
function ownWords(kept: Kept, oid: Oid): Set<string> {
  const collector = new IdentityCollector();
  collector.add(kept.withOid(oid)?.content ?? new Uint8Array(), null);
  const words = collector.identities.flatMap(({ name, email }) => [latin1(name), latin1(email)]);
  return new Set(words.map(folded).filter((word) => word !== ''));
}

/**
 * Whether the name or the address of a sign-off is one of these. Anything besides makes it somebody
 * else's.
 */
function isBy(value: string, words: ReadonlySet<string>): boolean {
  const signer = folded(value);
  const open = signer.endsWith('>') ? signer.lastIndexOf('<') : -1;
  const parts = open < 0 ? [signer] : [signer.slice(0, open), signer.slice(open + 1, -1)];
  return parts.some((part) => words.has(folded(part)));
}

function folded(text: string): string {
  return text.trim().toLowerCase();
}
