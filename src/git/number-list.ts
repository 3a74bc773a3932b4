/**
 * A list of numbers that grows, in one typed array. An ordinary array of as many takes as much, but on the collected
 * heap.
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

  /** @param index below `length`. */
  at(index: number): number {
    return this.#numbers[index]!;
  }

  /** @param index below `length`. */
  set(index: number, value: number): void {
    this.#numbers[index] = value;
  }

  /** Removes the last number. Only if there is one. */
  pop(): number {
    return this.#numbers[--this.#length]!;
  }

  #grow(): void {
    const old = this.#numbers;
    const capacity = 2 * old.length;
    this.#numbers = old instanceof Uint32Array ? new Uint32Array(capacity) : new Float64Array(capacity);
    this.#numbers.set(old);
    // Gives the memory back at once: the collector is slow to notice buffers.
    old.buffer.transfer(0);
  }
}
