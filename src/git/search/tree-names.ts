/**
 * Paths of files by their ids, gathered from the trees of a pack to say where something was found.
 *
 * Of a tree that is a delta, only the inserted bytes are known: often a whole entry of a new file, otherwise only an
 * id. So this is only good enough for messages: a name, or the folders above it, may be missing.
 */
import { OID_BYTES, type Oid, oidFromBytes } from '../objects/oid.ts';

/** With their places, a megabyte. */
const MAX_NAMES = 4_000;
const MAX_NAMES_LENGTH = 192 * 1024;
/** No file system takes a longer name. */
const MAX_NAME_LENGTH = 255;
/** A mode and a blank stand before it. */
const MAX_HEAD_BYTES = 4 * MAX_NAME_LENGTH + 7;
/** Deeper ones are cut. */
const MAX_DEPTH = 50;

interface Place {
  readonly name: string;
  /** The tree that contains the name; null if unknown. */
  readonly tree: Oid | null;
}

export class TreeNames {
  readonly #places = new Map<Oid, Place>();
  #namesLength = 0;

  /** The path of a file, as far as it is known. */
  pathOf(oid: Oid): string | undefined {
    const names: string[] = [];
    let place = this.#places.get(oid);
    while (place !== undefined && names.length < MAX_DEPTH) {
      names.unshift(place.name);
      place = place.tree === null ? undefined : this.#places.get(place.tree);
    }
    return names.length === 0 ? undefined : names.join('/');
  }

  /** @param text of a tree, or what a delta inserts in one place. @param tree its id, if it is a whole one. */
  add(text: Uint8Array, tree: Oid | null): void {
    let start = 0;
    for (
      let nul = text.indexOf(0);
      nul >= 0 && nul + OID_BYTES < text.length && this.#places.size < MAX_NAMES;
      nul = text.indexOf(0, start)
    ) {
      this.#addEntry(text.subarray(start, nul), oidFromBytes(text, nul + 1), tree);
      start = nul + 1 + OID_BYTES;
    }
  }

  /** @param head mode and name; in what a delta inserts, the mode may be missing and other bytes stand before it. */
  #addEntry(head: Uint8Array, oid: Oid, tree: Oid | null): void {
    if (head.length > MAX_HEAD_BYTES) return;
    const [, name] = /(?:\d{5,6} )?([^\0]*)$/.exec(Buffer.from(head).toString()) ?? [];
    if (name === undefined || name === '') return;
    if (name.length > MAX_NAME_LENGTH || this.#namesLength + name.length > MAX_NAMES_LENGTH) return;
    this.#namesLength += name.length;
    this.#places.set(oid, { name, tree });
  }
}
