/** A list of small byte arrays, copied into a few large ones that the collector does not see. */
import { NumberList } from './number-list.ts';

const SLAB_BYTES = 64 * 1024;
/** Most pushes have a few commits. */
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

  /** Copies the bytes. Answers their index. */
  push(bytes: Uint8Array): number {
    let slab = this.#slabs.at(-1);
    if (slab === undefined || this.#used + bytes.byteLength > slab.byteLength) {
      const slabBytes = slab === undefined ? FIRST_SLAB_BYTES : SLAB_BYTES;
      slab = new Uint8Array(Math.max(slabBytes, bytes.byteLength));
      this.#slabs.push(slab);
      this.#used = 0;
    }
    slab.set(bytes, this.#used);
    this.#slabOf.push(this.#slabs.length - 1);
    this.#startOf.push(this.#used);
    this.#lengthOf.push(bytes.byteLength);
    this.#used += bytes.byteLength;
    return this.length - 1;
  }

  /** A view, not a copy. @param index below `length`. */
  at(index: number): Uint8Array {
    const start = this.#startOf.at(index);
    return this.#slabs[this.#slabOf.at(index)]!.subarray(start, start + this.#lengthOf.at(index));
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }

  /** Gives the memory back at once, where the collector would take its time. All views become empty. */
  free(): void {
    for (const slab of this.#slabs.splice(0)) slab.buffer.transfer(0);
  }
}
