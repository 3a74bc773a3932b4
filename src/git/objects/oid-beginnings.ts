/**
 * Stores the first 52 bits of object ids, in 8 bytes each. With a million ids, another id matches
 * by chance once in four thousand million look-ups.
 */
import { NumberList } from '../compact-lists.ts';
import type { Oid } from './oid.ts';

const DIGITS = 13;
const BEGINNING_BYTES = 8;

const beginningOf = (oid: Oid): number => Number.parseInt(oid.slice(0, DIGITS), 16);

export class OidBeginnings {
  readonly #beginnings = new NumberList('float64');

  get byteLength(): number {
    return BEGINNING_BYTES * this.#beginnings.length;
  }

  /** Adds an id. Call `sort` before the first look-up. */
  push(oid: Oid): void {
    this.#beginnings.push(beginningOf(oid));
  }

  /** Prepares look-ups. */
  sort(): void {
    this.#beginnings.sort();
  }

  has(oid: Oid): boolean {
    const beginning = beginningOf(oid);
    const index = this.#beginnings.firstAbove(beginning) - 1;
    return index >= 0 && this.#beginnings.at(index) === beginning;
  }
}
