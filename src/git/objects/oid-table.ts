/** A set of object ids that numbers them from 0 on. A Map takes five times as much, and on the collected heap. */
import { OID_BYTES, OID_HEX_LENGTH, type Oid, oidFromBytes } from './oid.ts';

const FIRST_CAPACITY = 64;
const WORD_BYTES = 4;
const WORDS = OID_BYTES / WORD_BYTES;
/** Part of the slots that are in use at most. */
const MAX_LOAD = 0.75;

/** The values of hexadecimal digits by their ASCII codes. */
const DIGITS = new Uint8Array(128);
for (let digit = 0; digit < 16; digit++) DIGITS[digit.toString(16).charCodeAt(0)] = digit;

/** The id that is looked for, as words. */
const sought = new Uint32Array(WORDS);

export class OidTable {
  #words = new Uint32Array(FIRST_CAPACITY * WORDS);
  /** The number of the id in each slot, plus one; 0: the slot is free. Collisions go to the next slot. */
  #slots = new Uint32Array(2 * FIRST_CAPACITY);
  #size = 0;
  /** Nobody can choose ids that collide here. */
  readonly #seed = Math.floor(Math.random() * 2 ** 32);

  get size(): number {
    return this.#size;
  }

  /** The number of an id, which is added if it is new. */
  add(oid: Oid): number {
    readWords(oid);
    const slot = this.#slotOf(sought, 0);
    const known = this.#slots[slot]!;
    if (known > 0) return known - 1;
    if (this.#size * WORDS === this.#words.length) this.#words = grown(this.#words);
    this.#words.set(sought, this.#size * WORDS);
    this.#slots[slot] = ++this.#size;
    if (this.#size > MAX_LOAD * this.#slots.length) this.#rehash();
    return this.#size - 1;
  }

  /** The number of an id, or -1. */
  indexOf(oid: Oid): number {
    readWords(oid);
    return this.#slots[this.#slotOf(sought, 0)]! - 1;
  }

  has(oid: Oid): boolean {
    return this.indexOf(oid) >= 0;
  }

  *oids(): Generator<Oid> {
    for (let index = 0; index < this.#size; index++) yield this.at(index);
  }

  /** @param index below `size`. */
  at(index: number): Oid {
    for (let word = 0; word < WORDS; word++) {
      idView.setUint32(word * WORD_BYTES, this.#words[index * WORDS + word]!);
    }
    return oidFromBytes(idBytes, 0);
  }

  /** The slot that holds the id at `words[at]`, or the free one where it belongs. */
  #slotOf(words: Uint32Array, at: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = this.#hash(words, at) & mask; ; slot = (slot + 1) & mask) {
      const known = this.#slots[slot]!;
      if (known === 0 || this.#isAt(known - 1, words, at)) return slot;
    }
  }

  #isAt(index: number, words: Uint32Array, at: number): boolean {
    for (let word = 0; word < WORDS; word++) {
      if (this.#words[index * WORDS + word] !== words[at + word]) return false;
    }
    return true;
  }

  #hash(words: Uint32Array, at: number): number {
    let hash = this.#seed;
    for (let word = 0; word < WORDS; word++) {
      hash = Math.imul(hash ^ words[at + word]!, 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return hash;
  }

  #rehash(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(2 * old.length);
    old.buffer.transfer(0);
    for (let index = 0; index < this.#size; index++) {
      this.#slots[this.#slotOf(this.#words, index * WORDS)] = index + 1;
    }
  }
}

const idBytes = new Uint8Array(OID_BYTES);
const idView = new DataView(idBytes.buffer);

function readWords(oid: Oid): void {
  const digitsOfWord = OID_HEX_LENGTH / WORDS;
  for (let word = 0, at = 0; word < WORDS; word++) {
    let value = 0;
    for (const end = at + digitsOfWord; at < end; at++) value = (value << 4) | DIGITS[oid.charCodeAt(at)]!;
    sought[word] = value;
  }
}

function grown(words: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * words.length);
  larger.set(words);
  // Gives the memory back at once: the collector is slow to notice buffers.
  words.buffer.transfer(0);
  return larger;
}
