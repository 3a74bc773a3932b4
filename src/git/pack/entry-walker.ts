/**
 * Walks over the entries of a pack, one behind the other, and shows their content to a listener as it is inflated.
 *
 * For packs that a PackScanner has judged already: nothing is checked again but what the walk itself needs.
 */
import { ZlibWalker } from '../zlib/zlib-walker.ts';
import { EntryHeaderReader } from './entry-header.ts';

export interface ContentListener {
  /** Answers whether to pass on the content. @param type as the pack stores it, one of the OBJ_ constants. */
  begin(type: number, size: number): boolean;
  /** The next piece of the content; valid during the call only. */
  content(bytes: Uint8Array): void;
  end(): void;
}

export class EntryWalker {
  readonly #listener: ContentListener;
  readonly #header = new EntryHeaderReader();
  readonly #walker = new ZlibWalker();
  readonly #sink = (bytes: Uint8Array): void => this.#listener.content(bytes);
  #isInEntry = false;
  #isShown = false;

  constructor(listener: ContentListener) {
    this.#listener = listener;
    this.#header.begin();
  }

  /** @param bytes whole entries and parts of them, in order. */
  walk(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (!this.#isInEntry) {
        if (this.#header.push(bytes[at++]!)) this.#beginEntry();
        continue;
      }
      at = this.#walker.walk(bytes, at, bytes.length);
      if (!this.#walker.done) continue;
      if (this.#isShown) this.#listener.end();
      this.#isInEntry = false;
      this.#header.begin();
    }
  }

  #beginEntry(): void {
    const { type, size } = this.#header;
    this.#isInEntry = true;
    this.#isShown = this.#listener.begin(type, size);
    if (this.#isShown) this.#walker.beginContent(size, this.#sink);
    else this.#walker.begin(size);
  }
}
