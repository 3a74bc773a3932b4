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

export type FileObject = Omit<KeptObject, 'type'> & { readonly type: 'tree' | 'blob' };

export interface DeltaResult extends FileObject {
  /** Where the delta begins in the pack. */
  readonly offset: number;
  /** Of each byte, where it is from: COPY_CONTINUES, COPY_BEGINS or INSERTED. */
  readonly origins: Uint8Array;
}

/** What an entry takes besides its content. */
const ENTRY_BYTES = 256;
/** What a delta makes, and where it is from. */
const RESULT_COPIES = 2;
/** A push that changes more files is mostly too large for the room anyway. */
const MAX_MISSING_BASES = 500;
/** More are not remembered: what stands on them is left out. */
const MAX_BASES = 10_000;

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
  readonly #bases: Bases;
  /** Objects that are no deltas, but bases of some. */
  readonly #full: (readonly [BaseKey, BaseObject])[] = [];
  readonly #waiting = new Map<BaseKey, WaitingDelta[]>();
  readonly #memory: Pick<Memory, 'use' | 'free'>;
  #roomBytes: number;
  /** Of the current entry. */
  #type = OBJ_BLOB;
  #offset = 0;
  #content = new Uint8Array(0);
  #filled = 0;
  /** Whether there was room for all entries and all that they make. */
  #isWhole = true;
  /** Whether the client names an object of this pack by its id, where others name its place. */
  #namesOwnObjects = false;

  /**
   * @param pieces the pack, in order, beginning with its header and without its trailer.
   * @param maxBytes for contents, deltas, bases and results together. @param memory where they are counted.
   * @throws what `memory` throws; so do the methods.
   */
  constructor(pieces: readonly Uint8Array[], maxBytes: number, memory: Pick<Memory, 'use' | 'free'>) {
    this.#roomBytes = maxBytes;
    this.#memory = memory;
    this.#bases = basesIn(pieces);
    this.#isWhole = !this.#bases.isCut;
    for (const piece of pieces) this.#walker.walk(piece);
    for (const [key, object] of this.#full) this.#resolve(key, object);
  }

  begin(type: number, size: number, offset: number): boolean {
    const isFull = type === OBJ_TREE || type === OBJ_BLOB;
    if (!isDelta(type) && !(isFull && this.#mayBeBase(offset))) return false;
    if (!this.#take(ENTRY_BYTES + size)) {
      this.#isWhole = false;
      return false;
    }
    this.#type = type;
    this.#offset = offset;
    this.#content = new Uint8Array(size);
    this.#filled = 0;
    return true;
  }

  content(bytes: Uint8Array): void {
    this.#content.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }

  end(): void {
    const [type, offset, content] = [this.#type, this.#offset, this.#content];
    if (type === OBJ_OFS_DELTA) this.#wait(offset - this.#walker.distance, { offset, delta: content });
    else if (type === OBJ_REF_DELTA) this.#wait(this.#walker.baseOid, { offset, delta: content });
    else this.#keepBase(offset, { type: type === OBJ_TREE ? 'tree' : 'blob', content });
  }

  /** What the missing bases take, and what is made of them, as far as there is room for it. */
  get waitingBytes(): number {
    let bytes = 0;
    for (const deltas of this.#waiting.values()) {
      const headers = deltas.map(({ delta }) => parseDeltaHeader(delta));
      bytes += headers[0]?.baseSize ?? 0;
      for (const { resultSize } of headers) bytes += RESULT_COPIES * resultSize;
    }
    return Math.min(bytes, this.#roomBytes);
  }

  /**
   * The bases that the pack lacks, with their sizes, as far as there is room for them. None if one of the ids might be
   * that of a new object: nobody is to be asked for it.
   * @param isWanted whether to resolve a delta. If one is wanted, all are resolved: whoever is asked for the bases of
   * some would learn what they have in common.
   */
  missingBases(isWanted: (delta: Uint8Array) => boolean): ReadonlyMap<Oid, number> {
    const missing = new Map<Oid, number>();
    const usesOffsets = this.#bases.offsets.size > 0;
    if (this.#namesOwnObjects || (!this.#isWhole && !usesOffsets)) return missing;
    const all = [...this.#waiting.values()].flat();
    if (!all.some(({ delta }) => isWanted(delta))) return missing;
    for (const [key, deltas] of this.#waiting) {
      if (typeof key !== 'string' || missing.size === MAX_MISSING_BASES) continue;
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

  /** Its id is known only when it has been read. */
  #mayBeBase(offset: number): boolean {
    return this.#bases.offsets.has(offset) || this.#bases.oids.size > 0;
  }

  #keepBase(offset: number, object: BaseObject): void {
    const { offsets, oids } = this.#bases;
    if (offsets.has(offset)) this.#full.push([offset, object]);
    const oid = oids.size > 0 ? hashObject(object.type, object.content) : null;
    if (oid !== null && oids.has(oid)) {
      this.#full.push([oid, object]);
      this.#namesOwnObjects = true;
    } else if (!offsets.has(offset)) this.#giveBack(ENTRY_BYTES + object.content.length);
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
        if (!this.#take(RESULT_COPIES * parseDeltaHeader(delta).resultSize)) {
          this.#isWhole = false;
          continue;
        }
        const result = applyDelta(content, delta, Infinity);
        const oid = hashObject(type, result);
        this.results.push({ type, oid, offset, content: result, origins: originsOf(delta) });
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

  #giveBack(bytes: number): void {
    this.#memory.free(bytes);
    this.#roomBytes += bytes;
  }
}

function isDelta(type: number): boolean {
  return type === OBJ_OFS_DELTA || type === OBJ_REF_DELTA;
}

/** What the deltas of a pack stand on. */
interface Bases {
  readonly offsets: ReadonlySet<number>;
  readonly oids: ReadonlySet<Oid>;
  /** There are more. */
  readonly isCut: boolean;
}

function basesIn(pieces: readonly Uint8Array[]): Bases {
  const [offsets, oids] = [new Set<number>(), new Set<Oid>()];
  let isCut = false;
  const walker: EntryWalker = new EntryWalker({
    begin: (type, _, offset) => {
      if (offsets.size + oids.size >= MAX_BASES) isCut = true;
      else if (type === OBJ_OFS_DELTA) offsets.add(offset - walker.distance);
      else if (type === OBJ_REF_DELTA) oids.add(walker.baseOid);
      return false;
    },
    content: () => {},
    end: () => {},
  });
  for (const piece of pieces) walker.walk(piece);
  return { offsets, oids, isCut };
}
