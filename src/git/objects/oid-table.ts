/**
 * A set of object ids that numbers them from 0 on, in typed arrays outside the garbage-collected
 * heap. A Map takes several times the memory.
 */
import { HEX_VALUES, latin1 } from '../bytes.ts';
import { NumberList } from '../compact-lists.ts';
import { OID_BYTES, OID_HEX_LENGTH, type Oid, oidFromBytes, writeHex } from './oid.ts';

const FIRST_SLOTS = 128;
const WORD_BYTES = 4;
const WORDS = OID_BYTES / WORD_BYTES;
const QUOTE = 0x22;
const COMMA = 0x2c;
/** Size of an id in a list, with two quotes and a comma. */
const LISTED_BYTES = OID_HEX_LENGTH + 3;
/** Maximum share of the slots in use. */
const MAX_LOAD = 0.75;

/** The id of the current look-up, as words. */
const sought = new Uint32Array(WORDS);

export class OidTable {
  #words = new NumberList('uint32');
  /**
   * The number of the id in each slot plus one, or 0 if the slot is free. Collisions take the next
   * slot (open addressing).
   */
  #slots = new Uint32Array(FIRST_SLOTS);
  #size = 0;
  /** A random seed, so that nobody can choose ids that collide. */
  readonly #seed = Math.floor(Math.random() * 2 ** 32);

  get size(): number {
    return this.#size;
  }

  /** Returns the number of an id, and adds the id if it is new. */
  add(oid: Oid): number {
    readWords(oid);
    return this.#addSought();
  }

  /** Does the same with an id in bytes. */
  addBytes(bytes: Uint8Array): number {
    idBytes.set(bytes);
    for (let word = 0; word < WORDS; word++) sought[word] = idView.getUint32(word * WORD_BYTES);
    return this.#addSought();
  }

  #addSought(): number {
    const slot = this.#soughtSlot();
    const known = this.#slots[slot]!;
    if (known > 0) return known - 1;
    for (let word = 0; word < WORDS; word++) this.#words.push(sought[word]!);
    this.#slots[slot] = ++this.#size;
    if (this.#size > MAX_LOAD * this.#slots.length) this.#rehash();
    return this.#size - 1;
  }

  /** Returns the number of an id, or -1 if it is not in the set. */
  indexOf(oid: Oid): number {
    readWords(oid);
    return this.#slots[this.#soughtSlot()]! - 1;
  }

  has(oid: Oid): boolean {
    return this.indexOf(oid) >= 0;
  }

  *oids(): Generator<Oid> {
    for (let index = 0; index < this.#size; index++) yield this.at(index);
  }

  /**
   * Lists the ids in ascending order, as JSON does. The list is one text: thousands of texts that
   * are sorted would make the heap grow.
   */
  sortedList(): string {
    const order = Uint32Array.from({ length: this.#size }, (_, index) => index);
    order.sort((a, b) => this.#difference(a, b));
    const list = new Uint8Array(LISTED_BYTES * this.#size);
    for (const [place, index] of order.entries()) {
      this.#readBytes(index);
      const start = LISTED_BYTES * place;
      list[start] = list[start + OID_HEX_LENGTH + 1] = QUOTE;
      writeHex(idBytes, list, start + 1);
      list[start + OID_HEX_LENGTH + 2] = COMMA;
    }
    return `[${latin1(list, 0, Math.max(0, list.length - 1))}]`;
  }

  #difference(a: number, b: number): number {
    for (let word = 0; word < WORDS; word++) {
      const difference = this.#words.at(a * WORDS + word) - this.#words.at(b * WORDS + word);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  at(index: number): Oid {
    this.#readBytes(index);
    return oidFromBytes(idBytes, 0);
  }

  bytesAt(index: number): Uint8Array {
    this.#readBytes(index);
    return idBytes.slice();
  }

  #readBytes(index: number): void {
    for (let word = 0; word < WORDS; word++) {
      idView.setUint32(word * WORD_BYTES, this.#words.at(index * WORDS + word));
    }
  }

  /** Removes all ids, and frees their memory. */
  clear(): void {
    this.#words = new NumberList('uint32');
    this.#slots = new Uint32Array(FIRST_SLOTS);
    this.#size = 0;
  }

  /** Finds the slot of the id of the current look-up, or the free slot where it belongs. */
  #soughtSlot(): number {
    let hash = this.#seed;
    for (let word = 0; word < WORDS; word++) {
      hash = Math.imul(hash ^ sought[word]!, 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const known = this.#slots[slot]!;
      if (known === 0 || this.#isSought(known - 1)) return slot;
    }
  }

  #isSought(index: number): boolean {
    for (let word = 0; word < WORDS; word++) {
      if (this.#words.at(index * WORDS + word) !== sought[word]) return false;
    }
    return true;
  }

  #rehash(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(2 * old.length);
    old.buffer.transfer(0);
    for (let index = 0; index < this.#size; index++) {
      for (let word = 0; word < WORDS; word++) sought[word] = this.#words.at(index * WORDS + word);
      this.#slots[this.#soughtSlot()] = index + 1;
    }
  }
}

const idBytes = new Uint8Array(OID_BYTES);
const idView = new DataView(idBytes.buffer);

function readWords(oid: Oid): void {
  const digitsOfWord = OID_HEX_LENGTH / WORDS;
  for (let word = 0, at = 0; word < WORDS; word++) {
    let value = 0;
    for (const end = at + digitsOfWord; at < end; at++)
      value = (value << 4) | HEX_VALUES[oid.charCodeAt(at)]!;
    sought[word] = value;
  }
}
