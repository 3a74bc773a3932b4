/**
 * Searches what a delta inserts, as it arrives (gitformat-pack, "Deltified representation"), and tells whether a name
 * may be in what it makes. What it copies is not at hand: at each copy, any text may be under way, and go on.
 */
import { concatBytes } from '../bytes.ts';
import { readInstructions } from '../pack/delta.ts';
import { MIN_TELLING_LETTERS, type TextSearch } from './text-search.ts';

const NOTHING = new Uint8Array(0);
const INSERT_MAX = 0x7f;
/** A copy instruction has up to four bytes of its offset, then up to three of its length. */
const OFFSET_BYTES = 4;
const COPIED_IF_ZERO = 0x10000;
/** Whoever needs them shows the first ones. */
const MAX_TELLING = 10;

/** Something that tells enough on its own. */
export interface TellingPlace {
  /** Which text the delta inserts, and where it ends in that. Inserts that follow each other are one. */
  readonly insert: number;
  readonly end: number;
  readonly text: number;
}

/**
 * Whether a text is no name and no id. It is asked for each one that is found.
 * @param bytes what is inserted around it. @param at behind it.
 */
type IsOther = (text: number, bytes: Uint8Array, at: number) => boolean;

export class DeltaScan {
  readonly #search: TextSearch;
  readonly #isOther: IsOther;
  /** A text may be in what the delta makes that is neither in the base nor known to be none. */
  isSuspect = false;
  telling: TellingPlace[] = [];
  baseSize = 0;
  resultSize = 0;
  #sizesRead = 0;
  #factor = 1;
  /** Of the copy that is being read: its bits, and how many of them are done. */
  #copyBits = 0;
  #copyAt = 0;
  #copyOffset = 0;
  #copyLength = 0;
  #copiedTo = 0;
  #insertLeft = 0;
  /** Texts inserted before this one. */
  #insert = 0;
  #insertedBytes = 0;
  #isBehindCopy = false;

  constructor(search: TextSearch, isOther: IsOther) {
    this.#search = search;
    this.#isOther = isOther;
  }

  begin(): void {
    this.isSuspect = false;
    this.telling = [];
    [this.baseSize, this.resultSize, this.#sizesRead, this.#factor] = [0, 0, 0, 1];
    [this.#copyBits, this.#copiedTo, this.#insertLeft, this.#insert, this.#insertedBytes] = [0, 0, 0, 0, 0];
    this.#isBehindCopy = false;
    this.#search.begin();
  }

  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#insertLeft > 0) {
        const end = Math.min(bytes.length, at + this.#insertLeft);
        this.#inserted(bytes, at, end);
        this.#insertLeft -= end - at;
        at = end;
        continue;
      }
      const byte = bytes[at++]!;
      if (this.#sizesRead < 2) this.#readSize(byte);
      else if (this.#copyBits > 0) this.#readCopy(byte);
      else if (byte <= INSERT_MAX) this.#insertLeft = byte;
      else this.#beginCopy(byte & INSERT_MAX);
    }
  }

  end(): void {
    if (this.#search.findEnd()) this.#found(this.#insertedBytes + 1, NOTHING, 0);
  }

  #readSize(byte: number): void {
    const part = (byte & 0x7f) * this.#factor;
    if (this.#sizesRead === 0) this.baseSize += part;
    else this.resultSize += part;
    this.#factor *= 128;
    if (byte >= 0x80) return;
    this.#sizesRead += 1;
    this.#factor = 1;
  }

  #beginCopy(bits: number): void {
    this.#copyBits = bits;
    [this.#copyAt, this.#copyOffset, this.#copyLength] = [0, 0, 0];
    if (bits === 0) this.#copied(0, COPIED_IF_ZERO);
  }

  /** The next bit that is set says what the byte is. */
  #readCopy(byte: number): void {
    while ((this.#copyBits & 1) === 0) this.#skipCopyBit();
    if (this.#copyAt < OFFSET_BYTES) this.#copyOffset += byte * 256 ** this.#copyAt;
    else this.#copyLength += byte * 256 ** (this.#copyAt - OFFSET_BYTES);
    this.#skipCopyBit();
    if (this.#copyBits === 0) this.#copied(this.#copyOffset, this.#copyLength || COPIED_IF_ZERO);
  }

  #skipCopyBit(): void {
    this.#copyBits >>= 1;
    this.#copyAt += 1;
  }

  #inserted(bytes: Uint8Array, start: number, end: number): void {
    const search = this.#search;
    for (let at = search.find(bytes, start, end); at >= 0; at = search.find(bytes, at, end)) {
      this.#found(this.#insertedBytes + at - start, bytes.subarray(start, end), at - start);
    }
    this.#insertedBytes += end - start;
  }

  /** @param at behind what ends; `insertedAt`, too, but in the bytes that have just been inserted. */
  #found(at: number, inserted: Uint8Array, insertedAt: number): void {
    for (const index of this.#search.ended) {
      if (this.#isOther(index, inserted, insertedAt)) continue;
      this.isSuspect = true;
      const { letters, after, tellingLack } = this.#search.texts[index]!;
      const end = after === null ? at : at - 1;
      const lacked = this.#isBehindCopy ? letters.length - end : 0;
      if (lacked <= tellingLack.first && (lacked <= 0 || end >= MIN_TELLING_LETTERS))
        return this.#tells(index, end);
    }
  }

  #copied(offset: number, length: number): void {
    // It repeats or moves text: copies may come together to a name. An ordinary change goes through its base once.
    if (offset < this.#copiedTo) this.isSuspect = true;
    this.#copiedTo = offset + length;
    if (this.#insertedBytes > 0) {
      if (this.#search.hasBegun) this.isSuspect = true;
      const text = this.#insertedBytes < MIN_TELLING_LETTERS ? -1 : this.#search.tellingText;
      if (text >= 0) this.#tells(text, this.#insertedBytes);
      this.#insert += 1;
      this.#insertedBytes = 0;
    }
    this.#isBehindCopy = true;
    this.#search.beginBehindCopy();
  }

  #tells(text: number, end: number): void {
    if (this.telling.length < MAX_TELLING) this.telling.push({ insert: this.#insert, end, text });
  }
}

/** What a delta inserts, as it is counted above. @throws ProtocolError `bad-pack` */
export function insertsOf(delta: Uint8Array): Uint8Array[] {
  const inserts: Uint8Array[] = [];
  let parts: Uint8Array[] = [];
  const end = (): void => {
    if (parts.length > 0) inserts.push(concatBytes(parts));
    parts = [];
  };
  readInstructions(delta, (isCopy, offset, length) => {
    if (isCopy) end();
    else parts.push(delta.subarray(offset, offset + length));
  });
  end();
  return inserts;
}
