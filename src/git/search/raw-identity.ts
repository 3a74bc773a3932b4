/** Who made a commit or tag, as the object itself says it: `author`, `committer` and `tagger` lines. */

export interface RawIdentity {
  /** In the object's encoding. */
  readonly name: Uint8Array;
  readonly email: Uint8Array;
  /** Null: UTF-8. */
  readonly encoding: string | null;
}

/** What is longer is nobody's. */
const LINES = /^(?:author|committer|tagger) ([^<\n]{0,1000}?) ?<([^>\n]{0,1000})>/gm;
const END_OF_HEADER = '\n\n';
/** More than there can be patterns for. */
const MAX_IDENTITIES = 400;

/** Gathers identities from many objects, each once. */
export class IdentityCollector {
  readonly #found = new Map<string, RawIdentity>();
  #isComplete = true;

  /** False if there are more than it gathers. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get identities(): readonly RawIdentity[] {
    return [...this.#found.values()];
  }

  /** @param content of a commit or tag. @param encoding as its header says. Cost: its header lines. */
  add(content: Uint8Array, encoding: string | null): void {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    const end = bytes.indexOf(END_OF_HEADER);
    const header = bytes.toString('latin1', 0, end < 0 ? bytes.length : end);
    for (const [, name = '', email = ''] of header.matchAll(LINES)) {
      const key = `${encoding} ${name} <${email}>`;
      if (this.#found.has(key)) continue;
      if (this.#found.size === MAX_IDENTITIES) {
        this.#isComplete = false;
        return;
      }
      const [nameBytes, emailBytes] = [Buffer.from(name, 'latin1'), Buffer.from(email, 'latin1')];
      this.#found.set(key, { name: nameBytes, email: emailBytes, encoding });
    }
  }
}
