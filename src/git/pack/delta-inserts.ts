/**
 * What a delta adds to its base: the bytes of its insert instructions, read as they arrive (gitformat-pack, "Deltified
 * representation"). Inserts that follow each other are one text; a copy between them ends it.
 */

const INSERT_MAX = 0x7f;

export interface InsertListener {
  /** New bytes, `bytes[start..end)`, that follow those of the last call. */
  inserted(bytes: Uint8Array, start: number, end: number): void;
  /** Bytes of the base come next, which are not available. */
  copied(): void;
}

export class DeltaInserts {
  readonly #listener: InsertListener;
  /** The base's and the result's sizes come first. */
  #sizesLeft = 0;
  /** Bytes of a copy instruction that are still to come. */
  #argumentsLeft = 0;
  #insertLeft = 0;

  constructor(listener: InsertListener) {
    this.#listener = listener;
  }

  begin(): void {
    this.#sizesLeft = 2;
    this.#argumentsLeft = 0;
    this.#insertLeft = 0;
  }

  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#insertLeft > 0) {
        const end = Math.min(bytes.length, at + this.#insertLeft);
        this.#listener.inserted(bytes, at, end);
        this.#insertLeft -= end - at;
        at = end;
        continue;
      }
      const byte = bytes[at++]!;
      if (this.#sizesLeft > 0) this.#sizesLeft -= byte < 0x80 ? 1 : 0;
      else if (this.#argumentsLeft > 0) this.#argumentsLeft -= 1;
      else if (byte <= INSERT_MAX) this.#insertLeft = byte;
      else this.#beginCopy(byte);
    }
  }

  #beginCopy(instruction: number): void {
    this.#listener.copied();
    for (let bits = instruction & INSERT_MAX; bits > 0; bits >>= 1) this.#argumentsLeft += bits & 1;
  }
}
