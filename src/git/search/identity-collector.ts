/**
 * Collects the people in the headers of commits and tags.
 * Proved by test/git/search/identity-texts.test.ts.
 */
import { latin1 } from '../bytes.ts';
import { lineEnd, startsWith } from '../objects/commit.ts';

/** The person of an `author`, `committer` or `tagger` line. */
export interface RawIdentity {
  /** The name in the object's encoding. */
  readonly name: Uint8Array;
  readonly email: Uint8Array;
  /** The encoding, or null for UTF-8. */
  readonly encoding: string | null;
}

const BEGINNINGS = ['author ', 'committer ', 'tagger '];
/** Matches an identity. A longer one is nobody's. */
const IDENTITY = /^[a-z]+ ([^<]{0,1000}?) ?<([^>]{0,1000})>/;
const MAX_LINE_BYTES = 2_100;
const LF = 0x0a;
const MAX_IDENTITIES = 400;
/** Maximum number of lines of one object, which usually has one or two. */
const MAX_LINES = 100;

/** Collects the identities of many objects, each once. */
export class IdentityCollector {
  /** False if there are more than it collects. */
  isComplete = true;
  readonly #found = new Map<string, RawIdentity>();
  /** The last identity of each kind of line, because the next commit often has the same. */
  readonly #last = BEGINNINGS.map(() => ({ identity: new Uint8Array(0), encoding: '' as string | null }));

  get identities(): readonly RawIdentity[] {
    return [...this.#found.values()];
  }

  /**
   * Adds the identities of a commit or tag. It reads only header lines.
   * @param encoding is the one that its header names.
   */
  add(content: Uint8Array, encoding: string | null): void {
    let end = 0;
    let linesLeft = MAX_LINES;
    // Only a line feed ends a line, as in Git.
    for (let start = 0; start < content.length && content[start] !== LF; start = end + 1) {
      end = lineEnd(content, start);
      const kind = BEGINNINGS.findIndex((beginning) => startsWith(content, start, beginning));
      if (kind < 0) continue;
      const last = this.#last[kind]!;
      if (last.encoding === encoding && hasAt(content, start, last.identity) && --linesLeft >= 0) continue;
      const line = latin1(content, start, Math.min(end, start + MAX_LINE_BYTES));
      const [whole, name = '', email = ''] = IDENTITY.exec(line) ?? [];
      const key = `${encoding} ${name} <${email}>`;
      const isNews = whole !== undefined && !this.#found.has(key);
      if (--linesLeft < 0 || (isNews && this.#found.size === MAX_IDENTITIES)) {
        this.isComplete = false;
        return;
      }
      if (whole !== undefined) this.#last[kind] = { identity: Buffer.from(whole, 'latin1'), encoding };
      if (!isNews) continue;
      const found = { name: Buffer.from(name, 'latin1'), email: Buffer.from(email, 'latin1'), encoding };
      this.#found.set(key, found);
    }
  }
}

function hasAt(content: Uint8Array, start: number, bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) if (content[start + at] !== bytes[at]) return false;
  return bytes.length > 0;
}
