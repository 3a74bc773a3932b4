/**
 * Collects paths of a pack's files, for messages, and to compare files with upstream's. A delta of
 * a folder shows only what it inserts, so names may be missing.
 * Proved by test/git/search/pack-search.test.ts.
 */
import { OID_BYTES, type Oid, oidFromBytes } from '../objects/oid.ts';
import type { IndexedObject } from '../pack/pack-index.ts';

/** Maximum number of names, which take a megabyte. */
const MAX_NAMES = 4_000;
/**
 * Maximum number of folders' entries that are read, known ones included, and for how many more one
 * counts when its name is decoded.
 */
const MAX_ENTRIES = 100_000;
const DECODED_ENTRIES = 3;
const MAX_NAMES_LENGTH = 192 * 1024;
/** Maximum length of a name, as on usual file systems. */
const MAX_NAME_LENGTH = 255;
/** Maximum length of an entry's mode, blank and name. */
const MAX_HEAD_BYTES = 4 * MAX_NAME_LENGTH + 7;
const SPACE = 0x20;
const MAX_DEPTH = 50;
/** Maximum length of all paths. Thousands of names may stand below long ones. */
const MAX_PATHS_LENGTH = 1024 * 1024;
/** Maximum number of whole objects that are remembered. */
const MAX_WHOLE = 1_000;

/** Replaces the id of an entry of which a delta inserts only the name, and copies the id. */
const UNKNOWN_ID = '';

/** A name of a file or folder. The same content may have several. */
interface Place {
  readonly name: string;
  /** The folder, or null if a delta of some folder inserts the name. */
  readonly folder: Oid | null;
}

export class PackPaths {
  /** The whole objects of the pack, in its order. */
  readonly #whole: Pick<IndexedObject, 'type' | 'oid'>[] = [];
  /** The offsets of objects whose paths are wanted. It may grow. */
  readonly #asked: ReadonlySet<number>;
  readonly #oids = new Map<number, Oid>();
  readonly #places = new Map<Oid, Place[]>();
  /**
   * The known pairs of id and name, because each version of a folder has nearly the same entries.
   */
  readonly #known = new Set<string>();
  /** True if the pack has more whole objects, or longer names, than are remembered. */
  #isCut = false;
  #entriesLeft = MAX_ENTRIES;
  #namesLength = 0;
  /** The paths that were made since the last name was added. */
  readonly #made = new Map<Place, string>();
  #pathsLengthLeft = MAX_PATHS_LENGTH;

  constructor(asked: ReadonlySet<number>) {
    this.#asked = asked;
  }

