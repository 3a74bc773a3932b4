/**
 * Walks over the entries of a pack, one behind the other, and shows their content to a listener as it is inflated.
 *
 * For packs that a PackScanner has judged already: nothing is checked again but what the walk itself needs.
 */
import { type Oid, oidFromBytes } from '../objects/oid.ts';
import { ZlibWalker } from '../zlib/zlib-walker.ts';
import { EntryHeaderReader, PACK_HEADER_BYTES } from './entry-header.ts';

export interface ContentListener {
  /**
   * Answers whether to pass on the content.
   * @param type as the pack stores it, one of the OBJ_ constants. @param offset where the entry begins in the pack.
   */
  begin(type: number, size: number, offset: number): boolean;
  /** The next piece of the content; valid during the call only. */
  content(bytes: Uint8Array): void;
  end(): void;
}

/** While an entry is shown, the walker knows what its base is. */
export class EntryWalker {
  readonly #listener: ContentListener;
  readonly #header = new EntryHeaderReader();
  readonly #walker = new ZlibWalker();
  readonly #sink = (bytes: Uint8Array): void => this.#listener.content(bytes);
  #isInEntry = false;
  #isShown = false;
  #isStopped = false;
  /** In the pack, of the bytes that are walked. */
  #offset = 0;
  #entryOffset = PACK_HEADER_BYTES;
  #headerLeft = PACK_HEADER_BYTES;

  constructor(listener: ContentListener) {
    this.#listener = listener;
    this.#header.begin();
  }

  /** Goes on at an entry. @param offset where it begins; as the next bytes count. */
  beginAt(offset: number): void {
    this.#offset = offset;
    this.#headerLeft = 0;
    this.#isInEntry = false;
    this.#isStopped = false;
    this.#header.begin();
  }

  /** Leaves out whatever comes, until `beginAt`. For the listener. */
  stop(): void {
    this.#isStopped = true;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Of an ofs-delta: how far back its base begins. */
  get distance(): number {
    return this.#header.distance;
  }

  /** Of a ref-delta. */
  get baseOid(): Oid {
    return oidFromBytes(this.#header.bytes, this.#header.baseStart);
  }

  /** @param bytes the next ones of the pack, which begins with its header, if not `beginAt` an entry, and has no trailer. */
  walk(bytes: Uint8Array): void {
    const skipped = Math.min(bytes.length, this.#headerLeft);
    this.#headerLeft -= skipped;
    for (let at = skipped; at < bytes.length && !this.#isStopped;) {
      if (!this.#isInEntry) {
        if (this.#header.length === 0) this.#entryOffset = this.#offset + at;
        if (this.#header.push(bytes[at++]!)) this.#beginEntry();
        continue;
      }
      at = this.#walker.walk(bytes, at, bytes.length);
      if (!this.#walker.done) continue;
      if (this.#isShown) this.#listener.end();
      this.#isInEntry = false;
      this.#header.begin();
    }
    this.#offset += bytes.length;
  }

  #beginEntry(): void {
    const { type, size } = this.#header;
    this.#isInEntry = true;
    this.#isShown = this.#listener.begin(type, size, this.#entryOffset);
    if (this.#isShown) this.#walker.beginContent(size, this.#sink);
    else this.#walker.begin(size);
  }
}
