/**
 * `-o sign-off`: the person affirms the Developer Certificate of Origin 1.1 (https://developercertificate.org/), and
 * each new commit ends with the sign-off of the author that it gets. The person's own sign-offs go, because they would
 * name them; those of others stay.
 */
import { latin1, utf8 } from '../../git/bytes.ts';
import type { Identity } from '../../git/objects/commit.ts';
import { UNTITLED } from '../../git/objects/commit-message.ts';
import type { NewCommit, NewCommits } from '../../git/objects/new-commits.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { contentEnd, withTrailer } from '../../git/objects/trailers.ts';
import type { KeptObjects } from '../../git/pack/kept-objects.ts';
import { IdentityCollector } from '../../git/search/identity-texts.ts';

/** Also indented, as `git merge --squash` lists them. */
const SIGN_OFFS = /^[ \t]*Signed-off-by[ \t]*:([^\n]*)(?:\n|$)/gim;

export class SignOff {
  readonly #kept: Pick<KeptObjects, 'withOid'>;
  readonly #signer: Identity;

  /** @param kept where the headers of the push's commits are. @param signer the author of what leaves. */
  constructor(kept: Pick<KeptObjects, 'withOid'>, signer: Identity) {
    this.#kept = kept;
    this.#signer = signer;
  }

  get line(): string {
    return signOffLine(this.#signer);
  }

  /** For the person. */
  get lines(): string[] {
    const { name, email } = this.#signer;
    return [`This push signs off every commit as ${name} <${email}> (Developer Certificate of Origin 1.1).`];
  }

  /** The commits with signed messages, made when they are asked for, and not kept: a push has thousands. */
  signed(commits: NewCommits): NewCommits {
    const sign = (oid: Oid, message: Uint8Array) => this.signedMessage(oid, message);
    const signed = (found: NewCommit): NewCommit => ({
      oid: found.oid,
      get commit() {
        const { commit } = found;
        return { ...commit, message: sign(found.oid, commit.message) };
      },
    });
    return {
      length: commits.length,
      at(index) {
        const found = commits.at(index);
        return found && signed(found);
      },
      *[Symbol.iterator]() {
        for (const commit of commits) yield signed(commit);
      },
    };
  }

  /** The message of a commit, or another one for it. The same message gives the same bytes, and so does a signed one. */
  signedMessage(oid: Oid, message: Uint8Array): Uint8Array {
    const { name, email } = this.#signer;
    const signers = ownWords(this.#kept, oid);
    for (const own of [name, email]) signers.add(folded(latin1(utf8(own))));
    const words = latin1(message).replaceAll(SIGN_OFFS, (line, value: string) =>
      isBy(value, signers) ? '' : line,
    );
    const titled = contentEnd(words) === 0 ? UNTITLED : words;
    return Buffer.from(withTrailer(titled, latin1(utf8(this.line))), 'latin1');
  }
}

export function signOffLine({ name, email }: Identity): string {
  return `Signed-off-by: ${name} <${email}>`;
}

/** Whether any of the commits has a sign-off of its own author or committer, which `-o sign-off` would replace. */
export function haveOwnSignOff(kept: Pick<KeptObjects, 'withOid'>, commits: NewCommits): boolean {
  for (const { oid, commit } of commits) {
    const values = Array.from(latin1(commit.message).matchAll(SIGN_OFFS), ([, value = '']) => value);
    if (values.length === 0) continue;
    const words = ownWords(kept, oid);
    if (values.some((value) => isBy(value, words))) return true;
  }
  return false;
}

/** Names and addresses of a commit's author and committer, as their bytes stand there. */
function ownWords(kept: Pick<KeptObjects, 'withOid'>, oid: Oid): Set<string> {
  const collector = new IdentityCollector();
  const content = kept.withOid(oid)?.content;
  if (content !== undefined) collector.add(content, null);
  const words = collector.identities.flatMap(({ name, email }) => [latin1(name), latin1(email)]);
  return new Set(words.map(folded).filter((word) => word !== ''));
}

/** Whether the name or the address of a sign-off is one of these. Anything besides makes it somebody else's. */
function isBy(value: string, words: ReadonlySet<string>): boolean {
  const signer = folded(value);
  const open = signer.endsWith('>') ? signer.lastIndexOf('<') : -1;
  const parts = open < 0 ? [signer] : [signer.slice(0, open), signer.slice(open + 1, -1)];
  return parts.some((part) => words.has(folded(part)));
}

function folded(text: string): string {
  return text.trim().toLowerCase();
}
