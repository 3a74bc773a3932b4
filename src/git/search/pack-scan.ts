/**
 * Scans a pack for what names somebody, or may do so. Of a delta it sees what is inserted, not what
 * is copied.
 */
import { concatBytes, NO_BYTES } from '../bytes.ts';
import { DeltaReader, type InstructionListener } from '../pack/delta.ts';
import { isDelta, OBJ_BLOB, OBJ_OFS_DELTA, OBJ_TREE } from '../pack/entry-header.ts';
import type { ContentListener } from '../pack/entry-walker.ts';
import type { Credential } from './credentials.ts';
import { excerptAt, SHOWN_BEFORE } from './excerpts.ts';
import { homeFoldersIn } from './home-folders.ts';
import type { Looks } from './looks.ts';
import { HOMES, type SearchedNames, WORDS } from './searched-names.ts';

/**
 * A whole name, id or credential, unless what a delta copies beside it belongs to it, too.
 */
interface Sighting {
  /** The index of the text that was found. */
  readonly text: number;
  /** The part of the line that was available. */
  readonly excerpt: Uint8Array;
  readonly credential: Credential | null;
}

/** An object to look at more closely. */
export interface Suspect {
  readonly offset: number;
  readonly sightings: readonly Sighting[];
  /** True for a delta that may form a name of what it inserts and what it copies. */
  readonly mayHaveMore: boolean;
}

/** A kind of file that a search of bytes does not read. */
export interface FileKind {
  /** Completes "It is a …". */
  readonly name: string;
  /**
   * Reads what it says about its maker, from the beginning that is kept. Null if nothing reads it.
   */
  readonly read: ((head: Uint8Array) => readonly string[]) | null;
}

export interface OpaqueFile {
  readonly offset: number;
  readonly kind: string;
  /** The statements about its maker, as far as they were read. */
  readonly tells: readonly string[];
}

/** Number of bytes by which a kind is recognized. */
const FIRST_BYTES = 264;
/**
 * Number of bytes that are kept of a file that is read. Cameras write their data in the first two
 * segments of 64 KiB.
 */
export const MAX_HEAD_BYTES = 128 * 1024;
const MAX_OPAQUE = 100;
const OPAQUE = 'pictures and other files that are no text';

/**
 * Maximum number of suspects with a name, and of others. Most of the latter are dismissed, and must
 * not keep a name from being found.
 */
const MAX_SUSPECTS = 1_000;
/** Maximum number of sightings of an object, which are shown if it cannot be resolved. */
const MAX_SIGHTINGS = 3;

export class PackScan implements ContentListener, InstructionListener {
  isCut = false;
  hasGitlinks = false;
  /** Paths of home folders, up to the name, with the offset of the first file that has each. */
  readonly homeFolders = new Map<string, number>();
  /** Lines of files with a name or login of one word. */
  readonly words = new Set<string>();
  /** The first of the files that were not searched. */
  readonly opaque: OpaqueFile[] = [];
  /** The offsets of suspects, of these files, and of those with home folders. */
  readonly noted = new Set<number>();
  readonly #looks: Looks;
  /**
   * True if the client names its own objects by their offsets, so that what it names by ids is
   * upstream's.
   */
  usesOffsets = false;
  readonly #names: SearchedNames;
  readonly #kindOf: (first: Uint8Array) => FileKind | null;
  readonly #delta = new DeltaReader(this);
  readonly #named: Suspect[] = [];
  readonly #others: Suspect[] = [];
  #type = OBJ_BLOB;
  #offset = 0;
  #sightings: Sighting[] = [];
  #mayHaveMore = false;
  /** The end of the last copy in the base, or -1 if nothing was copied yet. */
  #copiedTo = -1;
  /** The beginning of a file, while its kind is not known, or if that is read. */
  readonly #head = new Uint8Array(MAX_HEAD_BYTES);
  #headLength = 0;
  #isAtHead = false;
  #kind: FileKind | null = null;
  /** The number of bytes since the beginning, or since the last copy, and the last of them. */
  #seenBytes = 0;
  #before: Uint8Array = NO_BYTES;

