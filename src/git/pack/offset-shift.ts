/**
 * How far entries move towards the pack's start because something before them was removed.
 *
 * An ofs-delta names its base by distance, which changes where commits lie between the two. Consecutive cuts become
 * one, and a pack with its commits first has only one.
 */
import { ProtocolError } from '../wire/protocol-error.ts';
import { MAX_CUTS } from './memory-limits.ts';

export class OffsetShift {
  /** `marks[i]`: from this offset on, `removed[i]` bytes in total were removed. */
  readonly #marks: number[] = [];
  /** `starts[i]`: where the removed bytes before `marks[i]` begin. */
  readonly #starts: number[] = [];
  readonly #removed: number[] = [];
  #total = 0;

  /** Removes bytes; calls come in the order of offsets. @throws ProtocolError `not-rewritable` over MAX_CUTS. */
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

  /** What was removed between the entry at `base` and the current one; -1: `base` itself. O(log cuts), mostly O(1). */
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
