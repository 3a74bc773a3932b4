/**
 * What one push may hold in memory, whatever it sends. Their sum is the rewrite's own bound: nothing else in
 * these rooms grows with the pack.
 */
const MiB = 1024 * 1024;

/** An object inflated, or a delta's result (contract, section 8). */
export const MAX_OBJECT_BYTES = 10 * MiB;

/** Commits and tags of one pack, inflated: they wait until the new tip is known. About 80,000 commits. */
export const MAX_KEPT_BYTES = 24 * MiB;

/** The delay line: other entries that arrive before the pushed history is complete. */
export const MAX_DELAY_LINE_BYTES = 24 * MiB;

/** Ref-deltas that may wait before the pushed history is complete; each is remembered by a number. */
export const MAX_WAITING_REF_DELTAS = 200_000;
