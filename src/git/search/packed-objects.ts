/**
 * Files and folders of a pack, looked up one by one: few are needed, so nothing is kept of the others. What stands on
 * objects outside of the pack (a "thin" pack, gitformat-pack) can be had once these are added.
 *
 * Everything is bounded: what is kept, and what is read and made in all. What passes a bound is not there.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Memory, MemoryShare } from '../memory.ts';
import { hashObject, type Oid } from '../objects/oid.ts';
import { applyDelta, parseDeltaHeader } from '../pack/delta.ts';
import { OBJ_BLOB, OBJ_OFS_DELTA, OBJ_REF_DELTA, OBJ_TREE } from '../pack/entry-header.ts';
import { EntryWalker } from '../pack/entry-walker.ts';
import type { KeptObject } from '../pack/kept-objects.ts';

/** Entries of a pack other than commits and tags. */
export interface SearchedPack {
  /**
   * The entries one behind the other, without the pack's header and trailer. It is called several times, and rarely
   * read to the end.
   * @param start where to begin: the offset of an entry. The first one has 0, and distances of deltas count the same.
   */
  read(start: number): AsyncIterable<Uint8Array>;
  readonly byteLength: number;
  /** How often single objects may be read from it. From a memory it costs nothing, elsewhere a request. */
  readonly maxReads: number;
}

export interface FileObject {
  readonly type: 'tree' | 'blob';
  readonly content: Uint8Array;
}

export interface PackedObject extends FileObject {
  /** Null: the pack has all of it. */
  readonly delta: Uint8Array | null;
}

/** What stands behind an offset: `no-base` stands on an object that neither the pack has nor was added. */
export type LookUp = PackedObject | 'no-base' | 'too-much';

/** What is in memory at once. */
export const MAX_KEPT_BYTES = 4 * 1024 * 1024;
/** What is inflated and made in all. */
const MAX_READ_BYTES = 16 * 1024 * 1024;

interface Entry {
  readonly offset: number;
  readonly type: FileObject['type'] | 'delta';
  /** Of a delta. */
  readonly base: number | Oid;
  readonly content: Uint8Array;
}

