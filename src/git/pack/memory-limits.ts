/**
 * Limits what one push may keep in memory, and make others compute. All else of a pack goes to the
 * spool (src/spool). Limits count the bytes that arrived, not what gzip made of them: one byte may
 * inflate to a thousand.
 * Proved by test/git/pack/bad-packs.test.ts and test/git/zlib/stream-length.test.ts.
 */
const MiB = 1024 * 1024;

/** Maximum size of an inflated object, and of a delta's result (contract, section 8). */
export const MAX_OBJECT_BYTES = 10 * MiB;
/**
 * Maximum size of a file that is read to its end all the same, so that it can be named. Few pushes
 * could pay for more.
 */
export const MAX_NAMED_BYTES = 1024 * MiB;

/**
 * Maximum size of the inflated commits and tags of one pack, with their overhead, until the push
 * was judged: some 25,000 small commits.
 */
export const MAX_KEPT_BYTES = 24 * MiB;

/** Overhead of a kept object: its id, its position, and the plan of the commit that replaces it. */
export const KEPT_OBJECT_BYTES = 768;

/**
 * Minimum bytes of a pack for each of its entries. The smallest possible entry takes 9. In a
 * compressed body an honest one still takes 20, because something in the pack names it by its id.
 */
const PACK_BYTES_PER_ENTRY = 8;

export function hasTooManyEntries(entries: number, packBytes: number): boolean {
  return entries > packBytes / PACK_BYTES_PER_ENTRY;
}

/**
 * Number of blocks of compressed data with a code of their own that every pack may have, and bytes
 * of the pack for each further one. Reading a code takes a microsecond, and a hostile pack could
 * have one in 11 bytes; zlib writes one in 50.
 */
export const FREE_DYNAMIC_BLOCKS = 16_384;
export const PACK_BYTES_PER_DYNAMIC_BLOCK = 40;

export function hasTooManyBlocks(dynamicBlocks: number, packBytes: number): boolean {
  return dynamicBlocks > FREE_DYNAMIC_BLOCKS + packBytes / PACK_BYTES_PER_DYNAMIC_BLOCK;
}

/**
 * Size to which the entries of every pack may inflate together, in which an object of the largest
 * size always fits, and bytes besides for each byte of the pack. zlib shortens zeros to a
 * thousandth, and what is inflated is searched byte by byte. Of 188 npm packages, the one that
 * shrinks most takes a ninth (@octokit, 19 MB), and a single file an eighteenth (declarations of 3
 * MB); this repository's history takes 0.64.
 */
const FREE_INFLATED_BYTES = 12 * MiB;
const INFLATED_BYTES_PER_PACK_BYTE = 16;
/**
 * Limits of the same kind for deltas alone, because tiny instructions cost more to search. Git
 * makes none that is larger than half of the object (builtin/pack-objects.c, `try_delta`), and
 * those of this repository take as much compressed.
 */
const FREE_DELTA_BYTES = 5 * MiB;
const DELTA_BYTES_PER_PACK_BYTE = 8;

export function inflatesTooMuch(inflatedBytes: number, deltaBytes: number, packBytes: number): boolean {
  return (
    inflatedBytes > FREE_INFLATED_BYTES + INFLATED_BYTES_PER_PACK_BYTE * packBytes ||
    deltaBytes > FREE_DELTA_BYTES + DELTA_BYTES_PER_PACK_BYTE * packBytes
  );
}

/**
 * Limits of the same kind for commits and tags: each byte of them is kept, searched many times, and
 * written again. The 2,295 commits of this repository shrink to 0.6 of themselves, and any hundred
 * of them to a half.
 */
const FREE_KEPT_BYTES = MiB;
const KEPT_BYTES_PER_ARRIVED_BYTE = 4;

export function mostKeptBytes(arrivedBytes: number): number {
  return FREE_KEPT_BYTES + KEPT_BYTES_PER_ARRIVED_BYTE * arrivedBytes;
}

/**
 * Maximum number of bases that the deltas of a pack may name by their ids, and the memory of each.
 */
export const MAX_NAMED_BASES = 200_000;
export const NAMED_BASE_BYTES = 48;

/**
 * Maximum number of places in a pack where bytes are removed, because each is remembered. An
 * ordinary pack has one.
 */
export const MAX_CUTS = 500_000;
