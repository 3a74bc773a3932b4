/**
 * Searches what a pack adds: whole files and folders, and the bytes that deltas insert. The bytes that a delta copies
 * from its base are not available, and are not new.
 */
import { concatBytes } from '../bytes.ts';
import { hashObject, OID_BYTES, type Oid } from '../oid.ts';
import { DeltaInserts } from '../pack/delta-inserts.ts';
import { OBJ_BLOB, OBJ_OFS_DELTA, OBJ_REF_DELTA, OBJ_TREE } from '../pack/entry-header.ts';
import type { ContentListener } from '../pack/entry-walker.ts';
import { COPY_MARK } from './boundary.ts';
import type { ByteSearch } from './byte-search.ts';
import { excerptAt, SHOWN_AFTER } from './excerpt.ts';
import { TreeNames } from './tree-names.ts';

const LF = 0x0a;
/** Added before and after every text, because a pattern may require a boundary. */
const LINE_END = Uint8Array.of(LF);
const NOTHING = new Uint8Array(0);
/** Larger files are searched, too, but their ids and so their names are not known. */
const MAX_WHOLE_BYTES = 64 * 1024;
/** How much of the preceding text is kept, to show where a hit is. */
const RECENT_BYTES = 128;

export interface ContentHit {
  /** The line around it, shortened, in the bytes of the file. */
  readonly excerpt: Uint8Array;
  /** `name`: it is itself the name of a file or folder. */
  readonly kind: 'name' | 'content';
  /** The index of the pattern that was found. */
  readonly pattern: number;
  /** The id of the file; null if it is unknown, because a delta's id needs its base. */
  oid: Oid | null;
}

/** A hit in what a delta inserts. The file as a whole may show that it is none. */
export interface DeltaHit extends ContentHit {
  /** Where the delta begins in the pack. */
  readonly offset: number;
}

/** Some of them may be dismissed, and must not keep others from being found. */
const MAX_DELTA_HITS = 1_000;

export class ContentSearch implements ContentListener {
  /** In whole files and folders. */
  readonly hits: ContentHit[] = [];
  readonly deltaHits: DeltaHit[] = [];
  readonly names = new TreeNames();
  readonly #search: ByteSearch;
  readonly #maxHits: number;
  readonly #inserts = new DeltaInserts(this);
  #kind: 'tree' | 'blob' | 'delta' = 'blob';
  #size = 0;
  #offset = 0;
  /**
   * Content of a small file or folder, as it arrives; or what a delta has inserted since the last copy, and the mark of
   * the next one. That is searched together, because a delta may insert single bytes.
   */
  readonly #whole = new Uint8Array(MAX_WHOLE_BYTES + 1);
  #wholeLength = 0;
  /** Nothing was inserted since the last copy. */
  #isBehindCopy = false;
  /** Hits before the current entry. */
  #hitsBefore = 0;
  readonly #recent = new Uint8Array(RECENT_BYTES);
  #recentLength = 0;

  constructor(search: ByteSearch, maxHits: number) {
    this.#search = search;
    this.#maxHits = maxHits;
  }

