/**
 * Finds commits and tags that are stored as deltas of later objects. They have passed the scanner,
 * because only the base tells what they are.
 * Proved by test/push/receive/late-deltas.test.ts.
 */
import type { Memory, MemoryClaim } from '../memory.ts';
import type { Oid } from '../objects/oid.ts';
import { ProtocolError, tooLarge } from '../wire/protocol-error.ts';
import { applyDelta, parseDeltaHeader } from './delta.ts';
import { isDelta } from './entry-header.ts';
import { EntryWalker, type StoredPack } from './entry-walker.ts';
import type { KeptObjects } from './kept-objects.ts';
import { PackedObjects } from './packed-objects.ts';

/** Maximum number of deltas that may turn out to be commits. */
const MAX_CANDIDATES = 50_000;
/** Memory of each: its offset, and the list of its base. */
const CANDIDATE_BYTES = 250;
/** Size of the smallest such entry: type and size, base, and compressed data. */
const SMALLEST_BYTES = 12;

/**
 * Makes the error for a ref-delta on a commit that is missing. It is a commit, too, and its content
 * cannot be known.
 */
export function hiddenCommit(): ProtocolError {
  return new ProtocolError(
    'not-rewritable',
    'The pack stores a commit as a delta of one that it does not contain, or that is a delta of it in turn.',
  );
}

/**
 * Keeps the commits and tags among the deltas that have passed.
 * @param pack has what passed.
 * @returns the offsets of those that are kept now.
 * @throws ProtocolError, and what `memory` throws.
 */
export async function keepLateDeltas(
  pack: StoredPack,
  kept: KeptObjects,
  memory: Memory,
): Promise<readonly number[]> {
  const claim = memory.claim();
  const objects = new PackedObjects(pack, memory);
  try {
    const candidates = await candidatesIn(pack, memory, claim);
    const found: number[] = [];
    const ready: { readonly offset: number; readonly base: Oid }[] = [];
    /**
     * Makes the deltas of a base ready.
     * @param place is the offset of the base, if that is a candidate itself.
     */
    const release = (base: Oid, place?: number): void => {
      for (const key of place === undefined ? [base] : [base, place]) {
        for (const offset of candidates.get(key) ?? []) ready.push({ offset, base });
        candidates.delete(key);
      }
    };
    for (const { oid } of kept.objects()) release(oid);
    for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
      const delta = await objects.deltaAt(next.offset);
      if (delta === null) {
        throw tooLarge(
          'The pack stores too many commits as deltas of later ones. Push fewer commits at once.',
        );
      }
      found.push(next.offset);
      release(await keep(kept, next.base, delta), next.offset);
    }
    return found.toSorted((a, b) => a - b);
  } finally {
    kept.endRoom();
    objects.free();
    claim.setNow(0);
  }
}

/**
 * Finds deltas whose type is not known yet, by their base: an object's id, or the offset of such a
 * delta.
 */
async function candidatesIn(
  pack: StoredPack,
  memory: Memory,
  claim: MemoryClaim,
): Promise<Map<number | Oid, number[]>> {
  const byBase = new Map<number | Oid, number[]>();
  const candidates = new Set<number>();
  const walker: EntryWalker = new EntryWalker(
    {
      begin: (type, _size, offset) => {
        const { base } = walker;
        if (!isDelta(type) || (typeof base === 'number' && !candidates.has(base))) return false;
        candidates.add(offset);
        if (candidates.size > MAX_CANDIDATES) {
          throw tooLarge(
            'The pack stores too many deltas whose base does not stand before them. Push fewer commits at once.',
          );
        }
        const others = byBase.get(base);
        if (others === undefined) byBase.set(base, [offset]);
        else others.push(offset);
        return false;
      },
    },
    memory,
  );
  await walker.walk(pack, 0, ({ length }) =>
    claim.set(CANDIDATE_BYTES * (candidates.size + Math.ceil(length / SMALLEST_BYTES))),
  );
  return byBase;
}

/**
 * Keeps the result of a delta.
 * @returns its id.
 */
async function keep(kept: KeptObjects, baseOid: Oid, delta: Uint8Array): Promise<Oid> {
  const { resultSize } = parseDeltaHeader(delta);
  await kept.makeRoom(Math.min(resultSize, Math.max(0, kept.roomBytes)));
  kept.reserve(resultSize);
  const base = kept.withOid(baseOid)!;
  // Nothing is looked up by its offset any more.
  return kept.add(base.type, applyDelta(base.content, delta, resultSize), Infinity).oid;
}
