/**
 * Walks over the entries of a stored pack, which a PackScanner has accepted, and inflates them.
 * Proved by test/git/search/pack-search.test.ts and test/push/receive/late-deltas.test.ts.
 */
import type { Memory } from '../memory.ts';
import { type Oid, oidFromBytes } from '../objects/oid.ts';
import { ZlibWalker } from '../zlib/zlib-walker.ts';
import { EntryHeaderReader, OBJ_REF_DELTA } from './entry-header.ts';

/** Entries of a pack other than commits and tags. */
export interface StoredPack {
  /**
   * Reads the pack. The caller may stop early.
   * @param start is the offset of an entry. The first has 0, and distances count in the same way.
   */
  read(start: number): AsyncIterable<Uint8Array>;
  readonly byteLength: number;
  /**
   * Maximum number of reads of single objects. From memory they cost nothing, elsewhere a request
   * each.
   */
  readonly maxReads: number;
}

export interface ContentListener {
  /**
   * Begins an entry.
   * @param type is one of the OBJ_ constants.
   * @returns whether to pass on the content.
   */
  begin(type: number, size: number, offset: number): boolean;
  /** Takes the next piece of the content, which is valid only during the call. */
  content?(bytes: Uint8Array): void;
  end?(): void;
}

/** Shows each entry to both listeners, so that it is inflated once. */
export function shownToBoth(first: ContentListener, second: ContentListener): ContentListener {
  let [isFirsts, isSeconds] = [false, false];
  return {
    begin(...entry) {
      [isFirsts, isSeconds] = [first.begin(...entry), second.begin(...entry)];
      return isFirsts || isSeconds;
    },
    content(bytes) {
      if (isFirsts) first.content?.(bytes);
      if (isSeconds) second.content?.(bytes);
    },
    end() {
      if (isFirsts) first.end?.();
      if (isSeconds) second.end?.();
    },
  };
}

/**
 * Number of bytes that are walked at once. Memory for what they may leave is counted before. What
 * they have inflated to, up to a thousand times as much, is counted after.
 */
const MAX_PIECE_BYTES = 4 * 1024;
/** Work of an entry besides its bytes: twelve may be one, and its hash takes microseconds. */
const ENTRY_WORK = 256;

/** Walks over entries. While an entry is shown, `base` is that of the entry. */
export class EntryWalker {
  readonly #listener: ContentListener;
  readonly #header = new EntryHeaderReader();
  readonly #walker = new ZlibWalker();
  readonly #memory: Pick<Memory, 'worked'>;
  readonly #sink = (bytes: Uint8Array): void => {
    this.#shownBytes += bytes.byteLength;
    this.#listener.content?.(bytes);
  };
  #shownBytes = 0;
  #begun = 0;
  #isInEntry = false;
  #isShown = false;
  #isStopped = false;
  #entryOffset = 0;

  /**
   * Creates a walker.
   * @param memory counts the work.
   */
  constructor(listener: ContentListener, memory: Pick<Memory, 'worked'>) {
    this.#listener = listener;
    this.#memory = memory;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Returns the offset or the id of a delta's base. */
  get base(): number | Oid {
    const { type, distance, bytes, baseStart } = this.#header;
    return type === OBJ_REF_DELTA ? oidFromBytes(bytes, baseStart) : this.#entryOffset - distance;
  }

  /**
   * Walks from an entry on, to the end or until `stop`.
   * @param onPiece is called with each piece before it is walked.
   */
  async walk(pack: StoredPack, start: number, onPiece?: (piece: Uint8Array) => Promise<void>): Promise<void> {
    this.#isInEntry = false;
    this.#isStopped = false;
    this.#header.begin();
    let offset = start;
    for await (const chunk of pack.read(start)) {
      for (let at = 0; at < chunk.length; at += MAX_PIECE_BYTES) {
        const piece = chunk.subarray(at, at + MAX_PIECE_BYTES);
        await onPiece?.(piece);
        [this.#shownBytes, this.#begun] = [0, 0];
        this.#walkPiece(piece, offset + at);
        await this.#memory.worked(piece.length + this.#shownBytes + ENTRY_WORK * this.#begun);
        if (this.#isStopped) return;
      }
      offset += chunk.length;
    }
  }

  #walkPiece(piece: Uint8Array, offset: number): void {
    for (let at = 0; at < piece.length && !this.#isStopped;) {
      if (!this.#isInEntry) {
        if (this.#header.length === 0) this.#entryOffset = offset + at;
        if (this.#header.push(piece[at++]!)) this.#beginEntry();
        continue;
      }
      at = this.#walker.walk(piece, at, piece.length);
      if (!this.#walker.done) continue;
      if (this.#isShown) this.#listener.end?.();
      this.#isInEntry = false;
      this.#header.begin();
    }
  }

  #beginEntry(): void {
    const { type, size } = this.#header;
    this.#isInEntry = true;
    this.#isShown = this.#listener.begin(type, size, this.#entryOffset);
    this.#begun += 1;
    if (this.#isShown) this.#walker.beginContent(size, this.#sink);
    else this.#walker.begin(size);
  }
}
