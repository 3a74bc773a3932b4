/** The hashes of thousands of commits, by the commits' original ids, in a few arrays. */
import { NumberList } from '../../git/number-list.ts';
import type { Oid } from '../../git/oid.ts';
import { OidTable } from '../../git/oid-table.ts';

const WORD_HEX_LENGTH = 8;

export class PublicHashes {
  readonly #oids = new OidTable();
  readonly #high = new NumberList('uint32');
  readonly #low = new NumberList('uint32');

  /** Each commit once. @param hash its two halves of 32 bits. */
  set(oid: Oid, [high, low]: readonly [number, number]): void {
    this.#oids.add(oid);
    this.#high.push(high);
    this.#low.push(low);
  }

  /** 16 hex digits. */
  get(oid: Oid): string | undefined {
    const place = this.#oids.indexOf(oid);
    return place < 0 ? undefined : this.#at(place);
  }

  *all(): Generator<string> {
    for (let place = 0; place < this.#oids.size; place++) yield this.#at(place);
  }

  #at(place: number): string {
    return hex(this.#high.at(place)) + hex(this.#low.at(place));
  }
}

function hex(word: number): string {
  return word.toString(16).padStart(WORD_HEX_LENGTH, '0');
}
