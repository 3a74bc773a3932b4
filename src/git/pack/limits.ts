/**
 * Limits of what one push may keep in memory. Their sum is the limit of the whole rewrite, because nothing else in this
 * code grows with the pack.
 */
const MiB = 1024 * 1024;

/** An object inflated, or a delta's result (contract, section 8). */
export const MAX_OBJECT_BYTES = 10 * MiB;

/**
 * Commits and tags of one pack, inflated, plus overhead: they wait until the new tip is known. Some 25,000 small
 * commits, which make a push take 46 MiB in all.
 */
export const MAX_KEPT_BYTES = 24 * MiB;

/**
 * Overhead of a kept object: its id and its place, and the commit that replaces it, twice: on its own, and as an
 * entry.
 */
export const KEPT_OBJECT_BYTES = 768;

/**
 * The delay line: other entries that arrive before the pushed history is complete. libgit2, go-git and isomorphic-git
 * send files before commits, so this is the size of the largest push that they can make.
 */
export const MAX_DELAY_LINE_BYTES = 40 * MiB;

/** Overhead of a piece in the delay line, besides the chunk that it is a view of. */
export const WAITING_PIECE_BYTES = 128;

/**
 * Blocks of compressed data with a code of their own that a pack may have: these, and one for each so many bytes of the
 * pack. Reading a code takes about a microsecond, and a hostile pack could hold one in every 11 bytes. zlib writes none
 * where the fixed code is shorter, so the smallest file that gets one takes some 50 bytes.
 */
export const FREE_DYNAMIC_BLOCKS = 65_536;
export const PACK_BYTES_PER_DYNAMIC_BLOCK = 40;

/**
 * What the entries of a pack may inflate to together: this, and so many bytes for each of the pack. zlib shortens zeros
 * to a thousandth, and what is inflated is searched byte by byte. Text shrinks to a fourth, and most tables to a tenth.
 */
export const FREE_INFLATED_BYTES = 32 * MiB;
export const INFLATED_BYTES_PER_PACK_BYTE = 16;

/**
 * The same for its deltas alone, the sum of their instructions: tiny ones cost more to search than text of their size.
 * One delta of the largest object is always taken.
 */
export const FREE_DELTA_BYTES = 12 * MiB;
export const DELTA_BYTES_PER_PACK_BYTE = 8;

/**
 * Ref-deltas that may wait before the pushed history is complete; each is remembered by its base's id, which takes so
 * many bytes.
 */
export const WAITING_BASE_BYTES = 32;
export const MAX_WAITING_REF_DELTAS = 200_000;

/** Places between the deltas of a pack where bytes are removed; each is remembered. An ordinary pack has one. */
export const MAX_CUTS = 500_000;
