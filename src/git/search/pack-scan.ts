/**
 * The first look at a pack, once from its beginning to its end: which objects name somebody, or may do so. It keeps
 * nothing of them. Most packs have none.
 */
import type { Oid } from '../objects/oid.ts';
import { OBJ_BLOB, OBJ_OFS_DELTA, OBJ_REF_DELTA, OBJ_TREE } from '../pack/entry-header.ts';
import { type ContentListener, EntryWalker } from '../pack/entry-walker.ts';
import { excerptAt } from './excerpts.ts';
import { homeFoldersIn } from './home-folders.ts';
import { DeltaScan, type TellingPlace } from './delta-scan.ts';
import type { SearchedNames } from './searched-names.ts';

/** An object to look at more closely. */
export interface Suspect {
  /** Where its entry begins. */
  readonly offset: number;
  /** It is no delta. */
  readonly isWhole: boolean;
  /** Where something stands that tells enough on its own; of a whole object the first place. */
  readonly telling: readonly TellingPlace[];
}

/** Some of them may be dismissed, and must not keep others from being found. */
const MAX_SUSPECTS = 1_000;
/** More are not remembered, of bases and of sizes. */
/** So many places that look like a home folder are looked at: each costs a microsecond. */
const MAX_HOME_LOOKS = 1_000;
const MAX_BASES = 10_000;
const MAX_SIZES = 10_000;

const NOTHING = new Uint8Array(0);

export class PackScan implements ContentListener {
  readonly walker = new EntryWalker(this);
  /** Objects that are named here, or surely have a name. */
  readonly telling: Suspect[] = [];
  /** Deltas that may make a name of which they insert little. */
  readonly others: Suspect[] = [];
  /** There are more. */
  isCut = false;
  hasGitlinks = false;
  /** Paths of home folders, as far as the name. */
  readonly homeFolders = new Set<string>();
  /** Whether an object holds a NUL near its beginning, as Git tells binary files. */
  hasBinaries = false;
  /** What deltas name by an id, with its size. */
  readonly bases = new Map<Oid, number>();
  hasMoreBases = false;
  /** The client names its own objects by their offsets, so what it names by ids is upstream's. */
  usesOffsets = false;
  /** Of whole objects. */
  readonly #sizes = new Set<number>();
  readonly #names: SearchedNames;
  readonly #delta: DeltaScan;
  #type = OBJ_BLOB;
  #offset = 0;
  /** Of a whole object. */
  #searchedBytes = 0;
  #homeLooksLeft = MAX_HOME_LOOKS;
  #found: TellingPlace | null = null;

  constructor(names: SearchedNames) {
    this.#names = names;
    this.#delta = new DeltaScan(names.search, (...found) => this.#noteOther(...found));
  }

  begin(type: number, size: number, offset: number): boolean {
    [this.#type, this.#offset, this.#searchedBytes, this.#found] = [type, offset, 0, null];
    if (this.#isDelta) this.#delta.begin();
    else this.#names.search.begin();
    if (!this.#isDelta && this.#sizes.size < MAX_SIZES) this.#sizes.add(size);
    return this.#isDelta || type === OBJ_TREE || type === OBJ_BLOB;
  }

  /** Whether the pack may have one of the bases that it names by ids. Most have no object of the same size. */
  get mayHaveBases(): boolean {
    if (this.usesOffsets) return false;
    if (this.hasMoreBases || this.#sizes.size === MAX_SIZES) return true;
    return [...this.bases.values()].some((size) => this.#sizes.has(size));
  }

  content(bytes: Uint8Array): void {
    if (this.#isDelta) return this.#delta.take(bytes);
    if (this.#found !== null && this.#type === OBJ_BLOB) return;
    const { search } = this.#names;
    if (this.#searchedBytes === 0 && this.#type === OBJ_BLOB) this.hasBinaries ||= bytes.includes(0);
    for (let at = search.find(bytes, 0, bytes.length); at >= 0; at = search.find(bytes, at, bytes.length)) {
      this.#note(this.#searchedBytes + at, bytes, at);
    }
    this.#searchedBytes += bytes.length;
  }

  end(): void {
    if (this.#isDelta) return this.#endDelta();
    if (this.#found === null && this.#names.search.findEnd()) this.#note(this.#searchedBytes + 1, NOTHING, 0);
    if (this.#found !== null) this.#add({ offset: this.#offset, isWhole: true, telling: [this.#found] });
  }

  get #isDelta(): boolean {
    return this.#type === OBJ_OFS_DELTA || this.#type === OBJ_REF_DELTA;
  }

  #note(end: number, bytes: Uint8Array, at: number): void {
    for (const text of this.#names.search.ended) {
      if (!this.#noteOther(text, bytes, at)) this.#found ??= { insert: 0, end, text };
    }
  }

  /** Answers whether it is no name and no id. @param at behind it. */
  #noteOther(text: number, bytes: Uint8Array, at: number): boolean {
    if (!this.#names.isNoted(text)) return false;
    if (this.#names.isGitlink(text)) this.hasGitlinks ||= this.#type !== OBJ_BLOB;
    else if (this.#homeLooksLeft-- > 0) {
      for (const path of homeFoldersIn(Buffer.from(excerptAt(bytes, at)).toString()))
        this.homeFolders.add(path);
    }
    return true;
  }

  #endDelta(): void {
    const delta = this.#delta;
    delta.end();
    if (this.#type === OBJ_OFS_DELTA) this.usesOffsets = true;
    else if (this.bases.size < MAX_BASES) this.bases.set(this.walker.baseOid, delta.baseSize);
    else this.hasMoreBases ||= !this.bases.has(this.walker.baseOid);
    if (delta.isSuspect) this.#add({ offset: this.#offset, isWhole: false, telling: delta.telling });
  }

  #add(suspect: Suspect): void {
    const list = suspect.telling.length > 0 ? this.telling : this.others;
    if (list.length < MAX_SUSPECTS) list.push(suspect);
    else this.isCut = true;
  }
}
