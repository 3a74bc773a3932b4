/**
 * Finds the ids of all objects in a stored pack, and of the bases of its deltas that are outside of
 * it. Deltas on those can be resolved after they were added.
 * Proved by test/edit/changes.test.ts and test/git/search/pack-search.test.ts.
 */
import { createHash, type Hash } from 'node:crypto';
import { hashObject, type Oid } from '../objects/oid.ts';
import { ProtocolError } from '../wire/protocol-error.ts';
import { MAX_DELTA_HEADER_BYTES, parseDeltaHeader } from './delta.ts';
import { isDelta, OBJ_BLOB, OBJ_OFS_DELTA, OBJ_REF_DELTA, OBJ_TREE, OBJECT_TYPES } from './entry-header.ts';
import { type ContentListener, EntryWalker, shownToBoth, type StoredPack } from './entry-walker.ts';
import type { KeptObject } from './kept-objects.ts';
import type { FileObject, PackedObjects } from './packed-objects.ts';

const MAX_DELTAS = 2_000;
/**
 * Maximum number of whole objects that are remembered until the end of the pack, because deltas may
 * name them by their ids.
 */
const MAX_WHOLE = 4_000;
/** Maximum size of a folder whose content is shown. */
export const MAX_TREE_BYTES = 256 * 1024;

export interface IndexedObject {
  readonly type: FileObject['type'];
  readonly oid: Oid;
  readonly offset: number;
  readonly size: number;
  /** True if the pack has the whole object, not a delta. */
  readonly isWhole: boolean;
  /** The content of a folder. It is null if that is too large, or for a file. */
  readonly tree: Uint8Array | null;
}

export class PackIndex {
  readonly #objects: PackedObjects;
  readonly #found: (object: IndexedObject) => void;
  readonly #isOfFolders: boolean;
  /** The offsets of deltas that are not resolved, by the offset or the id of their base. */
  readonly #waiting = new Map<number | Oid, number[]>();
  /** The objects that deltas name by ids, with their sizes in bytes. */
  readonly #named = new Map<Oid, number>();
  /** The size of the result of deltas that name their base by an id, in bytes, by their offsets. */
  readonly #sizesMade = new Map<number, number>();
  /** Objects that are available, and for which deltas may wait. */
  readonly #ready: (number | Oid)[] = [];
  /** True if a delta is known to name an object of this pack by its id. */
  namesOwn = false;
  #hasMoreWhole = false;
  /** True if something is beyond a limit. */
  #isCut = false;

  private constructor(objects: PackedObjects, found: (object: IndexedObject) => void, isOfFolders: boolean) {
    this.#objects = objects;
    this.#found = found;
    this.#isOfFolders = isOfFolders;
  }

  /**
   * Reads a pack. Until `resolve`, only whole objects are known.
   * @param found gets each object whose id is known.
   * @param isOfFolders leaves out files, except those that may be folders.
   * @param beside is also shown all entries, each one first.
   */
  static async of(
    pack: StoredPack,
    objects: PackedObjects,
    found: (object: IndexedObject) => void,
    { isOfFolders = false, beside }: { isOfFolders?: boolean; beside?: ContentListener } = {},
  ): Promise<PackIndex> {
    const index = new PackIndex(objects, found, isOfFolders);
    await index.#walk(pack, beside);
    return index;
  }

  /** Resolves each delta whose base is available, and all deltas that are based on it. */
  async resolve(): Promise<void> {
    for (let base = this.#ready.pop(); base !== undefined; base = this.#ready.pop()) {
      const deltas = this.#waiting.get(base) ?? [];
      this.#waiting.delete(base);
      for (const offset of deltas) {
        const object = await this.#objects.at(offset).catch(unlessDamaged);
        if (typeof object !== 'object') {
          this.#isCut = true;
          continue;
        }
        const { type, content } = object;
        const oid = hashObject(type, content);
        this.#own(oid, offset);
        this.#ready.push(offset);
        const tree = type === 'tree' ? content : null;
        this.#found({ type, oid, offset, size: content.length, isWhole: false, tree });
      }
    }
  }

  /** Adds objects of upstream, for deltas that `resolve` resolves. */
  add(objects: Iterable<KeptObject>): void {
    for (const object of objects) {
      this.#objects.add(object);
      this.#ready.push(object.oid);
    }
  }

