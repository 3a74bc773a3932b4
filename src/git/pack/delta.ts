/**
 * Reads and applies deltas (gitformat-pack, "Deltified representation"): the sizes of the base and
 * of the result, then instructions to copy and to insert.
 */
import { NO_BYTES } from '../bytes.ts';
import { badPack, ProtocolError, tooLarge } from '../wire/protocol-error.ts';

const MAX_SIZE_BYTES = 10;
/** Size of the two sizes at the beginning of a delta. */
export const MAX_DELTA_HEADER_BYTES = 2 * MAX_SIZE_BYTES;
const INSERT_MAX = 0x7f;
/** Number of offset bytes in a copy instruction. Up to three bytes of its length follow. */
const OFFSET_BYTES = 4;
const COPIED_IF_ZERO = 0x10000;
/**
 * Length up to which a copy is made byte by byte. There can be millions of such instructions, and a
 * view for each would cost more.
 */
const SHORT_BYTES = 16;

function badDelta(): ProtocolError {
  return badPack('The pack contains a malformed delta.');
}

/**
 * Reads the two sizes.
 * @param end is the end of the delta, or of the part that is known.
 * @throws ProtocolError `bad-pack` if the header goes on.
 */
export function parseDeltaHeader(delta: Uint8Array, end: number = delta.byteLength) {
  let at = 0;
  const nextSize = (): number => {
    const stop = Math.min(end, at + MAX_SIZE_BYTES);
    for (let size = 0, factor = 1; at < stop; factor *= 128) {
      const byte = delta[at++]!;
      size += (byte & 0x7f) * factor;
      if (byte < 0x80) return size;
    }
    throw badDelta();
  };
  return { baseSize: nextSize(), resultSize: nextSize() };
}

/**
 * Applies a delta.
 * @param room takes the result if that fits.
 * @throws ProtocolError `too-large`, before the result is allocated.
 * @throws ProtocolError `bad-pack` if the delta does not fit the base.
 */
export function applyDelta(
  base: Uint8Array,
  delta: Uint8Array,
  maxBytes: number,
  room: Uint8Array = NO_BYTES,
): Uint8Array {
  const { baseSize, resultSize } = parseDeltaHeader(delta);
  if (baseSize !== base.byteLength) throw badDelta();
  if (resultSize > maxBytes) throw tooLarge('A commit or tag is too large.');
  const result = resultSize > room.byteLength ? new Uint8Array(resultSize) : room.subarray(0, resultSize);
  let filled = 0;
  const append = (bytes: Uint8Array, length: number): void => {
    if (bytes.byteLength !== length || filled + length > resultSize) throw badDelta();
    result.set(bytes, filled);
    filled += length;
  };
  readInstructions(delta, {
    inserted: (bytes) => append(bytes, bytes.byteLength),
    copied: (offset, length) => {
      if (length > SHORT_BYTES) return append(base.subarray(offset, offset + length), length);
      if (offset + length > baseSize || filled + length > resultSize) throw badDelta();
      for (let end = offset + length; offset < end;) result[filled++] = base[offset++]!;
    },
  });
  if (filled !== resultSize) throw badDelta();
  return result;
}

/**
 * Reads what a delta inserts, one text after the other, because there can be millions. Adjacent
 * inserts are joined.
 * @param use gets each text, which is valid only during the call.
 * @throws ProtocolError `bad-pack`
 */
export function readInserts(delta: Uint8Array, use: (text: Uint8Array) => void): void {
  const text = new Uint8Array(delta.byteLength);
  let filled = 0;
  const copied = (): void => {
    if (filled > 0) use(text.subarray(0, filled));
    filled = 0;
  };
  const inserted = (bytes: Uint8Array): void => {
    text.set(bytes, filled);
    filled += bytes.byteLength;
  };
  readInstructions(delta, { inserted, copied });
  copied();
}

/**
 * Reads a whole delta. Each insert comes in one piece.
 * @throws ProtocolError `bad-pack`
 */
export function readInstructions(delta: Uint8Array, listener: InstructionListener): void {
  const reader = new DeltaReader(listener);
  reader.take(delta);
  if (!reader.isSound) throw badDelta();
}

export interface InstructionListener {
  /** Takes the next piece of an insert, which is valid only during the call. */
  inserted(bytes: Uint8Array): void;
  copied(offset: number, length: number): void;
}

/** Reads a delta as it arrives, without its base. */
export class DeltaReader {
  readonly #listener: InstructionListener;
  /** Number of sizes that are still to come. */
  #sizesLeft = 2;
  #insertLeft = 0;
  /** Bits for the bytes of the current copy instruction that are still to come. */
  #copyBits = 0;
  #offset = 0;
  #length = 0;
  #hasReserved = false;

  constructor(listener: InstructionListener) {
    this.#listener = listener;
  }

  begin(): void {
    [this.#sizesLeft, this.#insertLeft, this.#copyBits, this.#hasReserved] = [2, 0, 0, false];
  }

  /** True if the delta may end here: after a whole instruction, and without a reserved one. */
  get isSound(): boolean {
    return this.#sizesLeft + this.#insertLeft + this.#copyBits === 0 && !this.#hasReserved;
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
      if (this.#copyBits > 0 || (this.#sizesLeft === 0 && bytes[at]! > INSERT_MAX)) {
        at = this.#readCopies(bytes, at);
        continue;
      }
      const byte = bytes[at++]!;
      if (this.#sizesLeft > 0) this.#sizesLeft -= byte < 0x80 ? 1 : 0;
      else if (byte > 0) this.#insertLeft = byte;
      else this.#hasReserved = true;
    }
  }

  /**
   * Reads copies, as far as they are there. A delta can be full of them.
   * @returns the index of the byte after them.
   */
  #readCopies(bytes: Uint8Array, start: number): number {
    const listener = this.#listener;
    let at = start;
    /** Bits for the bytes of a copy that are still to come, the lowest first. */
    let bits = this.#copyBits;
    let [offset, length] = [this.#offset, this.#length];
    for (;;) {
      if (bits === 0) {
        if (at === bytes.length || bytes[at]! <= INSERT_MAX) break;
        bits = bytes[at++]! & INSERT_MAX;
        offset = 0;
        length = 0;
      }
      for (; bits > 0 && at < bytes.length; bits &= bits - 1) {
        const place = 31 - Math.clz32(bits & -bits);
        // Shifts, because a power takes ten times as long.
        if (place < OFFSET_BYTES) offset += (bytes[at++]! << (8 * place)) >>> 0;
        else length += bytes[at++]! << (8 * (place - OFFSET_BYTES));
      }
      if (bits > 0) break;
      listener.copied(offset, length || COPIED_IF_ZERO);
    }
    [this.#copyBits, this.#offset, this.#length] = [bits, offset, length];
    return at;
  }
}