  add({ type, oid, offset, isWhole, tree }: IndexedObject): void {
    if (this.#asked.has(offset)) this.#oids.set(offset, oid);
    if (isWhole && this.#whole.length < MAX_WHOLE) this.#whole.push({ type, oid });
    else this.#isCut ||= isWhole;
    if (tree !== null) this.addEntries(tree, oid);
  }

  /** Tells if `newFiles` was or will be incomplete because there are too many, or too long ones. */
  get isCut(): boolean {
    return this.#isCut || this.isFull || this.#pathsLengthLeft === 0;
  }

  /** Tells if no more entries are read. */
  get isFull(): boolean {
    return this.#known.size === MAX_NAMES || this.#entriesLeft === 0;
  }

  /** Returns the path of the object at an offset, as far as it is known. */
  pathAt(offset: number): string | null {
    const oid = this.#oids.get(offset) ?? null;
    return oid === null ? null : this.pathOf(oid);
  }

  /** Returns the first path of a file or folder, as far as it is known. */
  pathOf(oid: Oid): string | null {
    const [place] = this.#places.get(oid) ?? [];
    return place === undefined ? null : this.#pathTo(place);
  }

  /** Returns all known paths of a file or folder. */
  pathsOf(oid: Oid): string[] {
    return (this.#places.get(oid) ?? []).flatMap((place) => this.#pathTo(place) ?? []);
  }

  /**
   * Returns the known paths of all entries of the pack's folders, also of those that upstream has,
   * without repetition.
   */
  allPaths(): string[] {
    return [...new Set([...this.#places.keys()].flatMap((oid) => this.pathsOf(oid)))];
  }

  /**
   * Returns the known paths of files that the pack has as a whole, and of files that upstream has
   * already, if they have another name here, or a delta inserts theirs: Git sends nothing but these
   * names.
   */
  newFiles(): string[] {
    const whole = this.#whole.flatMap(({ type, oid }) => (type === 'blob' ? oid : []));
    const folders = new Set(this.#whole.flatMap(({ type, oid }) => (type === 'tree' ? oid : [])));
    const others = [...this.#places].flatMap(([oid, places]) => {
      const isNew = places.length > 1 || places.some(({ folder }) => folder === null);
      return isNew && !folders.has(oid) ? oid : [];
    });
    const oids = new Set([...whole, ...others]);
    return [...new Set([...oids].flatMap((oid) => this.pathsOf(oid)))];
  }

  /** Returns the path to a place, or null if no room is left for it. */
  #pathTo(wanted: Place): string | null {
    const made = this.#made.get(wanted) ?? null;
    if (made !== null || this.#pathsLengthLeft === 0) return made;
    const names = [wanted.name];
    for (let above = wanted.folder; above !== null && names.length < MAX_DEPTH;) {
      const [place] = this.#places.get(above) ?? [];
      if (place !== undefined) names.unshift(place.name);
      above = place?.folder ?? null;
    }
    const path = names.join('/');
    this.#pathsLengthLeft = Math.max(0, this.#pathsLengthLeft - path.length);
    if (this.#pathsLengthLeft === 0) return null;
    this.#made.set(wanted, path);
    return path;
  }

  /**
   * Returns the first known paths of files and folders that the pack has as a whole, without
   * repetition. The path of the root folder is ''.
   */
  newPaths(): string[] {
    const paths = this.#whole.flatMap(({ type, oid }) => this.pathOf(oid) ?? (type === 'tree' ? '' : []));
    return [...new Set(paths)];
  }

  /**
   * Reads entries.
   * @param text is a folder, or what a delta inserts, perhaps into a folder. Then the first mode
   * may be missing.
   */
  addEntries(text: Uint8Array, folder: Oid | null): void {
    let start = 0;
    while (!this.isFull) {
      const nul = text.indexOf(0, start);
      const isCut = nul + OID_BYTES >= text.length;
      if (nul < 0 || (isCut && folder !== null)) return;
      this.#entriesLeft -= 1;
      const oid = isCut ? UNKNOWN_ID : oidFromBytes(text, nul + 1);
      const head = text.subarray(start, nul);
      const last = this.#places.get(oid)?.at(-1);
      const isKnown = last !== undefined && endsWithName(head, last.name);
      if (head.length <= MAX_HEAD_BYTES && !isKnown) this.#addEntry(head, oid, folder);
      start = nul + 1 + OID_BYTES;
    }
  }

  #addEntry(head: Uint8Array, oid: Oid, folder: Oid | null): void {
    this.#entriesLeft = Math.max(0, this.#entriesLeft - DECODED_ENTRIES);
    const name = Buffer.from(head)
      .toString()
      .replace(/^\d{5,6} /, '');
    const length = this.#namesLength + name.length;
    if (name === '' || name.length > MAX_NAME_LENGTH || this.#known.has(oid + name)) return;
    if (length > MAX_NAMES_LENGTH) {
      this.#isCut = true;
      return;
    }
    this.#namesLength = length;
    this.#known.add(oid + name);
    this.#made.clear();
    const place = { name, folder };
    const others = this.#places.get(oid);
    if (others === undefined) this.#places.set(oid, [place]);
    else others.push(place);
  }
}

/**
 * Tells if an entry consists of a mode and this name, without decoding it. It is false if the name
 * is not ASCII.
 */
function endsWithName(head: Uint8Array, name: string): boolean {
  const at = head.length - name.length;
  if (at !== head.indexOf(SPACE) + 1) return false;
  for (let index = 0; index < name.length; index++)
    if (head[at + index] !== name.charCodeAt(index)) return false;
  return true;
}
