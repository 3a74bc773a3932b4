/**
 * The pair of codes of one compressed block: fixed (RFC 1951 §3.2.6) or read from the block's
 * header (§3.2.7), as canonical Huffman codes (§3.2.2) with two-level decoding tables. Packs hold
 * tens of thousands of blocks of a few hundred bytes, so building tables is much of the work.
 * Therefore symbols are sorted by the lengths of their codes while these are read, each is written
 * once, and the table grows by doubling: the entries for codes of up to n bits are copied behind
 * themselves to serve n + 1 bits. Codes are kept with their first bit lowest, as the stream has
 * them. Both tables are in one array, so that a loop needs only an offset.
 * Proved by test/git/zlib/agreement.property.test.ts and test/git/zlib/bad-streams.test.ts.
 */
import {
  DISTANCES_AT,
  END_OF_BLOCK,
  INVALID,
  MAX_DISTANCE_CODES,
  RANK_SHIFT,
  ROOT_BITS,
  SUBTABLE,
  SUBTABLES_AT,
  SUBTABLE_SHIFT,
  damagedData,
  extraOutput,
} from './deflate-format.ts';

const MAX_CODE_BITS = 15;
const MAX_LITERAL_LENGTH_CODES = 286;
const END_OF_BLOCK_SYMBOL = 256;
/** Factor for the length of a symbol's code, which is then added to its template. */
const CODE_BITS = 1 | (1 << 5);
/** Order in which the lengths of the code length code are sent, RFC 1951 §3.2.7. */
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15] as const;

const LITERAL_LENGTH_TEMPLATES = literalLengthTemplates();
const DISTANCE_TEMPLATES = distanceTemplates();

/**
 * Builds the entries of literals and lengths without their codes. Symbols 286 and 287 have no
 * meaning.
 */
function literalLengthTemplates(): Int32Array {
  const templates = new Int32Array(288).fill(INVALID);
  for (let byte = 0; byte < END_OF_BLOCK_SYMBOL; byte++) templates[byte] = byte << 16;
  templates[END_OF_BLOCK_SYMBOL] = END_OF_BLOCK;
  let bytesOverMinimum = 0;
  for (let i = 0; i < 28; i++) {
    const extraBits = i < 8 ? 0 : (i >> 2) - 1;
    templates[257 + i] = (bytesOverMinimum << 24) | DISTANCES_AT | extraBits;
    bytesOverMinimum += 1 << extraBits;
  }
  templates[285] = (255 << 24) | DISTANCES_AT;
  return templates;
}

/** Builds the entries of distances without their codes. Symbols 30 and 31 have no meaning. */
function distanceTemplates(): Int32Array {
  const templates = new Int32Array(32).fill(INVALID);
  for (let symbol = 0; symbol < MAX_DISTANCE_CODES; symbol++) {
    const extraBits = Math.max(0, (symbol >> 1) - 1);
    templates[symbol] = (1 << 24) | ((symbol + 1) << RANK_SHIFT) | (extraBits * CODE_BITS);
  }
  return templates;
}

/**
 * Buckets have room for 512 symbols: more than a code has, and than a wrong header can name before
 * it is refused.
 */
const BUCKET_SHIFT = 9;
/** Number of entries up to which a loop copies faster than a call. */
const SMALL_COPY = 32;

/** The symbols of a code in buckets by the bits of their codes, in ascending order. */
class HuffmanCode {
  /** The number of symbols with codes of n bits, at index n. At index 0, those without a code. */
  readonly counts = new Uint16Array(MAX_CODE_BITS + 1);
  readonly symbols = new Uint16Array((MAX_CODE_BITS + 1) << BUCKET_SHIFT);

  clear(): void {
    this.counts.fill(0);
  }

  add(symbol: number, bits: number): void {
    const count = this.counts[bits]!;
    this.symbols[(bits << BUCKET_SHIFT) + count] = symbol;
    this.counts[bits] = count + 1;
  }

  /** Returns the length of the longest code in bits, or 0 if no symbol has a code. */
  longest(): number {
    let bits = MAX_CODE_BITS;
    while (bits > 0 && this.counts[bits] === 0) bits--;
    return bits;
  }

