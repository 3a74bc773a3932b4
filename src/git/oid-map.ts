/** Object ids by object ids, in a few arrays: thousands of entries of a Map would take three times as much. */
import { NumberList } from './number-list.ts';
import type { Oid } from './oid.ts';
import { OidTable } from './oid-table.ts';

export class OidMap {
  readonly #keys = new OidTable();
  readonly #values = new OidTable();
  /** Of each key: the number of its value. */
  readonly #valueOf = new NumberList('uint32');

  /** @returns false if the value was in the map before, under whatever key. */
  set(key: Oid, value: Oid): boolean {
    const before = this.#values.size;
    const place = this.#keys.add(key);
    const number = this.#values.add(value);
    if (place === this.#valueOf.length) this.#valueOf.push(number);
    else this.#valueOf.set(place, number);
    return this.#values.size > before;
  }

  get(key: Oid): Oid | undefined {
    const place = this.#keys.indexOf(key);
    return place < 0 ? undefined : this.#values.at(this.#valueOf.at(place));
  }

  hasValue(value: Oid): boolean {
    return this.#values.has(value);
  }
}
