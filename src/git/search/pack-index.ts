/**
 * The files and folders of a small pack by their ids. What is a delta of upstream's objects gets its id once these were
 * added.
 */
import type { Hash } from 'node:crypto';
import { hashObject, type Oid } from '../objects/oid.ts';
import { parseDeltaHeader } from '../pack/delta.ts';
import { OBJ_BLOB, OBJ_REF_DELTA, OBJ_TREE } from '../pack/entry-header.ts';
import { EntryWalker } from '../pack/entry-walker.ts';
import type { KeptObject } from '../pack/kept-objects.ts';
import { ProtocolError } from '../wire/protocol-error.ts';
import { beginHash, type FileObject, type PackedObjects, type SearchedPack, walk } from './packed-objects.ts';

/** More are not resolved. */
const MAX_DELTAS = 2_000;

interface Place {
  readonly type: FileObject['type'];
  readonly offset: number;
  /** Inflated. */
  readonly size: number;
}

interface Delta {
  readonly offset: number;
  /** If it names its base by an id. */
  readonly base: Oid | null;
}

export class PackIndex {
  readonly #pack: SearchedPack;
  readonly #objects: PackedObjects;
  readonly #places = new Map<Oid, Place>();
  /** Those whose base is not there yet. */
  #waiting: Delta[] = [];
  /** What they name, with its size; null: not known yet. */
  readonly #bases = new Map<Oid, number | null>();

  /** Whether something is too much to be looked into. */
  #isCut = false;

  private constructor(pack: SearchedPack, objects: PackedObjects) {
    this.#pack = pack;
    this.#objects = objects;
  }

  /** Cost: the pack is inflated, and its deltas are resolved. @throws what the memory of `objects` throws. */
  static async of(pack: SearchedPack, objects: PackedObjects): Promise<PackIndex> {
    const index = new PackIndex(pack, objects);
    await index.#walk();
    await index.#resolve(null);
    return index;
  }

  /** What deltas stand on that are not resolved, with their sizes in bytes. Some may be objects of this very pack. */
  async missingBases(): Promise<ReadonlyMap<Oid, number>> {
    const missing = new Map<Oid, number>();
    for (const { offset, base } of this.#waiting) {
      if (base === null || this.#places.has(base)) continue;
      let size = this.#bases.get(base) ?? null;
      if (size === null) {
        const delta = await this.#objects.deltaAt(offset, true);
        if (delta === null) continue;
        size = parseDeltaHeader(delta).baseSize;
        this.#bases.set(base, size);
      }
      missing.set(base, size);
    }
    return missing;
  }

  /** Objects of upstream. */
  async add(objects: Iterable<KeptObject>): Promise<void> {
    const added = [...objects];
    this.#objects.add(added);
    await this.#resolve(new Set(added.map(({ oid }) => oid)));
  }

  /** Whether the ids of all that is in the pack are known. */
  get isComplete(): boolean {
    return this.#waiting.length === 0 && !this.#isCut;
  }

  /** The ids of its files, as far as they are known. */
  files(): Oid[] {
    return [...this.#places].flatMap(([oid, { type }]) => (type === 'blob' ? oid : []));
  }

  /** In bytes; null: it is not known to be in the pack. */
  sizeOf(oid: Oid): number | null {
    return this.#places.get(oid)?.size ?? null;
  }

  /** Null: it is not known to be in the pack, or too much. */
  async read(oid: Oid): Promise<FileObject | null> {
    const place = this.#places.get(oid);
    if (place === undefined) return null;
    const object = await this.#objects.at(place.offset);
    return typeof object === 'object' ? object : null;
  }

  async #walk(): Promise<void> {
    let hash: Hash | null = null;
    let place: Place = { type: 'blob', offset: 0, size: 0 };
    const walker: EntryWalker = new EntryWalker({
      begin: (type, size, offset) => {
        place = { type: type === OBJ_TREE ? 'tree' : 'blob', offset, size };
        const isWhole = type === OBJ_TREE || type === OBJ_BLOB;
        hash = isWhole ? beginHash(type, size) : null;
        if (!isWhole && this.#waiting.length === MAX_DELTAS) this.#isCut = true;
        else if (!isWhole) {
          const base = type === OBJ_REF_DELTA ? walker.baseOid : null;
          if (base !== null) this.#bases.set(base, null);
          this.#waiting.push({ offset, base });
        }
        return isWhole;
      },
      content: (bytes) => void hash?.update(bytes),
      end: () => {
        if (hash !== null) this.#places.set(hash.digest('hex'), place);
      },
    });
    await walk(this.#pack, walker, 0);
  }

  /** As far as it goes. @param added null: each delta is tried, or else those that may stand on these. */
  async #resolve(added: ReadonlySet<Oid> | null): Promise<void> {
    if (this.#bases.size > 0) await this.#objects.findOwn(this.#bases);
    const waiting: Delta[] = [];
    for (const delta of this.#waiting) {
      const { offset, base } = delta;
      const isNear = added === null || base === null || added.has(base) || this.#places.has(base);
      const place = isNear ? await this.#placeOf(offset) : 'no-base';
      if (place === 'no-base') waiting.push(delta);
      else if (place === 'lost') this.#isCut = true;
      else this.#places.set(place.oid, place);
    }
    this.#waiting = waiting;
  }

  async #placeOf(offset: number): Promise<(Place & { readonly oid: Oid }) | 'no-base' | 'lost'> {
    try {
      const object = await this.#objects.at(offset);
      if (object === 'no-base') return object;
      if (object === 'too-much') return 'lost';
      const { type, content } = object;
      return { oid: hashObject(type, content), type, offset, size: content.byteLength };
    } catch (error) {
      // The host refuses a damaged delta.
      if (error instanceof ProtocolError) return 'lost';
      throw error;
    }
  }
}