  has(symbol: number): boolean {
    for (let bits = 1; bits <= MAX_CODE_BITS; bits++) {
      const bucket = bits << BUCKET_SHIFT;
      let i = bucket + this.counts[bits]! - 1;
      while (i >= bucket && this.symbols[i]! > symbol) i--;
      if (i >= bucket && this.symbols[i] === symbol) return true;
    }
    return false;
  }

  /**
   * Refuses wrong codes. Like zlib, it accepts two incomplete ones if `mayBeSingle`: no code at
   * all, and a single code of one bit (§3.2.7).
   */
  check(what: string, mayBeSingle: boolean): void {
    let room = 1;
    for (let bits = 1; bits <= MAX_CODE_BITS; bits++) {
      room = room * 2 - this.counts[bits]!;
      if (room < 0) throw damagedData(`over-subscribed ${what} code`);
    }
    if (room > 0 && !(mayBeSingle && this.longest() <= 1)) throw damagedData(`incomplete ${what} code`);
  }
}

/**
 * A subtable with n index bits holds the codes of n + 1 or more symbols, and n is at most 5. So 286
 * symbols need at most 286 / 6 * 2^5 entries behind the first levels, and 30 symbols 30 / 6 * 2^5.
 */
const TABLE_ENTRIES = SUBTABLES_AT + 2048;

const MAX_CODE_LENGTH_BITS = 7;
const CODE_LENGTH_MASK = (1 << MAX_CODE_LENGTH_BITS) - 1;
const COPY_PREVIOUS = 16;
/**
 * Entries of the code length code. Bits 0..9 are as in all entries, bits 16..20 have the length, or
 * 16 for the previous one, and bits 24..31 how many times it counts, without extra bits.
 */
const CODE_LENGTH_TEMPLATES = Int32Array.from(CODE_LENGTH_ORDER, (_, i) => (1 << 24) | (i << 16));
CODE_LENGTH_TEMPLATES[16] = (3 << 24) | (COPY_PREVIOUS << 16) | 2;
CODE_LENGTH_TEMPLATES[17] = (3 << 24) | 3;
CODE_LENGTH_TEMPLATES[18] = (11 << 24) | 7;

/**
 * Size of the longest header: three counts, the lengths of 19 codes, and 316 lengths of at most 7 +
 * 7 bits.
 */
export const MAX_BLOCK_HEADER_BYTES = Math.ceil((14 + 19 * 3 + 316 * 14) / 8);

const codeLengthTable = new Int32Array(1 << MAX_CODE_LENGTH_BITS);
const codeLengthBits = new Uint8Array(CODE_LENGTH_ORDER.length);
const codeLengthCode = new HuffmanCode();
const literalCode = new HuffmanCode();
const distanceCode = new HuffmanCode();

export class BlockCodes {
  readonly entries = new Int32Array(TABLE_ENTRIES);

  /** The bit at which the next code length begins. */
  #pos = 0;
  #previousLength = -1;
  /**
   * Number of times that the previous length is still to be repeated. A repeat may run over into
   * the second code.
   */
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

