/**
 * Paths of a pack's files, for messages only: a delta of a folder shows only its inserts, so names
 * may be missing.
 * Proved by test/git/search/pack-search.test.ts.
 */
import { OID_BYTES, type Oid, oidFromBytes } from '../objects/oid.ts';
import type { IndexedObject } from '../pack/pack-index.ts';

/** With their places, a megabyte. */
const MAX_NAMES = 4_000;
/** Entries of folders that are read, whether or not they are known already. */
const MAX_ENTRIES = 100_000;
const MAX_NAMES_LENGTH = 192 * 1024;
/** No file system takes a longer name. */
const MAX_NAME_LENGTH = 255;
/** A mode and a blank stand before it. */
const MAX_HEAD_BYTES = 4 * MAX_NAME_LENGTH + 7;
const MAX_DEPTH = 50;
/** More whole objects are not remembered: as much as anybody asks for. */
const MAX_WHOLE = 1_000;

interface Place {
  readonly name: string;
  readonly folder: Oid | null;
}

export class PackPaths {
  /** What the pack has as a whole, in its order. */
  readonly #whole: Pick<IndexedObject, 'type' | 'oid'>[] = [];
  /** By where their entries begin: ids of the objects that are asked for. */
  readonly #oids: Map<number, Oid | null>;
  readonly #places = new Map<Oid, Place>();
  /** Whether the pack has more as a whole than is remembered. */
  #isCut = false;
  #entriesLeft = MAX_ENTRIES;
  #namesLength = 0;

  constructor(offsets: Iterable<number>) {
    this.#oids = new Map(Array.from(offsets, (offset) => [offset, null]));
  }

  add({ type, oid, offset, isWhole, tree }: IndexedObject): void {
    if (this.#oids.has(offset)) this.#oids.set(offset, oid);
    if (isWhole && this.#whole.length < MAX_WHOLE) this.#whole.push({ type, oid });
    else this.#isCut ||= isWhole;
    if (tree !== null) this.addEntries(tree, oid);
  }

  /** Whether `newFiles` may lack some, because there are too many. */
  get isCut(): boolean {
    return this.#isCut || this.#places.size === MAX_NAMES || this.#entriesLeft === 0;
  }

  /** The path of the object whose entry begins there, as far as it is known. */
  pathAt(offset: number): string | null {
    const oid = this.#oids.get(offset) ?? null;
    return oid === null ? null : this.pathOf(oid);
  }

  /** The path of a file or folder, as far as it is known. */
  pathOf(oid: Oid): string | null {
    const names: string[] = [];
    let place = this.#places.get(oid);
    while (place !== undefined && names.length < MAX_DEPTH) {
      names.unshift(place.name);
      place = place.folder === null ? undefined : this.#places.get(place.folder);
    }
    return names.length === 0 ? null : names.join('/');
  }

  /** Of files that the pack has as a whole, as far as they are known. */
  newFiles(): string[] {
    return this.#whole.flatMap(({ type, oid }) => (type === 'blob' ? (this.pathOf(oid) ?? []) : []));
  }

  /** The same of files and folders, each once. The path of the root folder is ''. */
  newPaths(): string[] {
    const paths = this.#whole.flatMap(({ type, oid }) => this.pathOf(oid) ?? (type === 'tree' ? '' : []));
    return [...new Set(paths)];
  }

  /** @param text a folder; or what a delta inserts, perhaps into one: the first mode may be missing then. */
  addEntries(text: Uint8Array, folder: Oid | null): void {
    let start = 0;
    while (this.#places.size < MAX_NAMES && this.#entriesLeft > 0) {
      const nul = text.indexOf(0, start);
      if (nul < 0 || nul + OID_BYTES >= text.length) return;
      this.#entriesLeft -= 1;
      const oid = oidFromBytes(text, nul + 1);
      if (nul - start <= MAX_HEAD_BYTES && !this.#places.has(oid))
        this.#addEntry(text.subarray(start, nul), oid, folder);
      start = nul + 1 + OID_BYTES;
    }
  }

  #addEntry(head: Uint8Array, oid: Oid, folder: Oid | null): void {
    const name = Buffer.from(head)
      .toString()
      .replace(/^\d{5,6} /, '');
    const length = this.#namesLength + name.length;
    if (name === '' || name.length > MAX_NAME_LENGTH || length > MAX_NAMES_LENGTH) return;
    this.#namesLength = length;
    this.#places.set(oid, { name, folder });
  }
}
