/**
 * Sign-offs of new commits. `-o sign-off` affirms the Developer Certificate of Origin 1.1
 * (https://developercertificate.org/): each new commit ends with its new author's sign-off. Earlier
 * ones by the new author are removed, and those by the author or committer that the commit names,
 * as they would name the person; all others stay.
 */
import { latin1, latin1Bytes, utf8 } from '../bytes.ts';
import { IdentityCollector } from '../search/identity-collector.ts';
import { type ProtocolError, tooLarge } from '../wire/protocol-error.ts';
import type { CommitIdentity } from './commit.ts';
import { UNTITLED } from './commit-message.ts';
import type { NewCommit, NewCommits } from './found-commits.ts';
import { countdown, type Reword } from './reword.ts';
import { contentEnd, withTrailer } from './trailers.ts';

/** Matches sign-offs, also indented ones as `git merge --squash` lists them. */
const SIGN_OFFS = /^[ \t]*Signed-off-by[ \t]*:([^\n]*)(?:\n|$)/gim;

/**
 * Maximum number of sign-offs in all messages of a push. Each costs a few patterns, and millions of
 * them compress to kilobytes.
 */
export const MAX_SIGN_OFFS = 250_000;

/**
 * Creates a function that signs messages.
 * @param signer is the author of the commits that are published.
 * @throws ProtocolError `too-large` over MAX_SIGN_OFFS, when signing.
 */
export function signerOf(signer: CommitIdentity): Reword {
  const count = countdown(MAX_SIGN_OFFS, tooManySignOffs);
  const line = latin1(utf8(signOffLine(signer)));
  const bots = [signer.name, signer.email].map((own) => folded(latin1(utf8(own))));
  return (commit, message) => {
    /** Names and addresses whose sign-offs are replaced. Most messages have none. */
    let signers: ReadonlySet<string> | null = null;
    const words = withoutSignOffs(latin1(message), (value) => {
      count();
      return isBy(value, (signers ??= new Set([...ownWords(commit), ...bots])));
    });
    const titled = contentEnd(words) === 0 ? UNTITLED : words;
    return latin1Bytes(withTrailer(titled, line));
  };
}

/** Removes sign-offs one by one: `replaceAll` would first collect all matches. */
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

export function signOffLine({ name, email }: CommitIdentity): string {
  return `Signed-off-by: ${name} <${email}>`;
}

/**
 * Tells if any of the first MAX_SIGN_OFFS sign-offs is by its commit's own author or committer, so
 * that `-o sign-off` would replace it.
 */
export function haveOwnSignOff(commits: NewCommits): boolean {
  let left = MAX_SIGN_OFFS;
  for (const found of commits) {
    let words: ReadonlySet<string> | null = null;
    for (const [, value = ''] of latin1(found.commit.message).matchAll(SIGN_OFFS)) {
      if (--left < 0) return false;
      words ??= ownWords(found);
      if (isBy(value, words)) return true;
    }
  }
  return false;
}

/** Collects the names and addresses of a commit's author and committer, in lower case. */
function ownWords({ content }: Pick<NewCommit, 'content'>): Set<string> {
  const collector = new IdentityCollector();
  collector.add(content, null);
  const words = collector.identities.flatMap(({ name, email }) => [latin1(name), latin1(email)]);
  return new Set(words.map(folded).filter((word) => word !== ''));
}

/**
 * Tells if the name or the address of a sign-off is one of these. With any other text in it, it is
 * somebody else's.
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