  /**
   * Returns the named bases of deltas that are not resolved, with their sizes in bytes. They may be
   * in this very pack.
   */
  get missingBases(): ReadonlyMap<Oid, number> {
    return new Map([...this.#named].filter(([oid]) => this.#waiting.has(oid)));
  }

  /**
   * Tells if a delta may name an object of this pack: not all is known, or a named base has the
   * size of another delta's result.
   */
  get mayNameOwn(): boolean {
    if (this.#isCut || this.#hasMoreWhole) return true;
    const missing = [...this.missingBases];
    return [...this.#waiting].some(([base, deltas]) => {
      const sizes = new Set(deltas.map((offset) => this.#sizesMade.get(offset)));
      return missing.some(([oid, size]) => oid !== base && sizes.has(size));
    });
  }

  /** Tells if the ids of all objects in the pack are known. */
  get isComplete(): boolean {
    return this.#waiting.size === 0 && !this.#isCut;
  }

  /** Returns the offsets of deltas that are not resolved. */
  get unresolved(): readonly number[] {
    return [...this.#waiting.values()].flat();
  }

  async #walk(pack: StoredPack, beside?: ContentListener): Promise<void> {
    const whole = new Map<Oid, number>();
    const deltas = new Set<number>();
    /** The offsets of files, which are left out. */
    const files = new Set<number>();
    let at = { type: OBJ_BLOB, size: 0, offset: 0 };
    let hash: Hash | null = null;
    let kept: Uint8Array[] = [];
    let keptLeft = 0;
    const own: ContentListener = {
      begin: (type, size, offset) => {
        const isOfFile = type === OBJ_BLOB || (type === OBJ_OFS_DELTA && files.has(walker.base as number));
        if (this.#isOfFolders && isOfFile) {
          files.add(offset);
          return false;
        }
        at = { type, size, offset };
        hash = isDelta(type) ? null : createHash('sha1').update(`${OBJECT_TYPES[type]} ${size}\0`);
        [kept, keptLeft] = [[], keptBytes(type, size)];
        if (hash !== null) return true;
        if (deltas.size === MAX_DELTAS) {
          this.#isCut = true;
          return false;
        }
        deltas.add(offset);
        this.#wait(walker.base, offset);
        return type === OBJ_REF_DELTA;
      },
      content: (bytes) => {
        hash?.update(bytes);
        if (keptLeft > 0) kept.push(bytes.slice(0, keptLeft));
        keptLeft = Math.max(0, keptLeft - bytes.length);
      },
      end: () => {
        const head = Buffer.concat(kept);
        if (hash === null) return this.#nameBase(walker.base as Oid, at.offset, head);
        const oid = hash.digest('hex');
        if (whole.size < MAX_WHOLE) whole.set(oid, at.offset);
        else this.#hasMoreWhole = true;
        this.#found(wholeObject(oid, at, head));
      },
    };
    const walker: EntryWalker = new EntryWalker(
      beside === undefined ? own : shownToBoth(beside, own),
      this.#objects.memory,
    );
    await walker.walk(pack, 0);
    this.#begin(deltas, whole);
  }

  /** Finds the deltas that can be resolved at once: their bases are whole. */
  #begin(deltas: ReadonlySet<number>, whole: ReadonlyMap<Oid, number>): void {
    for (const base of this.#waiting.keys()) {
      if (typeof base === 'number' && !deltas.has(base)) this.#ready.push(base);
      else if (typeof base === 'string' && whole.has(base)) this.#own(base, whole.get(base) as number);
    }
  }

  /** Notes a delta that is resolved once its base is available. */
  #wait(base: number | Oid, offset: number): void {
    const others = this.#waiting.get(base);
    if (others === undefined) this.#waiting.set(base, [offset]);
    else others.push(offset);
  }

  /** Notes the base that a delta names by its id. @param head has the delta's sizes. */
  #nameBase(base: Oid, offset: number, head: Uint8Array): void {
    const { baseSize, resultSize } = parseDeltaHeader(head);
    this.#named.set(base, baseSize);
    this.#sizesMade.set(offset, resultSize);
  }

  #own(oid: Oid, offset: number): void {
    if (!this.#named.has(oid)) return;
    this.namesOwn = true;
    this.#objects.locate(oid, offset);
    this.#ready.push(oid);
  }
}

/** Treats a damaged delta as too much. The host refuses it. */
function unlessDamaged(error: unknown): 'too-much' {
  if (error instanceof ProtocolError) return 'too-much';
  throw error;
}

/** @param head its content, if it is a folder that is not too large. */
function wholeObject(
  oid: Oid,
  { type, size, offset }: { readonly type: number; readonly size: number; readonly offset: number },
  head: Uint8Array,
): IndexedObject {
  const isTree = type === OBJ_TREE;
  const tree = isTree && size <= MAX_TREE_BYTES ? head : null;
  return { type: isTree ? 'tree' : 'blob', oid, offset, size, isWhole: true, tree };
}

/** Tells how much of an entry is kept: a folder, or the sizes of a delta. */
function keptBytes(type: number, size: number): number {
  if (type === OBJ_REF_DELTA) return MAX_DELTA_HEADER_BYTES;
  return type === OBJ_TREE && size <= MAX_TREE_BYTES ? size : 0;
}
