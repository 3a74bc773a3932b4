/**
 * Commits and tags that a pack stores as deltas of objects behind them, or of deltas of such objects. They have passed
 * as anything else, because what a delta makes is known only with its base.
 *
 * Cost: one walk over the stored entries, and one read for each entry that is found. No recursion, however long a chain
 * is. Deltas of each other have no base that can be had, and stay where they are.
 */
import type { Memory } from '../memory.ts';
import { NumberList } from '../number-list.ts';
import type { Oid } from '../objects/oid.ts';
import { OidTable } from '../objects/oid-table.ts';
import { ProtocolError } from '../wire/protocol-error.ts';
import { applyDelta, parseDeltaHeader } from './delta.ts';
import { OBJ_OFS_DELTA, OBJ_REF_DELTA } from './entry-header.ts';
import { EntryWalker } from './entry-walker.ts';
import type { KeptObjects } from './kept-objects.ts';
import { NAMED_BASE_BYTES } from './memory-limits.ts';
import { PackedObjects, type StoredPack } from './packed-objects.ts';

/** Deltas that may turn out to be commits. */
const MAX_CANDIDATES = 200_000;
/** Of each: its place, its base, and its neighbour among the deltas of that base. */
const CANDIDATE_BYTES = 48 + NAMED_BASE_BYTES;
/** The smallest entry that is a candidate: type and size, base, and compressed data. */
const SMALLEST_BYTES = 12;
/** Ends a list. */
const NONE = 2 ** 32 - 1;

/**
 * Keeps them.
 * @param pack the entries that have passed. @returns where they begin in it, in order.
 * @throws ProtocolError `too-large`, `bad-pack`; what `memory` throws.
 */
export async function keepLateDeltas(
  pack: StoredPack,
  kept: KeptObjects,
  memory: Memory,
): Promise<readonly number[]> {
  const share = memory.share();
  const objects = new PackedObjects(pack, memory);
  try {
    const candidates = new Candidates();
    for await (const piece of pack.read(0)) {
      await share.set(CANDIDATE_BYTES * (candidates.size + Math.ceil(piece.length / SMALLEST_BYTES)));
      candidates.walk(piece);
    }
    const found: number[] = [];
    const ready: { readonly candidate: number; readonly base: Oid }[] = [];
    const release = (list: Iterable<number>, base: Oid): void => {
      for (const candidate of list) ready.push({ candidate, base });
    };
    for (const { oid } of kept.objects()) release(candidates.takeNaming(oid), oid);
    for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
      const offset = candidates.offsetOf(next.candidate);
      const delta = await objects.deltaAt(offset);
      if (delta === null) throw tooMany();
      const { oid } = await keep(kept, next.base, delta);
      found.push(offset);
      release(candidates.on(next.candidate), oid);
      release(candidates.takeNaming(oid), oid);
    }
    return found.toSorted((a, b) => a - b);
  } finally {
    kept.endRoom();
    objects.free();
    share.setNow(0);
  }
}

async function keep(kept: KeptObjects, baseOid: Oid, delta: Uint8Array) {
  const { resultSize } = parseDeltaHeader(delta);
  await kept.makeRoom(Math.min(resultSize, Math.max(0, kept.roomBytes)));
  kept.reserve(resultSize);
  const base = kept.withOid(baseOid)!;
  // Nothing is looked up by its offset any more.
  return kept.add(base.type, applyDelta(base.content, delta, resultSize), Infinity);
}

/** Deltas whose type nobody knows yet: of an object by its id, and of such a delta. */
class Candidates {
  readonly #walker = new EntryWalker({
    begin: (type, _size, offset) => {
      if (type === OBJ_REF_DELTA) this.#addNaming(offset, this.#walker.baseOid);
      else if (type === OBJ_OFS_DELTA) this.#addOn(offset, offset - this.#walker.distance);
      return false;
    },
    content: () => {},
    end: () => {},
  });
  /** Of each, in the order of the pack. */
  readonly #offsets = new NumberList('float64');
  readonly #next = new NumberList('uint32');
  /** The first that is a delta of it. */
  readonly #firstOn = new NumberList('uint32');
  readonly #bases = new OidTable();
  readonly #firstNaming = new NumberList('uint32');

  constructor() {
    this.#walker.beginAt(0);
  }

  get size(): number {
    return this.#offsets.length;
  }

  walk(bytes: Uint8Array): void {
    this.#walker.walk(bytes);
  }

  offsetOf(candidate: number): number {
    return this.#offsets.at(candidate);
  }

  on(candidate: number): Generator<number> {
    return this.#list(this.#firstOn.at(candidate));
  }

  /** Those that name it as their base; the second time, none. */
  takeNaming(oid: Oid): Generator<number> {
    const base = this.#bases.indexOf(oid);
    const first = base < 0 ? NONE : this.#firstNaming.at(base);
    if (base >= 0) this.#firstNaming.set(base, NONE);
    return this.#list(first);
  }

  *#list(first: number): Generator<number> {
    for (let candidate = first; candidate !== NONE; candidate = this.#next.at(candidate)) yield candidate;
  }

  #addNaming(offset: number, oid: Oid): void {
    const base = this.#bases.add(oid);
    if (base === this.#firstNaming.length) this.#firstNaming.push(NONE);
    this.#add(offset, this.#firstNaming, base);
  }

  #addOn(offset: number, baseOffset: number): void {
    const base = this.#at(baseOffset);
    if (base !== NONE) this.#add(offset, this.#firstOn, base);
  }

  #add(offset: number, first: NumberList, base: number): void {
    if (this.size === MAX_CANDIDATES) throw tooMany();
    this.#next.push(first.at(base));
    first.set(base, this.size);
    this.#offsets.push(offset);
    this.#firstOn.push(NONE);
  }

  /** The candidate that begins there. */
  #at(offset: number): number {
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#offsets.at(middle) < offset) low = middle + 1;
      else high = middle;
    }
    return low < this.size && this.#offsets.at(low) === offset ? low : NONE;
  }
}

function tooMany(): ProtocolError {
  return new ProtocolError(
    'too-large',
    'The pack stores too many commits as deltas of later ones. Push fewer commits at once.',
  );
}
