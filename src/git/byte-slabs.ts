/**
 * Stores many small arrays in a few large ones. A separate array takes hundreds of bytes besides its content, and the
 * commits of a push are thousands of arrays.
 */
const SLAB_BYTES = 64 * 1024;

export class ByteSlabs {
  readonly #full: Uint8Array[] = [];
  #slab = new Uint8Array(0);
  #used = 0;

  /** Allocates bytes, all zero. */
  take(length: number): Uint8Array {
    if (this.#used + length > this.#slab.byteLength) {
      this.#closeSlab();
      this.#slab = new Uint8Array(Math.max(SLAB_BYTES, length));
    }
    this.#used += length;
    return this.#slab.subarray(this.#used - length, this.#used);
  }

  /** Everything that was taken so far, in order, in pieces that are as large as possible. */
  pieces(): readonly Uint8Array[] {
    this.#closeSlab();
    return this.#full;
  }

  #closeSlab(): void {
    if (this.#used > 0) this.#full.push(this.#slab.subarray(0, this.#used));
    this.#slab = this.#slab.subarray(this.#used);
    this.#used = 0;
  }
}
