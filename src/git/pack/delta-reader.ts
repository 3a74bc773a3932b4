/** Reads a delta as it arrives (gitformat-pack, "Deltified representation"), without its base. For judged packs only. */

export interface InstructionListener {
  /** The next piece of an insert; valid during the call only. */
  inserted(bytes: Uint8Array): void;
  /** @param offset in the base. */
  copied(offset: number, length: number): void;
}

const INSERT_MAX = 0x7f;
/** A copy instruction has up to four bytes of its offset, then up to three of its length. */
const OFFSET_BYTES = 4;
const COPIED_IF_ZERO = 0x10000;

export class DeltaReader {
  readonly #listener: InstructionListener;
  /** Of the two at the head of the delta. */
  #sizesLeft = 2;
  #insertLeft = 0;
  /** Of the copy that is being read: which of its bytes are still to come. */
  #copyBits = 0;
  #offset = 0;
  #length = 0;

  constructor(listener: InstructionListener) {
    this.#listener = listener;
  }

  begin(): void {
    [this.#sizesLeft, this.#insertLeft, this.#copyBits] = [2, 0, 0];
  }

  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#insertLeft > 0) {
        const end = Math.min(bytes.length, at + this.#insertLeft);
        this.#listener.inserted(bytes.subarray(at, end));
        this.#insertLeft -= end - at;
        at = end;
        continue;
      }
      const byte = bytes[at++]!;
      if (this.#sizesLeft > 0) this.#sizesLeft -= byte < 0x80 ? 1 : 0;
      else if (this.#copyBits > 0) this.#readCopy(byte);
      else if (byte <= INSERT_MAX) this.#insertLeft = byte;
      else this.#beginCopy(byte & INSERT_MAX);
    }
  }

  #beginCopy(bits: number): void {
    [this.#copyBits, this.#offset, this.#length] = [bits, 0, 0];
    if (bits === 0) this.#listener.copied(0, COPIED_IF_ZERO);
  }

  /** The lowest bit says what the byte is. */
  #readCopy(byte: number): void {
    const bits = this.#copyBits;
    const place = 31 - Math.clz32(bits & -bits);
    if (place < OFFSET_BYTES) this.#offset += byte * 256 ** place;
    else this.#length += byte * 256 ** (place - OFFSET_BYTES);
    this.#copyBits = bits & (bits - 1);
    if (this.#copyBits === 0) this.#listener.copied(this.#offset, this.#length || COPIED_IF_ZERO);
  }
}
