/**
 * How far entries move towards the pack's start because something before them was taken out.
 *
 * An ofs-delta names its base by distance. The distance stays right as long as nothing between the two
 * changes; where commits lie between them (packs that do not write all commits first), it must be computed
 * anew. Cuts are few: consecutive ones melt into one, and a pack with its commits first has just one.
 */
import { ProtocolError } from '../protocol-error.ts';
import { MAX_CUTS } from './limits.ts';

export class OffsetShift {
  /** `marks[i]`: from this offset on, `removed[i]` bytes in all are gone. */
  readonly #marks: number[] = [];
  /** `starts[i]`: where the bytes begin that are gone up to `marks[i]`. */
  readonly #starts: number[] = [];
  readonly #removed: number[] = [];
  #total = 0;

  /**
   * The bytes from `start` to `end` are taken out. Calls come in the order of offsets.
   * @throws ProtocolError `not-rewritable` if there are more places than can be remembered.
   */
  cut(start: number, end: number): void {
    this.#total += end - start;
    const last = this.#marks.length - 1;
    if (last >= 0 && this.#marks[last] === start) {
      this.#marks[last] = end;
      this.#removed[last] = this.#total;
    } else {
      if (last === MAX_CUTS - 1) {
        throw new ProtocolError('not-rewritable', 'The pack mixes commits and files too much.');
      }
      this.#starts.push(start);
      this.#marks.push(end);
      this.#removed.push(this.#total);
    }
  }

  /**
   * How many bytes are gone between the entry at `base` and the current one; -1 if `base` itself is gone.
   * O(log cuts), mostly O(1).
   */
  removedSince(base: number): number {
    let low = 0;
    let high = this.#marks.length;
    if (high === 0 || (this.#marks[high - 1] as number) <= base) return 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#marks[middle] as number) <= base) low = middle + 1;
      else high = middle;
    }
    if ((this.#starts[low] as number) <= base) return -1;
    return this.#total - (low === 0 ? 0 : (this.#removed[low - 1] as number));
  }
}