  begin(type: number, size: number, offset: number): boolean {
    if (type === OBJ_TREE) this.#kind = 'tree';
    else if (type === OBJ_BLOB) this.#kind = 'blob';
    else if (type === OBJ_OFS_DELTA || type === OBJ_REF_DELTA) this.#kind = 'delta';
    else return false;
    if (this.#isFull) return false;
    this.#size = size;
    this.#offset = offset;
    this.#wholeLength = 0;
    this.#hitsBefore = this.hits.length;
    this.#beginText();
    this.#isBehindCopy = false;
    if (this.#kind === 'delta') this.#inserts.begin();
    return true;
  }

  get #isFull(): boolean {
    return this.#kind === 'delta'
      ? this.deltaHits.length >= MAX_DELTA_HITS
      : this.hits.length >= this.#maxHits;
  }

  content(bytes: Uint8Array): void {
    if (this.#kind === 'delta') return this.#inserts.take(bytes);
    this.#gather(bytes);
    this.#scan(bytes);
  }

  end(): void {
    const isWhole = this.#size === this.#wholeLength;
    const whole = this.#whole.subarray(0, this.#wholeLength);
    if (this.#kind === 'delta') this.#scan(whole);
    this.#scan(LINE_END);
    if (this.#kind === 'delta') this.names.add(whole, null);
    else if (this.#kind === 'tree') this.names.add(whole, isWhole ? hashObject('tree', whole) : null);
    else if (isWhole && this.hits.length > this.#hitsBefore) {
      const oid = hashObject('blob', whole);
      for (const hit of this.hits.slice(this.#hitsBefore)) hit.oid = oid;
    }
  }

  inserted(bytes: Uint8Array, start: number, end: number): void {
    this.#isBehindCopy = false;
    if (this.#wholeLength + end - start > MAX_WHOLE_BYTES) {
      // So long a text is no entry of a folder.
      this.#scan(this.#whole.subarray(0, this.#wholeLength));
      this.#wholeLength = 0;
    }
    const whole = this.#whole;
    // A loop, because most inserts are short.
    for (let at = start, to = this.#wholeLength; at < end; at++, to++) whole[to] = bytes[at]!;
    this.#wholeLength += end - start;
  }

  copied(): void {
    // A delta may consist of millions of copies.
    if (this.#isBehindCopy) return;
    this.#isBehindCopy = true;
    this.#whole[this.#wholeLength] = COPY_MARK;
    this.#findIn(this.#whole, this.#wholeLength + 1);
    if (this.#wholeLength > OID_BYTES) this.names.add(this.#whole.subarray(0, this.#wholeLength), null);
    this.#wholeLength = 0;
    // The search goes on: the mark may begin a pattern, too.
    this.#recentLength = 0;
  }

  #gather(bytes: Uint8Array): void {
    const room = MAX_WHOLE_BYTES - this.#wholeLength;
    if (room <= 0) return;
    this.#whole.set(bytes.length > room ? bytes.subarray(0, room) : bytes, this.#wholeLength);
    this.#wholeLength += Math.min(room, bytes.length);
  }

  #beginText(): void {
    this.#search.reset();
    this.#search.find(LINE_END, 0, 1);
    this.#recentLength = 0;
  }

  #scan(bytes: Uint8Array): void {
    this.#findIn(bytes, bytes.length);
    this.#remember(bytes);
  }

  #findIn(bytes: Uint8Array, length: number): void {
    const search = this.#search;
    for (let at = search.find(bytes, 0, length); at >= 0; at = search.find(bytes, at, length)) {
      if (this.#isFull) continue;
      const hit = this.#hitAt(bytes, length, at);
      if (this.#kind === 'delta') this.deltaHits.push({ ...hit, offset: this.#offset });
      else this.hits.push(hit);
    }
  }

  /** @param at behind the hit and the boundary that ends it. */
  #hitAt(bytes: Uint8Array, length: number, at: number): ContentHit {
    const from = Math.max(0, at - RECENT_BYTES);
    const before = from > 0 ? NOTHING : this.#recent.subarray(0, this.#recentLength);
    const text = concatBytes([before, bytes.subarray(from, Math.min(length, at + SHOWN_AFTER))]);
    return {
      excerpt: excerptAt(text, before.length + at - from - 1),
      kind: this.#kind === 'tree' ? 'name' : 'content',
      pattern: this.#search.found,
      oid: null,
    };
  }

  #remember(bytes: Uint8Array): void {
    const kept = Math.min(RECENT_BYTES - bytes.length, this.#recentLength);
    if (kept <= 0) {
      this.#recent.set(bytes.length > RECENT_BYTES ? bytes.subarray(-RECENT_BYTES) : bytes);
      this.#recentLength = Math.min(RECENT_BYTES, bytes.length);
      return;
    }
    if (kept < this.#recentLength) this.#recent.copyWithin(0, this.#recentLength - kept, this.#recentLength);
    this.#recent.set(bytes, kept);
    this.#recentLength = kept + bytes.length;
  }
}
