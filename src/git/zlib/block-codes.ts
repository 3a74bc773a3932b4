/**
 * The pair of codes of one compressed block: fixed (RFC 1951 §3.2.6) or read from the block's header (§3.2.7).
 *
 * Both tables lie in one array, literals and lengths first, so that a decoding loop goes from one to the other by
 * changing an offset. The arrays are made once for the walker and used again for every block.
 */
import { ProtocolError } from '../protocol-error.ts';
import {
  CODE_LENGTH_ORDER,
  DISTANCE_TEMPLATES,
  END_OF_BLOCK_SYMBOL,
  LITERAL_LENGTH_TEMPLATES,
  MAX_DISTANCE_CODES,
  MAX_LITERAL_LENGTH_CODES,
  VALUE_SHIFT,
} from './deflate-format.ts';
import { buildTable, CodeLengths } from './huffman-table.ts';

const LITERAL_ROOT_BITS = 10;
const DISTANCE_ROOT_BITS = 8;
const CODE_LENGTH_BITS = 7;

/**
 * A subtable with n index bits serves n + 1 or more symbols. So 286 symbols of up to 15 bits fill at most 2^10 +
 * 286 / 6 * 2^5 entries, and 30 symbols at most 2^8 + 30 / 8 * 2^7.
 */
const LITERAL_TABLE_ENTRIES = 4096;
const DISTANCE_TABLE_ENTRIES = 1024;

const CODE_LENGTH_TEMPLATES = Int32Array.from({ length: 19 }, (_, symbol) => symbol << VALUE_SHIFT);

/** The longest header: counts, 19 code length lengths, and 316 lengths of at most 7 + 7 bits. */
export const MAX_HEADER_BYTES = Math.ceil((14 + 19 * 3 + 316 * 14) / 8);

export class BlockCodes {
  readonly entries = new Int32Array(LITERAL_TABLE_ENTRIES + DISTANCE_TABLE_ENTRIES);
  readonly distanceAt = LITERAL_TABLE_ENTRIES;
  literalMask = 0;
  distanceMask = 0;

  readonly #codeLengthTable = new Int32Array(1 << CODE_LENGTH_BITS);
  readonly #codeLengthLengths = new Uint8Array(19);
  readonly #codeLengths = new CodeLengths();
  readonly #literals = new CodeLengths();
  readonly #distances = new CodeLengths();

  static fixed(): BlockCodes {
    const codes = new BlockCodes();
    for (let symbol = 0; symbol < 288; symbol++) {
      codes.#literals.add(symbol, symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8);
    }
    for (let symbol = 0; symbol < 32; symbol++) codes.#distances.add(symbol, 5);
    codes.#build();
    return codes;
  }

  /**
   * Reads a dynamic block's header that begins at the bit `pos` and builds its tables. Returns the bit behind it, or
   * -1 when it does not end before the bit `end`.
   */
  readHeader(view: DataView, pos: number, end: number): number {
    let bits = view.getUint32(pos >>> 3, true) >>> (pos & 7);
    pos += 14;
    if (pos > end) return -1;
    const literalCount = (bits & 31) + 257;
    const distanceCount = ((bits >>> 5) & 31) + 1;
    const codeLengthCount = ((bits >>> 10) & 15) + 4;
    if (literalCount > MAX_LITERAL_LENGTH_CODES || distanceCount > MAX_DISTANCE_CODES) {
      throw new ProtocolError('bad-pack', 'compressed data: too many length or distance codes');
    }
    if (pos + 3 * codeLengthCount > end) return -1;
    this.#codeLengthLengths.fill(0);
    for (let i = 0; i < codeLengthCount; i++) {
      bits = view.getUint32(pos >>> 3, true) >>> (pos & 7);
      this.#codeLengthLengths[CODE_LENGTH_ORDER[i]!] = bits & 7;
      pos += 3;
    }
    this.#codeLengths.clear();
    for (let symbol = 0; symbol < 19; symbol++) {
      const length = this.#codeLengthLengths[symbol]!;
      if (length !== 0) this.#codeLengths.add(symbol, length);
    }
    this.#codeLengths.check('code length', false);
    pos = this.#readLengths(view, pos, end, literalCount, distanceCount);
    if (pos < 0) return -1;
    this.#literals.check('literal or length', true);
    this.#distances.check('distance', true);
    this.#build();
    return pos;
  }

  /** Puts every symbol into the bucket of its length. Repeats may run from one code over into the other. */
  #readLengths(
    view: DataView,
    pos: number,
    end: number,
    literalCount: number,
    distanceCount: number,
  ): number {
    const table = this.#codeLengthTable;
    const mask = (1 << buildTable(table, 0, CODE_LENGTH_BITS, this.#codeLengths, CODE_LENGTH_TEMPLATES)) - 1;
    const literals = this.#literals;
    const distances = this.#distances;
    literals.clear();
    distances.clear();
    const total = literalCount + distanceCount;
    let hasEndOfBlock = false;
    let previous = -1;
    let i = 0;
    while (i < total) {
      let bits = view.getUint32(pos >>> 3, true) >>> (pos & 7);
      const entry = table[bits & mask]!;
      const symbol = entry >>> VALUE_SHIFT;
      pos += entry & 31;
      bits >>>= entry & 31;
      let length = symbol;
      let repeat = 1;
      if (symbol === 16) {
        repeat = 3 + (bits & 3);
        pos += 2;
        length = previous;
      } else if (symbol === 17) {
        repeat = 3 + (bits & 7);
        pos += 3;
        length = 0;
      } else if (symbol === 18) {
        repeat = 11 + (bits & 127);
        pos += 7;
        length = 0;
      }
      if (pos > end) return -1;
      if (length < 0 || i + repeat > total) {
        throw new ProtocolError('bad-pack', 'compressed data: invalid repeat of code lengths');
      }
      previous = length;
      const stop = i + repeat;
      if (length === 0) {
        i = stop;
        continue;
      }
      for (; i < stop; i++) {
        if (i === END_OF_BLOCK_SYMBOL) hasEndOfBlock = true;
        if (i < literalCount) literals.add(i, length);
        else distances.add(i - literalCount, length);
      }
    }
    if (!hasEndOfBlock)
      throw new ProtocolError('bad-pack', 'compressed data: no code for the end of a block');
    return pos;
  }

  #build(): void {
    const { entries, distanceAt } = this;
    const literalBits = buildTable(entries, 0, LITERAL_ROOT_BITS, this.#literals, LITERAL_LENGTH_TEMPLATES);
    const distanceBits = buildTable(
      entries,
      distanceAt,
      DISTANCE_ROOT_BITS,
      this.#distances,
      DISTANCE_TEMPLATES,
    );
    this.literalMask = (1 << literalBits) - 1;
    this.distanceMask = (1 << distanceBits) - 1;
  }
}
