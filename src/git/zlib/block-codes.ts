/**
 * The pair of codes of one compressed block: fixed (RFC 1951 §3.2.6) or read from the block's header (§3.2.7).
 *
 * Both tables are in one array, so that a decoding loop gets from one to the other by an offset. It is made once for a
 * walker and used again for every block. What else is needed to read a header is shared by all: nothing waits
 * meanwhile.
 */
import {
  CODE_LENGTH_ORDER,
  DISTANCES_AT,
  DISTANCE_TEMPLATES,
  END_OF_BLOCK_SYMBOL,
  LITERAL_LENGTH_TEMPLATES,
  MAX_DISTANCE_CODES,
  MAX_LITERAL_LENGTH_CODES,
  ROOT_BITS,
  SUBTABLES_AT,
  extraOutput,
  damagedData,
} from './deflate-format.ts';
import { BUCKET_SHIFT, HuffmanCode, buildTable } from './huffman-table.ts';

/**
 * A subtable with n index bits holds the codes of n + 1 or more symbols, and n is at most 5. So 286 symbols need at
 * most 286 / 6 * 2^5 entries behind the first levels, and 30 symbols 30 / 6 * 2^5.
 */
const TABLE_ENTRIES = SUBTABLES_AT + 2048;

const CODE_LENGTH_SYMBOLS = 19;
const MAX_CODE_LENGTH_BITS = 7;
const CODE_LENGTH_MASK = (1 << MAX_CODE_LENGTH_BITS) - 1;
const COPY_PREVIOUS = 16;
/** Bits 0..9 as in all entries; 16..20: length, or 16 for the previous one; 24..31: times, without extra bits. */
const CODE_LENGTH_TEMPLATES = Int32Array.from(
  { length: CODE_LENGTH_SYMBOLS },
  (_, i) => (1 << 24) | (i << 16),
);
CODE_LENGTH_TEMPLATES[16] = (3 << 24) | (COPY_PREVIOUS << 16) | 2;
CODE_LENGTH_TEMPLATES[17] = (3 << 24) | 3;
CODE_LENGTH_TEMPLATES[18] = (11 << 24) | 7;

/** The longest header: three counts, the lengths of 19 codes, and 316 lengths of at most 7 + 7 bits. */
export const MAX_HEADER_BYTES = Math.ceil((14 + 19 * 3 + 316 * 14) / 8);

const codeLengthTable = new Int32Array(1 << MAX_CODE_LENGTH_BITS);
const codeLengthBits = new Uint8Array(CODE_LENGTH_SYMBOLS);
const codeLengthCode = new HuffmanCode();
const literalCode = new HuffmanCode();
const distanceCode = new HuffmanCode();

export class BlockCodes {
  readonly entries = new Int32Array(TABLE_ENTRIES);

  /** The bit at which the next code length begins. */
  #pos = 0;
  #previousLength = -1;
  /** How many times the previous length is still to be repeated: a repeat may run over into the second code. */
  #repeatsLeft = 0;

  static fixed(): BlockCodes {
    const codes = new BlockCodes();
    literalCode.clear();
    distanceCode.clear();
    for (let symbol = 0; symbol < LITERAL_LENGTH_TEMPLATES.length; symbol++) {
      literalCode.add(symbol, symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8);
    }
    for (let symbol = 0; symbol < DISTANCE_TEMPLATES.length; symbol++) distanceCode.add(symbol, 5);
    codes.#build();
    return codes;
  }

