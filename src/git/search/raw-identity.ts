/** Who made a commit or tag, as the object itself says it: `author`, `committer` and `tagger` lines. */

export interface RawIdentity {
  /** In the object's encoding. */
  readonly name: Uint8Array;
  readonly email: Uint8Array;
  /** Null: UTF-8. */
  readonly encoding: string | null;
}

const LINES = ['author ', 'committer ', 'tagger '] as const;
const LF = 0x0a;
const MAX_LINE_BYTES = 1_024;
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
    for (let start = 0; start < content.length && content[start] !== LF;) {
      const lineEnd = content.indexOf(LF, start);
      const end = lineEnd < 0 ? content.length : lineEnd;
      const line = Buffer.from(
        content.buffer,
        content.byteOffset + start,
        Math.min(end - start, MAX_LINE_BYTES),
      ).toString('latin1');
      const word = LINES.find((begin) => line.startsWith(begin));
      if (word !== undefined) this.#addLine(line.slice(word.length), encoding);
      start = end + 1;
    }
  }

  #addLine(line: string, encoding: string | null): void {
    const [, name, email] = /^(.*?) ?<(.*?)>/.exec(line) ?? [];
    if (name === undefined || email === undefined) return;
    const key = `${encoding} ${name} <${email}>`;
    if (this.#found.has(key)) return;
    if (this.#found.size === MAX_IDENTITIES) {
      this.#isComplete = false;
      return;
    }
    this.#found.set(key, {
      name: Buffer.from(name, 'latin1'),
      email: Buffer.from(email, 'latin1'),
      encoding,
    });
  }
}