  /**
   * Reads the header at the bit `pos`, and builds the tables.
   * @returns the bit behind it, or -1 if it is not complete yet.
   */
  readHeader(view: DataView, pos: number, end: number): number {
    const bits = view.getUint32(pos >>> 3, true) >>> (pos & 7);
    const literals = (bits & 31) + 257;
    const distances = ((bits >>> 5) & 31) + 1;
    const codeLengths = ((bits >>> 10) & 15) + 4;
    pos += 14;
    if (pos > end) return -1;
    const isTooMany = literals > MAX_LITERAL_LENGTH_CODES || distances > MAX_DISTANCE_CODES;
    if (isTooMany) throw damagedData('too many length or distance codes');
    if (pos + 3 * codeLengths > end) return -1;
    this.#pos = this.#readCodeLengthCode(view, pos, codeLengths);
    this.#previousLength = -1;
    this.#repeatsLeft = 0;
    if (!this.#readCode(view, end, literalCode, literals)) return -1;
    if (!this.#readCode(view, end, distanceCode, distances)) return -1;
    if (this.#repeatsLeft > 0) throw damagedData('invalid repeat of code lengths');
    if (!literalCode.has(END_OF_BLOCK_SYMBOL)) throw damagedData('no code for the end of a block');
    literalCode.check('literal or length', true);
    distanceCode.check('distance', true);
    this.#build();
    return this.#pos;
  }

  /** Reads the code in which the lengths of the other two are written. */
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
    for (let symbol = 0; symbol < lengths.length; symbol++) code.add(symbol, lengths[symbol]!);
    code.check('code length', false);
    buildTable(codeLengthTable, 0, MAX_CODE_LENGTH_BITS, 0, code, CODE_LENGTH_TEMPLATES);
    return pos;
  }

  /**
   * Puts the symbols of a code into buckets. Nearly all take the same branch, so it is well
   * predicted.
   * @returns false if the code goes beyond `end`.
   */
  #readCode(view: DataView, end: number, code: HuffmanCode, count: number): boolean {
    const table = codeLengthTable;
    const { counts, symbols } = code;
    let previous = this.#previousLength;
    code.clear();
    let symbol = 0;
    while (symbol < this.#repeatsLeft) code.add(symbol++, previous);
    // The next bits, the number of them that are valid, and the byte from which to add more.
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

/**
 * Writes a checked code, its first level at `at` and its subtables from `free` on.
 * @returns the end of the subtables.
 */
function buildTable(
  entries: Int32Array,
  at: number,
  rootBits: number,
  free: number,
  huffman: HuffmanCode,
  templates: Int32Array,
): number {
  const { counts, symbols } = huffman;
  let code = 0;
  let bits = 1;
  if (counts[1]! < 2 && huffman.longest() < 2) {
    // One of the two incomplete codes.
    entries[at] = counts[1] === 0 ? INVALID | 1 : templates[symbols[1 << BUCKET_SHIFT]!]! + CODE_BITS;
    entries[at + 1] = INVALID | 1;
    code = 1;
    bits = 2;
  }
  for (; bits <= rootBits; bits++) {
    const size = 1 << bits;
    // Before the first code there is nothing to double.
    if (code !== 0) copyBehind(entries, at, size >> 1);
    const bucket = bits << BUCKET_SHIFT;
    const bucketEnd = bucket + counts[bits]!;
    for (let i = bucket; i < bucketEnd; i++) {
      entries[at + code] = templates[symbols[i]!]! + bits * CODE_BITS;
      code = nextCode(code, size - 1);
    }
  }
  return buildSubtables(entries, at, rootBits, free, code, huffman, templates);
}

function copyBehind(entries: Int32Array, at: number, count: number): void {
  if (count > SMALL_COPY) {
    entries.copyWithin(at + count, at, at + count);
    return;
  }
  for (let i = at; i < at + count; i++) entries[i + count] = entries[i]!;
}

/**
 * Returns the next code. Because a code's first bit is its lowest, one is added at the top and
 * carried down.
 */
function nextCode(code: number, ones: number): number {
  const zeros = code ^ ones;
  if (zeros === 0) return ones;
  const top = 0x8000_0000 >>> Math.clz32(zeros);
  return (code & (top - 1)) | top;
}

/**
 * Writes the codes that are longer than the first level's index. Those that share their first
 * `rootBits` bits share a subtable.
 * @returns the end of the subtables.
 */
function buildSubtables(
  entries: Int32Array,
  at: number,
  rootBits: number,
  free: number,
  firstCode: number,
  { counts, symbols }: HuffmanCode,
  templates: Int32Array,
): number {
  const rootMask = (1 << rootBits) - 1;
  let code = firstCode;
  let prefix = -1;
  let start = 0;
  for (let bits = rootBits + 1; bits <= MAX_CODE_BITS; bits++) {
    const bucket = bits << BUCKET_SHIFT;
    const count = counts[bits]!;
    for (let i = 0; i < count; i++) {
      if ((code & rootMask) !== prefix) {
        prefix = code & rootMask;
        // The number of index bits with which the codes from here on fill the subtable.
        let indexBits = bits - rootBits;
        let codes = count - i;
        while (codes < 1 << indexBits) {
          indexBits++;
          codes = codes * 2 + counts[rootBits + indexBits]!;
        }
        start = free;
        free += 1 << indexBits;
        entries[at + prefix] = (start << SUBTABLE_SHIFT) | SUBTABLE | indexBits;
      }
      const entry = templates[symbols[bucket + i]!]! + bits * CODE_BITS;
      for (let j = start + (code >>> rootBits); j < free; j += 1 << (bits - rootBits)) entries[j] = entry;
      code = nextCode(code, (1 << bits) - 1);
    }
  }
  return free;
}
