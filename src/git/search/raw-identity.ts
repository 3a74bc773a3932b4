/** Who made a commit or tag, as the object itself says it: `author`, `committer` and `tagger` lines. */

import { latin1 } from '../bytes.ts';
import { lineEnd, startsWith } from '../objects/commit.ts';

export interface RawIdentity {
  /** In the object's encoding. */
  readonly name: Uint8Array;
  readonly email: Uint8Array;
  /** Null: UTF-8. */
  readonly encoding: string | null;
}

const BEGINNINGS = ['author ', 'committer ', 'tagger '];
/** What is longer is nobody's. */
const LINE = /^[a-z]+ ([^<]{0,1000}?) ?<([^>]{0,1000})>/;
const MAX_LINE_BYTES = 2_100;
const LF = 0x0a;
/** More than there can be patterns for. */
const MAX_IDENTITIES = 400;

/** Gathers identities from many objects, each once. */
export class IdentityCollector {
  /** False if there are more than it gathers. */
  isComplete = true;
  readonly #found = new Map<string, RawIdentity>();

  get identities(): readonly RawIdentity[] {
    return [...this.#found.values()];
  }

  /** @param content of a commit or tag. @param encoding as its header says. Cost: its header lines. */
  add(content: Uint8Array, encoding: string | null): void {
    let end = 0;
    // Only a line feed ends a line, as in Git.
    for (let start = 0; start < content.length && content[start] !== LF; start = end + 1) {
      end = lineEnd(content, start);
      if (!BEGINNINGS.some((beginning) => startsWith(content, start, beginning))) continue;
      const line = latin1(content, start, Math.min(end, start + MAX_LINE_BYTES));
      const [whole, name = '', email = ''] = LINE.exec(line) ?? [];
      if (whole === undefined) continue;
      const key = `${encoding} ${name} <${email}>`;
      if (this.#found.has(key)) continue;
      if (this.#found.size === MAX_IDENTITIES) {
        this.isComplete = false;
        return;
      }
      const found = { name: Buffer.from(name, 'latin1'), email: Buffer.from(email, 'latin1'), encoding };
      this.#found.set(key, found);
    }
  }
}
