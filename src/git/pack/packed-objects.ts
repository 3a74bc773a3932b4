/**
 * Reads single objects of a stored pack, and applies deltas. Objects beyond its limits are not
 * read.
 * Proved by test/edit/changes.test.ts and test/git/search/pack-search.test.ts.
 */
import type { Memory, MemoryClaim } from '../memory.ts';
import type { Oid } from '../objects/oid.ts';
import { applyDelta, parseDeltaHeader } from './delta.ts';
import { isDelta, OBJ_TREE } from './entry-header.ts';
import { EntryWalker, type StoredPack } from './entry-walker.ts';
import type { KeptObject } from './kept-objects.ts';

export interface FileObject {
  readonly type: 'tree' | 'blob';
  readonly content: Uint8Array;
}

export interface PackedObject extends FileObject {
  /** The delta that the pack has of it, or null if it has the whole object. */
  readonly delta: Uint8Array | null;
}

/**
 * The result of a look-up. `no-base` is a delta on an object that neither the pack has nor was
 * added. `too-much` is beyond a limit.
 */
export type LookUp = PackedObject | 'no-base' | 'too-much';

/** Maximum size of all objects in memory. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
/** Maximum size of all that is inflated, and made by deltas. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
/**
 * Times that a delta counts in addition when it is applied. An instruction of two bytes costs as
 * much as one that copies a line. Those of Git are at most half as long as what they make.
 */
const WORK_OF_DELTA = 4;
/** Maximum number of entries that are read to look objects up, be the pack in memory or not. */
const MAX_LOOK_UP_READS = 20_000;

interface Entry {
  readonly offset: number;
  readonly type: FileObject['type'] | 'delta';
  readonly base: number | Oid;
  readonly content: Uint8Array;
}

export class PackedObjects {
  /** The memory of the request. */
  readonly memory: Memory;
  readonly #pack: StoredPack;
  readonly #claim: MemoryClaim;
  readonly #walker: EntryWalker;
  /** Objects that were looked up, the oldest first. */
  readonly #recent = new Map<number, PackedObject>();
  /** Objects that deltas name by ids: those of upstream, and the offsets of the pack's own. */
  readonly #named = new Map<Oid, FileObject | number>();
  #entry: Entry | null = null;
  #filled = 0;
  #keptBytes = 0;
  #readBytesLeft = MAX_READ_BYTES;
  #readsLeft: number;
  #lookUpReadsLeft = MAX_LOOK_UP_READS;
  /** The offsets of deltas whose base is missing, until another object is added. */
  readonly #baseless = new Set<number>();

  /**
   * Opens a pack.
   * @param memory counts its objects until `free`. All methods throw what it throws.
   */
  constructor(pack: StoredPack, memory: Memory) {
    this.memory = memory;
    this.#pack = pack;
    this.#readsLeft = pack.maxReads;
    this.#claim = memory.claim();
    const listener = {
      begin: (type: number, size: number, offset: number) => this.#begin(type, size, offset),
      content: (bytes: Uint8Array) => this.#content(bytes),
      end: () => this.#walker.stop(),
    };
    this.#walker = new EntryWalker(listener, memory);
  }

  /** Counts bytes ahead, up to what it may keep, after a wait if necessary. */
  makeRoom(bytes: number): Promise<void> {
    return this.#claim.set(Math.min(MAX_KEPT_BYTES, this.#keptBytes + bytes));
  }

  free(): void {
    this.#claim.setNow(0);
    this.#keptBytes = 0;
    this.#recent.clear();
  }