  /**
   * Prepares a scan.
   * @param kindOf recognizes a kind by a file's first bytes, or returns null if searching the bytes
   * is enough.
   */
  constructor(names: SearchedNames, kindOf: (first: Uint8Array) => FileKind | null) {
    this.#looks = names.looks.beside();
    this.#names = names;
    names.beginWith(this.#looks);
    this.#kindOf = kindOf;
  }

  /** Returns suspects, those with a name first. */
  get suspects(): readonly Suspect[] {
    return [...this.#named, ...this.#others];
  }

  begin(type: number, _size: number, offset: number): boolean {
    [this.#type, this.#offset] = [type, offset];
    [this.#sightings, this.#mayHaveMore] = [[], false];
    [this.#copiedTo, this.#seenBytes, this.#before] = [-1, 0, NO_BYTES];
    [this.#headLength, this.#isAtHead, this.#kind] = [0, type !== OBJ_TREE, null];
    this.usesOffsets ||= type === OBJ_OFS_DELTA;
    this.#names.search.begin();
    this.#delta.begin();
    return true;
  }

  content(bytes: Uint8Array): void {
    if (isDelta(this.#type)) this.#delta.take(bytes);
    else this.inserted(bytes);
    // Keep the end, because the next find may have begun in it. The piece itself is used again.
    this.#before = this.#before.slice(-SHOWN_BEFORE);
  }

  /** Searches what a delta inserts, or a whole object. */
  inserted(bytes: Uint8Array): void {
    if (this.#isAtHead) this.#takeHead(bytes);
    const { search } = this.#names;
    for (let at = search.find(bytes, 0, bytes.length); at >= 0; at = search.find(bytes, at, bytes.length)) {
      this.#found(bytes, at);
    }
    this.#seenBytes += bytes.length;
    // This leaves out a delta's inserts, of which there may be millions.
    const isShort = !isDelta(this.#type) && bytes.length < SHOWN_BEFORE;
    this.#before = isShort ? concatBytes([this.#before, bytes]) : bytes;
  }

  copied(offset: number, length: number): void {
    const { search } = this.#names;
    this.#endHead();
    // Copies that repeat or move text may form a name together. An ordinary change goes through its
    // base once.
    if (offset < this.#copiedTo) this.#mayHaveMore = true;
    this.#copiedTo = offset + length;
    if (this.#seenBytes > 0) {
      const mayGoOn = search.hasBegun;
      const isNamed = search.findEnd() && this.#found(NO_BYTES, 1);
      if (mayGoOn && !isNamed) this.#mayHaveMore = true;
    }
    this.#seenBytes = 0;
    this.#before = NO_BYTES;
    search.begin(true);
  }

  end(): void {
    this.#endHead();
    if (this.#names.search.findEnd()) this.#found(NO_BYTES, 1);
    const isNamed = this.#sightings.length > 0;
    if (!isNamed && !this.#mayHaveMore) return;
    const list = isNamed ? this.#named : this.#others;
    if (list.length === MAX_SUSPECTS) {
      this.isCut = true;
      return;
    }
    this.noted.add(this.#offset);
    list.push({ offset: this.#offset, sightings: this.#sightings, mayHaveMore: this.#mayHaveMore });
  }

  #takeHead(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, MAX_HEAD_BYTES - this.#headLength);
    this.#head.set(kept, this.#headLength);
    this.#headLength += kept.length;
    if (this.#kind !== null || this.#headLength < FIRST_BYTES) return;
    this.#kind = this.#kindOf(this.#head.subarray(0, FIRST_BYTES));
    // Of most files, nothing more is kept.
    if (this.#kind === null) this.#isAtHead = false;
    else if (this.#kind.read === null) this.#endHead();
  }

  /**
   * Ends the beginning of a file, and notes its kind. Of a delta, only what it inserts at the
   * beginning counts.
   */
  #endHead(): void {
    if (!this.#isAtHead) return;
    this.#isAtHead = false;
    const head = this.#head.subarray(0, this.#headLength);
    const kind = this.#kind ?? this.#kindOf(head);
    if (kind === null || !this.#looks.take(OPAQUE, MAX_OPAQUE)) return;
    this.noted.add(this.#offset);
    this.opaque.push({ offset: this.#offset, kind: kind.name, tells: kind.read?.(head) ?? [] });
  }

  /**
   * Notes what was found.
   * @param at is the index after it in `bytes`, including the letter that follows.
   * @returns whether it is a whole name or id.
   */
  #found(bytes: Uint8Array, at: number): boolean {
    const { search } = this.#names;
    let whole: number | undefined;
    let credential: Credential | null = null;
    for (const text of search.ended) {
      const { letters, after } = search.texts[text]!;
      const end = this.#seenBytes + (after === null ? at : at - 1);
      const kind = this.#names.kindOf(text);
      this.#names.passed(text, this.#looks);
      if (kind === 'gitlink') this.hasGitlinks ||= this.#type !== OBJ_BLOB;
      else if (kind === 'home') this.#noteHome(bytes, at);
      else if (kind === 'word') {
        // Certain names come first, and each is a name of one word in other forms, too.
        if (whole === undefined) this.#noteWord(bytes, at);
      } else if (kind === 'credential') {
        // Leave room for a name. What is left out is found if the object is examined.
        if (this.#sightings.length >= MAX_SIGHTINGS - 1) {
          this.#mayHaveMore = true;
          continue;
        }
        credential ??= this.#credential(bytes, at - letters.length, text);
        if (credential !== null) whole ??= text;
      }
      // Its first letters may be missing behind a copy.
      else if (this.#copiedTo >= 0 && end < letters.length) this.#mayHaveMore = true;
      else whole ??= text;
    }
    if (whole !== undefined && this.#sightings.length < MAX_SIGHTINGS) {
      this.#sightings.push({ text: whole, excerpt: this.#excerpt(bytes, at), credential });
    }
    return whole !== undefined;
  }

  /**
   * Reads a credential. It counts as not proven, because it is not known here if it is upstream's.
   * @param start may lie in the piece before.
   */
  #credential(bytes: Uint8Array, start: number, text: number): Credential | null {
    if (this.#type === OBJ_TREE) return null;
    const piece = start < 0 ? concatBytes([this.#before.slice(start), bytes]) : bytes;
    const found = this.#names.credentialAt(piece, { start: Math.max(0, start), text }, this.#looks);
    if (found !== 'cut') return found === null ? null : { ...found, isProven: false };
    this.#mayHaveMore = true;
    return null;
  }

  #noteHome(bytes: Uint8Array, at: number): void {
    if (!this.#looks.take(HOMES)) return;
    const line = Buffer.from(this.#excerpt(bytes, at)).toString();
    for (const path of homeFoldersIn(line)) {
      if (this.homeFolders.has(path)) continue;
      this.homeFolders.set(path, this.#offset);
      this.noted.add(this.#offset);
    }
  }

  /** Notes a name of one word, except in folders and binary files, whose bytes nobody can read. */
  #noteWord(bytes: Uint8Array, at: number): void {
    if (this.#type === OBJ_TREE || !this.#looks.take(WORDS)) return;
    const excerpt = this.#excerpt(bytes, at);
    if (!excerpt.includes(0)) this.words.add(Buffer.from(excerpt).toString());
  }

  #excerpt(bytes: Uint8Array, at: number): Uint8Array {
    if (at > SHOWN_BEFORE) return excerptAt(bytes, at - 1);
    const near = concatBytes([this.#before, bytes.subarray(0, 2 * SHOWN_BEFORE)]);
    return excerptAt(near, this.#before.length + at - 1);
  }
}