  /** Reads the header at the bit `pos`, and builds the tables. Returns the bit behind it; -1: it is not whole yet. */
  readHeader(view: DataView, pos: number, end: number): number {
    const bits = view.getUint32(pos >>> 3, true) >>> (pos & 7);
    const literals = (bits & 31) + 257;
    const distances = ((bits >>> 5) & 31) + 1;
    const codeLengths = ((bits >>> 10) & 15) + 4;
    pos += 14;
    if (pos > end) return -1;
    if (literals > MAX_LITERAL_LENGTH_CODES || distances > MAX_DISTANCE_CODES) {
      throw damagedData('too many length or distance codes');
    }
    if (pos + 3 * codeLengths > end) return -1;
    this.#pos = this.#readCodeLengthCode(view, pos, codeLengths);
    this.#previousLength = -1;
    this.#repeatsLeft = 0;
    if (!this.#readCode(view, end, literalCode, literals)) return -1;
    if (!this.#readCode(view, end, distanceCode, distances)) return -1;
    if (this.#repeatsLeft > 0) throw damagedData('invalid repeat of code lengths');
    if (!literalCode.has(END_OF_BLOCK_SYMBOL)) {
      throw damagedData('no code for the end of a block');
    }
    literalCode.check('literal or length', true);
    distanceCode.check('distance', true);
    this.#build();
    return this.#pos;
  }

  /** The code in which the lengths of the other two are written. */
  #readCodeLengthCode(view: DataView, pos: number, count: number): number {
    const lengths = codeLengthBits;
    lengths.fill(0);
    for (let i = 0; i < count;) {
      let bits = view.getUint32(pos >>> 3, true) >>> (pos & 7);
      const stop = Math.min(i + 8, count);
      pos += 3 * (stop - i);
      for (; i < stop; i++, bits >>>= 3) lengths[CODE_LENGTH_ORDER[i]!] = bits & 7;
    }
    const code = codeLengthCode;
    code.clear();
    for (let symbol = 0; symbol < CODE_LENGTH_SYMBOLS; symbol++) code.add(symbol, lengths[symbol]!);
    code.check('code length', false);
    buildTable(codeLengthTable, 0, MAX_CODE_LENGTH_BITS, 0, code, CODE_LENGTH_TEMPLATES);
    return pos;
  }

  /**
   * Puts `count` symbols into the buckets of their lengths; false if they do not end by the bit `end`. All except a
   * copy of the previous length take the same branch, so that the processor need not predict which one comes.
   */
  #readCode(view: DataView, end: number, code: HuffmanCode, count: number): boolean {
    const table = codeLengthTable;
    const { counts, symbols } = code;
    let previous = this.#previousLength;
    code.clear();
    let symbol = 0;
    while (symbol < this.#repeatsLeft) code.add(symbol++, previous);
    // The next bits, how many of them are surely there, and the byte from which on to add more.
    let at = this.#pos >>> 3;
    let bits = view.getUint32(at, true) >>> (this.#pos & 7);
    let valid = 24 - (this.#pos & 7);
    at += 3;
    while (symbol < count) {
      bits |= view.getUint32(at, true) << valid;
      at = (at + ((31 - valid) >> 3)) | 0;
      valid |= 24;
      const entry = table[bits & CODE_LENGTH_MASK]!;
      let times = (entry >>> 24) + extraOutput(entry, bits);
      bits >>>= entry;
      valid = (valid - entry) & 31;
      if ((at << 3) - valid > end) return false;
      let length = (entry >>> 16) & 31;
      if (length === COPY_PREVIOUS) {
        if (previous < 0) throw damagedData('invalid repeat of code lengths');
        length = previous;
        if (length !== 0) for (; times > 1; times--) code.add(symbol++, length);
      }
      const index = counts[length]!;
      symbols[(length << BUCKET_SHIFT) + index] = symbol;
      counts[length] = index + 1;
      symbol += times;
      previous = length;
    }
    this.#repeatsLeft = symbol - count;
    this.#previousLength = previous;
    this.#pos = (at << 3) - valid;
    if (previous > 0) counts[previous] = counts[previous]! - this.#repeatsLeft;
    return true;
  }

  #build(): void {
    const { entries } = this;
    const free = buildTable(entries, 0, ROOT_BITS, SUBTABLES_AT, literalCode, LITERAL_LENGTH_TEMPLATES);
    buildTable(entries, DISTANCES_AT, ROOT_BITS, free, distanceCode, DISTANCE_TEMPLATES);
  }
}