export class PackedObjects {
  readonly #pack: SearchedPack;
  readonly #share: MemoryShare;
  readonly #walker = new EntryWalker({
    begin: (type, size, offset) => this.#begin(type, size, offset),
    content: (bytes) => this.#content(bytes),
    end: () => this.#walker.stop(),
  });
  /** Looked up before, those of long ago first. */
  readonly #recent = new Map<number, PackedObject>();
  /** Objects of upstream. */
  readonly #added = new Map<Oid, FileObject>();
  /** Objects of the pack that it names by their ids. */
  readonly #own = new Map<Oid, number>();
  #entry: Entry | null = null;
  #filled = 0;
  #keptBytes = 0;
  #readBytesLeft = MAX_READ_BYTES;
  #readsLeft: number;

  /** @param memory where its objects are counted until `free`. All methods throw what it throws. */
  constructor(pack: SearchedPack, memory: Memory) {
    this.#pack = pack;
    this.#readsLeft = pack.maxReads;
    this.#share = memory.share();
  }

  /** Counts so many bytes ahead, or as many as it may keep, after a wait if necessary. */
  makeRoom(bytes: number): Promise<void> {
    return this.#share.set(Math.min(MAX_KEPT_BYTES, this.#keptBytes + bytes));
  }

  free(): void {
    this.#share.setNow(0);
    this.#keptBytes = 0;
    this.#recent.clear();
  }

  /** Whether there is room for another object; it is counted then. */
  reserve(bytes: number): boolean {
    for (const [offset, object] of this.#recent) {
      if (this.#keptBytes + bytes <= MAX_KEPT_BYTES) break;
      this.#recent.delete(offset);
      this.#keptBytes -= bytesOf(object);
    }
    if (this.#keptBytes + bytes > MAX_KEPT_BYTES) return false;
    this.#keptBytes += bytes;
    if (this.#keptBytes > this.#share.bytes) this.#share.setNow(this.#keptBytes);
    return true;
  }

  /** Objects of upstream, for which there is room. */
  add(objects: Iterable<KeptObject>): void {
    for (const { type, oid, content } of objects) {
      if (type === 'tree' || type === 'blob') this.#added.set(oid, { type, content });
    }
  }

  /**
   * The object whose entry begins there. A chain of deltas may be long: no recursion.
   * @throws ProtocolError `bad-pack`
   */
  async at(offset: number): Promise<LookUp> {
    const deltas: Entry[] = [];
    try {
      let base: FileObject | null = null;
      for (let at = offset; base === null;) {
        const recent = this.#recent.get(at);
        if (recent !== undefined && at === offset) return recent;
        const entry = recent === undefined ? await this.#read(at) : null;
        if (recent !== undefined) base = recent;
        else if (entry === null) return 'too-much';
        else if (entry.type !== 'delta')
          base = this.#keep(at, { type: entry.type, content: entry.content, delta: null });
        else {
          deltas.push(entry);
          if (typeof entry.base === 'number') at = entry.base;
          else if (this.#added.has(entry.base)) base = this.#added.get(entry.base) as FileObject;
          else if (this.#own.has(entry.base)) at = this.#own.get(entry.base) as number;
          else return 'no-base';
        }
      }
      for (let next = deltas.at(-1); next !== undefined; next = deltas.at(-1)) {
        const { resultSize } = parseDeltaHeader(next.content);
        if (!this.#mayMake(resultSize)) return 'too-much';
        const content = applyDelta(base.content, next.content, Infinity);
        base = this.#keep(next.offset, { type: base.type, content, delta: next.content });
        deltas.pop();
      }
      return base as PackedObject;
    } finally {
      for (const { content } of deltas) this.#keptBytes -= content.length;
    }
  }

  /** The delta that the pack stores there; null if it is too much. @param isCounted as read. */
  async deltaAt(offset: number, isCounted: boolean): Promise<Uint8Array | null> {
    const left = this.#readBytesLeft;
    if (!isCounted) this.#readBytesLeft = Infinity;
    const entry = await this.#read(offset);
    if (!isCounted) this.#readBytesLeft = left;
    this.#keptBytes -= entry?.content.length ?? 0;
    return entry?.content ?? null;
  }

  /**
   * Learns which of the ids that deltas name are objects of this pack, in whatever order they stand. Cost: the pack is
   * read once more. @param ids that deltas name. @returns whether there are any.
   */
  async findOwn(ids: { has(oid: Oid): boolean }): Promise<boolean> {
    const waiting = new Map<Oid, number[]>();
    const known: Oid[] = [];
    const add = (oid: Oid, offset: number): void => {
      if (!ids.has(oid) || this.#own.has(oid)) return;
      this.#own.set(oid, offset);
      known.push(oid);
    };
    let [hash, at]: [Hash | null, number] = [null, 0];
    const walker: EntryWalker = new EntryWalker({
      begin: (type, size, offset) => {
        at = offset;
        if (type === OBJ_REF_DELTA) {
          const others = waiting.get(walker.baseOid);
          if (others === undefined) waiting.set(walker.baseOid, [offset]);
          else others.push(offset);
        }
        hash = type === OBJ_TREE || type === OBJ_BLOB ? beginHash(type, size) : null;
        return hash !== null;
      },
      content: (bytes) => void hash?.update(bytes),
      end: () => hash && add(hash.digest('hex'), at),
    });
    await walk(this.#pack, walker, 0);
    for (let oid = known.pop(); oid !== undefined; oid = known.pop()) {
      for (const offset of waiting.get(oid) ?? []) {
        const object = await this.at(offset);
        if (typeof object === 'object') add(hashObject(object.type, object.content), offset);
      }
    }
    return this.#own.size > 0;
  }

  #keep(offset: number, object: PackedObject): PackedObject {
    this.#recent.set(offset, object);
    return object;
  }

  #mayMake(bytes: number): boolean {
    if (bytes > this.#readBytesLeft || !this.reserve(bytes)) return false;
    this.#readBytesLeft -= bytes;
    return true;
  }

  /** Its content is counted. */
  async #read(offset: number): Promise<Entry | null> {
    this.#entry = null;
    if (--this.#readsLeft < 0) return null;
    await walk(this.#pack, this.#walker, offset);
    return this.#entry;
  }

  #begin(type: number, size: number, offset: number): boolean {
    const isTree = type === OBJ_TREE;
    const isDelta = type === OBJ_OFS_DELTA || type === OBJ_REF_DELTA;
    if (!this.#mayMake(size)) {
      this.#walker.stop();
      return false;
    }
    const base = type === OBJ_REF_DELTA ? this.#walker.baseOid : offset - this.#walker.distance;
    this.#filled = 0;
    this.#entry = {
      offset,
      type: isDelta ? 'delta' : isTree ? 'tree' : 'blob',
      base,
      content: new Uint8Array(size),
    };
    return true;
  }

  #content(bytes: Uint8Array): void {
    this.#entry?.content.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }
}

/** Walks over a pack from an offset on, as far as the walker goes. */
export async function walk(pack: SearchedPack, walker: EntryWalker, start: number): Promise<void> {
  walker.beginAt(start);
  for await (const piece of pack.read(start)) {
    walker.walk(piece);
    if (walker.isStopped) return;
  }
}

/** Of an object's id. */
export function beginHash(type: typeof OBJ_TREE | typeof OBJ_BLOB, size: number): Hash {
  return createHash('sha1').update(`${type === OBJ_TREE ? 'tree' : 'blob'} ${size}\0`);
}

function bytesOf({ content, delta }: PackedObject): number {
  return content.length + (delta?.length ?? 0);
}
