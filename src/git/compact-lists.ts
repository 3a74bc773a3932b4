/**
 * Lists for tens of thousands of items, or more. Typed arrays keep them outside the
 * garbage-collected heap.
 */

const FIRST_CAPACITY = 64;

type NumberArray = Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

export class NumberList {
  #numbers: NumberArray;
  #length = 0;

  /** @param kind `uint32`: integers from 0 to 2^32 - 1; `float64`: any number. */
  constructor(kind: 'uint32' | 'float64') {
    this.#numbers = kind === 'uint32' ? new Uint32Array(FIRST_CAPACITY) : new Float64Array(FIRST_CAPACITY);
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#numbers.length) this.#grow();
    this.#numbers[this.#length++] = value;
  }

  at(index: number): number {
    return this.#numbers[index]!;
  }

  set(index: number, value: number): void {
    this.#numbers[index] = value;
  }

  /** Removes the last number; there must be one. */
  pop(): number {
    return this.#numbers[--this.#length]!;
  }

  /** Sorts in ascending order. */
  sort(): void {
    this.#numbers.subarray(0, this.#length).sort();
  }

  /**
   * Finds the first number above `value` in a list in ascending order.
   * @returns its index, or `length` if there is none.
   */
  firstAbove(value: number): number {
    let [low, high] = [0, this.#length];
    // Many callers ask about what they added last.
    if (high === 0 || this.#numbers[high - 1]! <= value) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#numbers[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #grow(): void {
    const old = this.#numbers;
    const capacity = 2 * old.length;
    this.#numbers = old instanceof Uint32Array ? new Uint32Array(capacity) : new Float64Array(capacity);
    this.#numbers.set(old);
    // Frees the memory at once. The garbage collector is slow to free buffers.
    old.buffer.transfer(0);
  }
}

const SLAB_BYTES = 64 * 1024;
/** Size of the first slab. Most pushes have only a few commits. */
const FIRST_SLAB_BYTES = 4 * 1024;

export class ByteArrays {
  readonly #slabs: Uint8Array<ArrayBuffer>[] = [];
  /** Bytes of the last slab that are in use. */
  #used = 0;
  readonly #slabOf = new NumberList('uint32');
  readonly #startOf = new NumberList('uint32');
  readonly #lengthOf = new NumberList('uint32');

  get length(): number {
    return this.#lengthOf.length;
  }

  push(bytes: Uint8Array): void {
    this.add(bytes.byteLength).set(bytes);
  }

  /** Adds so many bytes, and returns a view to write them to. */
  add(byteLength: number): Uint8Array {
    let slab = this.#slabs.at(-1);
    if (slab === undefined || this.#used + byteLength > slab.byteLength) {
      const slabBytes = slab === undefined ? FIRST_SLAB_BYTES : SLAB_BYTES;
      slab = new Uint8Array(Math.max(slabBytes, byteLength));
      this.#slabs.push(slab);
      this.#used = 0;
    }
    this.#slabOf.push(this.#slabs.length - 1);
    this.#startOf.push(this.#used);
    this.#lengthOf.push(byteLength);
    this.#used += byteLength;
    return slab.subarray(this.#used - byteLength, this.#used);
  }

  /**
   * Returns a view, not a copy.
   * @param index must be below `length`.
   */
  at(index: number): Uint8Array {
    const start = this.#startOf.at(index);
    return this.#slabs[this.#slabOf.at(index)]!.subarray(start, start + this.#lengthOf.at(index));
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }

  /**
   * Frees the memory at once, which the garbage collector would do late. Every view that was handed
   * out becomes empty.
   */
  free(): void {
    for (const slab of this.#slabs.splice(0)) slab.buffer.transfer(0);
  }
}
