/**
 * Canonical Huffman codes (RFC 1951 §3.2.2) and their two-level decoding tables.
 *
 * Packs hold tens of thousands of blocks of a few hundred bytes, so building tables is a large part of the work.
 * Symbols are sorted by the lengths of their codes while those are read, each is written once, and the table
 * grows by doubling: what stands for the codes of up to n bits is copied behind itself to serve n + 1. Codes are
 * kept with their first bit lowest, as they come in the stream.
 */
import {
  CODE_BITS,
  INVALID,
  MAX_CODE_BITS,
  SUBTABLE,
  SUBTABLE_SHIFT,
  damagedData,
} from './deflate-format.ts';

/** A bucket has room for more symbols than a code has, and than a wrong header can name before it is refused. */
export const BUCKET_SHIFT = 9;
/** Up to so many entries a loop copies faster than a call. */
const SMALL_COPY = 32;

/** The symbols of a code in buckets by the bits of their codes, in ascending order. */
export class HuffmanCode {
  /** At index n: symbols with codes of n bits; at index 0: those without a code. */
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

  /** Bits of the longest code; 0 when no symbol has one. */
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

  /** Refuses wrong codes; like zlib, it takes two incomplete ones: none, and a single code of one bit (§3.2.7). */
  check(what: string, mayBeSingle: boolean): void {
    let room = 1;
    for (let bits = 1; bits <= MAX_CODE_BITS; bits++) {
      room = room * 2 - this.counts[bits]!;
      if (room < 0) throw damagedData(`over-subscribed ${what} code`);
    }
    if (room > 0 && !(mayBeSingle && this.longest() <= 1)) {
      throw damagedData(`incomplete ${what} code`);
    }
  }
}

/** Writes a checked code: its first level at `at`, its subtables from `free` on. Returns where these end. */
export function buildTable(
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

/** The next code when a code's first bit is its lowest: one is added at the top, and carried down. */
function nextCode(code: number, ones: number): number {
  const zeros = code ^ ones;
  if (zeros === 0) return ones;
  const top = 0x8000_0000 >>> Math.clz32(zeros);
  return (code & (top - 1)) | top;
}

/** Codes longer than the first level's index: those that share their first `rootBits` bits share a subtable. */
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
