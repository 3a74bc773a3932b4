/**
 * Searches files and folders that deltas make, as a whole. What stands in one piece in a base is upstream's already;
 * what a delta puts together, from new bytes and copied ones, is new.
 */
import { COPY_CONTINUES, copiesBackwards, INSERTED } from '../pack/delta.ts';
import { DeltaInserts } from '../pack/delta-inserts.ts';
import type { DeltaResult } from '../pack/packed-deltas.ts';
import { COPY_MARK } from './boundary.ts';
import type { ByteSearch } from './byte-search.ts';
import type { ContentHit } from './content-search.ts';
import { excerptAt } from './excerpt.ts';

/** Before and after every text, because a pattern may require a boundary. */
const LINE_END = Uint8Array.of(0x0a);
const COPIED = Uint8Array.of(COPY_MARK);

/**
 * Whether what a delta makes has to be searched as a whole, because a part of a name may be in what it inserts, and the
 * rest in its base.
 * @param partial a search for such parts.
 */
export function mayHideName(partial: ByteSearch, delta: Uint8Array): boolean {
  let isFound = copiesBackwards(delta);
  const look = (bytes: Uint8Array, start: number, end: number): void => {
    isFound ||= partial.find(bytes, start, end) >= 0;
  };
  const inserts = new DeltaInserts({ inserted: look, copied: () => look(COPIED, 0, 1) });
  partial.reset();
  look(LINE_END, 0, 1);
  inserts.begin();
  inserts.take(delta);
  look(LINE_END, 0, 1);
  return isFound;
}

/** Cost: one look-up for each byte of the results. */
export function searchDeltaResults(
  search: ByteSearch,
  results: readonly DeltaResult[],
  maxHits: number,
): ContentHit[] {
  const hits: ContentHit[] = [];
  for (const result of results) {
    for (const { end, pattern } of newPlaces(search, result)) {
      if (hits.length === maxHits) return hits;
      const { type, oid, content } = result;
      const kind = type === 'tree' ? 'name' : 'content';
      hits.push({ excerpt: excerptAt(content, end - 1), kind, pattern, oid });
    }
  }
  return hits;
}

/** Where patterns end that no single copy holds. */
function* newPlaces(
  search: ByteSearch,
  { content, origins }: DeltaResult,
): Generator<{ readonly end: number; readonly pattern: number }> {
  const isNew = (end: number): boolean => {
    // Without the boundaries: upstream's words stay upstream's where something else follows them now.
    const start = Math.max(0, end - search.foundLength + 1);
    if (origins[start] === INSERTED) return true;
    return origins.subarray(start + 1, end - 1).some((origin) => origin !== COPY_CONTINUES);
  };
  search.reset();
  search.find(LINE_END, 0, 1);
  for (
    let end = search.find(content, 0, content.length);
    end >= 0;
    end = search.find(content, end, content.length)
  ) {
    if (isNew(end)) yield { end, pattern: search.found };
  }
  const end = content.length + 1;
  if (search.find(LINE_END, 0, 1) >= 0 && isNew(end)) yield { end, pattern: search.found };
}
