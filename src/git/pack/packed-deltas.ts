/**
 * What the deltas of a pack make: files and folders as they will be. For small packs, which are in memory as a whole.
 *
 * Some bases are not in the pack (a "thin" pack, gitformat-pack): they are named with their sizes, so that they can be
 * fetched. Whatever does not fit into the room is left out.
 */
import type { Memory } from '../memory.ts';
import { hashObject, type Oid } from '../oid.ts';
import { applyDelta, originsOf, parseDeltaHeader } from './delta.ts';
import { OBJ_BLOB, OBJ_OFS_DELTA, OBJ_REF_DELTA, OBJ_TREE } from './entry-header.ts';
import { type ContentListener, EntryWalker } from './entry-walker.ts';
import type { KeptObject } from './kept-objects.ts';
import { PACK_HEADER_BYTES } from './pack-header.ts';

export type FileObject = Omit<KeptObject, 'type'> & { readonly type: 'tree' | 'blob' };

export interface DeltaResult extends FileObject {
  /** Of each byte, where it is from: COPY_CONTINUES, COPY_BEGINS or INSERTED. */
  readonly origins: Uint8Array;
}

/** What an entry takes besides its content. */
const ENTRY_BYTES = 256;
/** A push that changes more files is mostly too large for the room anyway. */
const MAX_MISSING_BASES = 500;

/** A base: the offset of an entry, or an id. */
type BaseKey = number | Oid;

interface WaitingDelta {
  readonly offset: number;
  readonly delta: Uint8Array;
}

interface BaseObject {
  readonly type: 'tree' | 'blob';
  readonly content: Uint8Array;
}

export class PackedDeltas implements ContentListener {
  readonly results: DeltaResult[] = [];
  readonly #walker = new EntryWalker(this);
  readonly #full: { readonly offset: number; readonly object: BaseObject }[] = [];
  readonly #waiting = new Map<BaseKey, WaitingDelta[]>();
  readonly #memory: Pick<Memory, 'use'>;
  #roomBytes: number;
  #content = new Uint8Array(0);
  #filled = 0;

  /**
   * @param pieces the pack, in order, beginning with its header and without its trailer.
   * @param maxBytes for contents, deltas, bases and results together. @param memory where they are counted.
   * @throws what `memory` throws; so do the methods.
   */
  constructor(pieces: readonly Uint8Array[], maxBytes: number, memory: Pick<Memory, 'use'>) {
    this.#roomBytes = maxBytes;
    this.#memory = memory;
    let headerLeft = PACK_HEADER_BYTES;
    for (const piece of pieces) {
      const skipped = Math.min(headerLeft, piece.length);
      headerLeft -= skipped;
      this.#walker.walk(piece.subarray(skipped));
    }
    const hasIds = [...this.#waiting.keys()].some((key) => typeof key === 'string');
    for (const { offset, object } of this.#full) {
      this.#resolve(offset, object);
      if (hasIds) this.#resolve(hashObject(object.type, object.content), object);
    }
  }

  begin(type: number, size: number): boolean {
    const isWanted =
      type === OBJ_TREE || type === OBJ_BLOB || type === OBJ_OFS_DELTA || type === OBJ_REF_DELTA;
    if (!isWanted || !this.#take(ENTRY_BYTES + size)) return false;
    this.#content = new Uint8Array(size);
    this.#filled = 0;
    return true;
  }

  content(bytes: Uint8Array): void {
    this.#content.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }

  end(): void {
    const { type, offset } = this.#walker;
    const content = this.#content;
    if (type === OBJ_OFS_DELTA) this.#wait(offset - this.#walker.distance, { offset, delta: content });
    else if (type === OBJ_REF_DELTA) this.#wait(this.#walker.baseOid, { offset, delta: content });
    else this.#full.push({ offset, object: { type: type === OBJ_TREE ? 'tree' : 'blob', content } });
  }

  /**
   * The bases that the pack lacks, with their sizes, as far as there is room for them.
   * @param isWanted whether to resolve a delta: the others' bases are left out.
   */
  missingBases(isWanted: (delta: Uint8Array) => boolean): ReadonlyMap<Oid, number> {
    const missing = new Map<Oid, number>();
    for (const [key, deltas] of this.#waiting) {
      if (typeof key !== 'string' || missing.size === MAX_MISSING_BASES) continue;
      if (!this.#standsOn(deltas, isWanted)) continue;
      const [size = 0] = deltas.map(({ delta }) => parseDeltaHeader(delta).baseSize);
      if (this.#take(size)) missing.set(key, size);
    }
    return missing;
  }

  /** Resolves the deltas that stand on these objects, and whatever stands on those. */
  add(bases: Iterable<KeptObject>): void {
    for (const { type, oid, content } of bases) {
      if (type === 'tree' || type === 'blob') this.#resolve(oid, { type, content });
    }
  }

  /** Whether a wanted delta is among these, or in a chain on top of them. */
  #standsOn(deltas: readonly WaitingDelta[], isWanted: (delta: Uint8Array) => boolean): boolean {
    const chain = [...deltas];
    for (let next = chain.pop(); next !== undefined; next = chain.pop()) {
      if (isWanted(next.delta)) return true;
      chain.push(...(this.#waiting.get(next.offset) ?? []));
    }
    return false;
  }

  #wait(base: BaseKey, delta: WaitingDelta): void {
    const others = this.#waiting.get(base);
    if (others === undefined) this.#waiting.set(base, [delta]);
    else others.push(delta);
  }

  /** A chain of deltas may be long: no recursion. */
  #resolve(key: BaseKey, object: BaseObject): void {
    const known: [BaseKey, BaseObject][] = [[key, object]];
    for (let next = known.pop(); next !== undefined; next = known.pop()) {
      const [base, { type, content }] = next;
      const deltas = this.#waiting.get(base) ?? [];
      this.#waiting.delete(base);
      for (const { offset, delta } of deltas) {
        if (!this.#take(2 * parseDeltaHeader(delta).resultSize)) continue;
        const result = applyDelta(content, delta, Infinity);
        const oid = hashObject(type, result);
        this.results.push({ type, oid, content: result, origins: originsOf(delta) });
        known.push([offset, { type, content: result }], [oid, { type, content: result }]);
      }
    }
  }

  #take(bytes: number): boolean {
    if (bytes > this.#roomBytes) return false;
    this.#memory.use(bytes);
    this.#roomBytes -= bytes;
    return true;
  }
}
