/**
 * The numbers of the DEFLATE format (RFC 1951 §3.2.5 to §3.2.7) and the 32-bit entries of its decoding tables.
 *
 * One entry layout serves literals, lengths and distances alike, so that counting output needs no branch to tell
 * them apart: each step adds the entry's bits, the entry's output (0 for a distance) and the value of the
 * entry's extra bits (none for a literal or a distance). JavaScript shifts by `count & 31`, so a field of five
 * bits that ends up lowest needs no mask when it is a shift count.
 *
 *     bits  0..4   bits to consume, extra bits included
 *     bits  5..9   bits before the extra bits that add to the output
 *     bits 10..17  literal byte, or distance symbol
 *     bits 18..26  output: 1 for a literal, the base length for a length, 0 for a distance
 *     bits 27..31  n: the step is certainly valid when 2^n - 1 bytes stand before it; 31: never, look closer
 */

/** Order in which the lengths of the code length code are sent, RFC 1951 §3.2.7. */
export const CODE_LENGTH_ORDER = Uint8Array.of(
  16,
  17,
  18,
  0,
  8,
  7,
  9,
  6,
  10,
  5,
  11,
  4,
  12,
  3,
  13,
  2,
  14,
  1,
  15,
);

export const END_OF_BLOCK_SYMBOL = 256;
export const MAX_LITERAL_LENGTH_CODES = 286;
export const MAX_DISTANCE_CODES = 30;
export const MAX_CODE_BITS = 15;
export const WINDOW_BYTES = 32_768;

const LENGTH_EXTRA_BITS = [
  0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5,
];
const MAX_MATCH_BYTES = 258;

export const VALUE_SHIFT = 10;
export const OUTPUT_SHIFT = 18;
export const OUTPUT_MASK = 0x1ff;
export const NEEDS_SHIFT = 27;
const KIND_SHIFT = 25;

/** What `entry >>> KIND_SHIFT` says of an entry whose upper five bits are all set. */
export const KIND_END_OF_BLOCK = 0b11111_00;
export const KIND_INVALID = 0b11111_01;
/** Bits 5..9: index bits of the subtable; bits 10..24: where it begins. */
export const KIND_SUBTABLE = 0b11111_10;

export const kindOf = (entry: number): number => entry >>> KIND_SHIFT;
export const subtableEntry = (at: number, bits: number): number =>
  (KIND_SUBTABLE << KIND_SHIFT) | (at << VALUE_SHIFT) | (bits << 5);
export const subtableStart = (entry: number): number => (entry >>> VALUE_SHIFT) & 0x7fff;

/** A code that no symbol has. One bit of it must be there before it can be called wrong. */
export const INVALID_ENTRY = (KIND_INVALID << KIND_SHIFT) | 1;
const INVALID_SYMBOL = KIND_INVALID << KIND_SHIFT;

/** Adding this times the code's length to a symbol's template makes its entry. */
export const CODE_BIT = (1 << 5) | 1;

/** Entries of the literal/length symbols but for the code's length; 286 and 287 never stand for anything. */
export const LITERAL_LENGTH_TEMPLATES = Int32Array.from({ length: 288 }, () => INVALID_SYMBOL);
/** Entries of the distance symbols but for the code's length; 30 and 31 never stand for anything. */
export const DISTANCE_TEMPLATES = Int32Array.from({ length: 32 }, () => INVALID_SYMBOL);
export const DISTANCE_BASE = new Uint16Array(MAX_DISTANCE_CODES);
export const DISTANCE_EXTRA_BITS = new Uint8Array(MAX_DISTANCE_CODES);

for (let byte = 0; byte < 256; byte++) {
  LITERAL_LENGTH_TEMPLATES[byte] = (byte << VALUE_SHIFT) | (1 << OUTPUT_SHIFT);
}
LITERAL_LENGTH_TEMPLATES[END_OF_BLOCK_SYMBOL] = KIND_END_OF_BLOCK << KIND_SHIFT;
let lengthBase = 3;
for (const [code, extra] of LENGTH_EXTRA_BITS.entries()) {
  LITERAL_LENGTH_TEMPLATES[257 + code] = (lengthBase << OUTPUT_SHIFT) | extra;
  lengthBase += 1 << extra;
}
LITERAL_LENGTH_TEMPLATES[285] = MAX_MATCH_BYTES << OUTPUT_SHIFT;

let distanceBase = 1;
for (let symbol = 0; symbol < MAX_DISTANCE_CODES; symbol++) {
  const extra = Math.max(0, (symbol >> 1) - 1);
  const farthest = distanceBase + (1 << extra) - 1;
  const needs = 32 - Math.clz32(farthest);
  DISTANCE_BASE[symbol] = distanceBase;
  DISTANCE_EXTRA_BITS[symbol] = extra;
  DISTANCE_TEMPLATES[symbol] = (needs << NEEDS_SHIFT) | (symbol << VALUE_SHIFT) | (extra * CODE_BIT);
  distanceBase += 1 << extra;
}
