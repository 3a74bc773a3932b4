/**
 * The distances by which entries of a pack move when others before them are left out.
 * Proved by test/git/pack/pack-scanner.test.ts.
 */
import { NumberList } from '../compact-lists.ts';
import { ProtocolError } from '../wire/protocol-error.ts';
import { MAX_CUTS } from './memory-limits.ts';

/**
 * Computes how far entries move when commits before them are removed, because ofs-deltas name their
 * bases by distance. Adjacent cuts are joined.
 */
export class OffsetShift {
  /** The start and end of each cut, and the number of bytes removed up to its end. */
  readonly #starts = new NumberList('float64');
  readonly #ends = new NumberList('float64');
  readonly #removed = new NumberList('float64');
  #total = 0;

  /**
   * Removes bytes. Calls come in the order of offsets.
   * @throws ProtocolError `not-rewritable` over MAX_CUTS.
   */
  cut(start: number, end: number): void {
    this.#total += end - start;
    const last = this.#ends.length - 1;
    if (last >= 0 && this.#ends.at(last) === start) {
      this.#ends.set(last, end);
      this.#removed.set(last, this.#total);
      return;
    }
    if (last === MAX_CUTS - 1) {
      throw new ProtocolError('not-rewritable', 'The pack mixes commits and files too much.');
    }
    this.#starts.push(start);
    this.#ends.push(end);
    this.#removed.push(this.#total);
  }

  /**
   * Returns the number of bytes that were removed between the entry at `base` and the current one,
   * or -1 if `base` itself was removed. Takes O(log cuts), mostly O(1).
   */
  removedSince(base: number): number {
    const next = this.#ends.firstAbove(base);
    if (next === this.#ends.length) return 0;
    if (this.#starts.at(next) <= base) return -1;
    return this.#total - (next === 0 ? 0 : this.#removed.at(next - 1));
  }
}
