/**
 * The entries of the decoding tables for DEFLATE (RFC 1951 §3.2.5). One layout serves literals,
 * lengths and distances alike, so that a loop which only counts output takes the same few
 * instructions for each and the processor has no branch to guess wrong:
 *
 *     bits  0..4   bits to consume, extra bits included
 *     bits  5..9   bits before the extra bits that add output: a distance's do not
 *     bit  10      a distance follows; as it stands, the offset of the distances in the table
 *     bits 11..15  rank: 0 for literals and lengths, 1 + symbol for a distance, 31 to look closer
 *     bits 16..23  the literal
 *     bits 24..31  bytes of output less one; a distance has one of its match's bytes
 *
 * Because a distance counts one byte of its match, the longest match, 258 bytes, fits into eight
 * bits. JavaScript shifts by the lowest five bits of a count, so an entry can be used directly as
 * the count of bits to consume.
 * Proved by test/git/zlib/agreement.property.test.ts and test/git/zlib/known-streams.test.ts.
 */
import { badPack, ProtocolError } from '../wire/protocol-error.ts';

/**
 * Creates the error for damaged data.
 * @param fault is shown to the client, in the words of RFC 1950 and RFC 1951.
 */
export function damagedData(fault: string): ProtocolError {
  return badPack(`The pack contains damaged compressed data (${fault}).`);
}

/**
 * Number of index bits of the first level of both tables. The one for distances stands behind the
 * one for literals and lengths.
 */
export const ROOT_BITS = 10;
export const DISTANCES_AT = 1 << ROOT_BITS;
export const SUBTABLES_AT = 2 << ROOT_BITS;

export const RANK_SHIFT = 11;
/**
 * Rank of an entry that is neither a literal nor a length nor a distance. Bits 16 and 17 say what
 * it is.
 */
const LOOK_CLOSER = 31 << RANK_SHIFT;
export const KIND_MASK = LOOK_CLOSER | (3 << 16);
export const END_OF_BLOCK = LOOK_CLOSER | (1 << 16);
/** Entry of a code that no symbol has, or whose symbol has no meaning. */
export const INVALID = LOOK_CLOSER | (2 << 16);
/**
 * Entry that refers to a subtable. Bits 0..4 have the number of its index bits, bits 18..31 its
 * start.
 */
export const SUBTABLE = LOOK_CLOSER | (3 << 16);
export const SUBTABLE_SHIFT = 18;

export const MAX_DISTANCE_CODES = 30;
export const MIN_MATCH_BYTES = 3;
export const WINDOW_BYTES = 32_768;

/**
 * Returns the value of an entry's extra bits as far as they add output.
 * @param bits are the next bits of the stream.
 */
export function extraOutput(entry: number, bits: number): number {
  return (bits & ~(-1 << entry)) >>> (entry >>> 5);
}

/** Returns the distance of an entry: 1 and 2, then two symbols for each number of extra bits. */
export function distanceOf(entry: number, bits: number): number {
  const symbol = ((entry >>> RANK_SHIFT) & 31) - 1;
  if (symbol < 2) return symbol + 1;
  const extraBits = (symbol >>> 1) - 1;
  return ((2 | (symbol & 1)) << extraBits) + ((bits & ~(-1 << entry)) >>> (entry - extraBits)) + 1;
}

/**
 * Returns the highest rank, at its position in an entry, all of whose distances are at most
 * `bytes`.
 */
export function rankWithin(bytes: number): number {
  if (bytes < 2) return bytes << RANK_SHIFT;
  if (bytes >= WINDOW_BYTES) return MAX_DISTANCE_CODES << RANK_SHIFT;
  const log2 = 31 - Math.clz32(bytes);
  return (2 * log2 + ((bytes >>> (log2 - 1)) & 1)) << RANK_SHIFT;
}