  /**
   * Makes room for another object, and counts it.
   * @returns false if there is none.
   */
  reserve(bytes: number): boolean {
    for (const [offset, object] of this.#recent) {
      if (this.#keptBytes + bytes <= MAX_KEPT_BYTES) break;
      this.#recent.delete(offset);
      this.#keptBytes -= object.content.length + (object.delta?.length ?? 0);
    }
    if (this.#keptBytes + bytes > MAX_KEPT_BYTES) return false;
    this.#keptBytes += bytes;
    if (this.#keptBytes > this.#claim.bytes) this.#claim.setNow(this.#keptBytes);
    return true;
  }

  /** Adds an object of upstream. There must be room for it. */
  add({ type, oid, content }: KeptObject): void {
    if (type === 'tree' || type === 'blob') this.#name(oid, { type, content });
  }

  /** Notes where an object of the pack begins that its deltas name by the id. */
  locate(oid: Oid, offset: number): void {
    this.#name(oid, offset);
  }

  #name(oid: Oid, object: FileObject | number): void {
    this.#named.set(oid, object);
    this.#baseless.clear();
  }

  /**
   * Returns the object whose entry begins at an offset. There is no recursion, because chains of
   * deltas are long.
   * @throws ProtocolError `bad-pack`
   */
  async at(offset: number): Promise<LookUp> {
    const deltas: Entry[] = [];
    try {
      let object: FileObject | number = offset;
      while (typeof object === 'number') {
        if (this.#baseless.has(object)) return this.#withoutBase(deltas);
        const recent = this.#recent.get(object);
        if (recent === undefined && --this.#lookUpReadsLeft < 0) return 'too-much';
        const entry: Entry | null = recent === undefined ? await this.#read(object) : null;
        if (recent !== undefined) object = recent;
        else if (entry === null) return 'too-much';
        else if (entry.type !== 'delta') {
          object = this.#keep(object, { type: entry.type, content: entry.content, delta: null });
        } else {
          deltas.push(entry);
          const base: FileObject | number | undefined =
            typeof entry.base === 'number' ? entry.base : this.#named.get(entry.base);
          if (base === undefined) return this.#withoutBase(deltas);
          object = base;
        }
      }
      for (let next = deltas.at(-1); next !== undefined; next = deltas.at(-1)) {
        const work = WORK_OF_DELTA * next.content.length;
        if (!this.#mayMake(parseDeltaHeader(next.content).resultSize, work)) return 'too-much';
        const content = applyDelta(object.content, next.content, Infinity);
        await this.memory.worked(content.length + work);
        object = this.#keep(next.offset, { type: object.type, content, delta: next.content });
        deltas.pop();
      }
      return object as PackedObject;
    } finally {
      for (const { content } of deltas) this.#keptBytes -= content.length;
    }
  }

  /** Remembers that the base of these deltas is missing: thousands may need the same one. */
  #withoutBase(deltas: readonly Entry[]): 'no-base' {
    for (const { offset } of deltas) this.#baseless.add(offset);
    return 'no-base';
  }

  /** Returns the delta that the pack stores at an offset, or null if it is beyond a limit. */
  async deltaAt(offset: number): Promise<Uint8Array | null> {
    const entry = await this.#read(offset);
    this.#keptBytes -= entry?.content.length ?? 0;
    return entry?.content ?? null;
  }

  #keep(offset: number, object: PackedObject): PackedObject {
    this.#recent.set(offset, object);
    return object;
  }

  #mayMake(bytes: number, work = 0): boolean {
    if (bytes + work > this.#readBytesLeft || !this.reserve(bytes)) return false;
    this.#readBytesLeft -= bytes + work;
    return true;
  }

  /** Reads an entry, and counts its content. */
  async #read(offset: number): Promise<Entry | null> {
    this.#entry = null;
    if (--this.#readsLeft < 0) return null;
    await this.#walker.walk(this.#pack, offset);
    return this.#entry;
  }

  #begin(type: number, size: number, offset: number): boolean {
    if (!this.#mayMake(size)) {
      this.#walker.stop();
      return false;
    }
    this.#filled = 0;
    const kind = isDelta(type) ? 'delta' : type === OBJ_TREE ? 'tree' : 'blob';
    this.#entry = { offset, type: kind, base: this.#walker.base, content: new Uint8Array(size) };
    return true;
  }

  #content(bytes: Uint8Array): void {
    this.#entry?.content.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }
}
