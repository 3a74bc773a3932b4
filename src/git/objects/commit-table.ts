/**
 * The commits of a listed history, tens of thousands: ids, dates and parents in a few arrays, some
 * 60 bytes each.
 */
import { NumberList } from '../compact-lists.ts';
import type { Oid } from './oid.ts';
import { OidTable } from './oid-table.ts';

export interface ListedCommit {
  readonly oid: Oid;
  readonly parents: readonly Oid[];
  readonly committedAt: number;
}

/** A number that no commit and no tip has. */
const NONE = 2 ** 32 - 1;

/** Added to the index of a tip: another tip reaches the commit, too. There must be fewer tips. */
export const SHARED = 2 ** 15;

export class CommitTable {
  readonly #oids = new OidTable();
  /** Of each id: the place of its commit; NONE: it is only a parent so far. */
  readonly #placeOf = new NumberList('uint32');
  /** Of each commit: its id, its date, and where its parents end among all parents. */
  readonly #idOf = new NumberList('uint32');
  readonly #committedAt = new NumberList('float64');
  readonly #parentsEnd = new NumberList('uint32');
  readonly #parents = new NumberList('uint32');

  /** Dates of the newest and the oldest commit; infinite if there is none. */
  newestAt = -Infinity;
  oldestAt = Infinity;

  get size(): number {
    return this.#idOf.length;
  }

  /** A commit that was added before is left out. */
  add({ oid, parents, committedAt }: ListedCommit): void {
    const id = this.#number(oid);
    if (this.#placeOf.at(id) !== NONE) return;
    this.#placeOf.set(id, this.size);
    this.#idOf.push(id);
    this.#committedAt.push(committedAt);
    this.newestAt = Math.max(this.newestAt, committedAt);
    this.oldestAt = Math.min(this.oldestAt, committedAt);
    for (const parent of parents) this.#parents.push(this.#number(parent));
    this.#parentsEnd.push(this.#parents.length);
  }

  newestFirst(): Oid[] {
    const places = Uint32Array.from({ length: this.size }, (_, place) => place);
    places.sort((a, b) => this.#committedAt.at(b) - this.#committedAt.at(a));
    return Array.from(places, (place) => this.#oids.at(this.#idOf.at(place)));
  }

  /**
   * Each commit that a tip reaches, with the index of the first such tip, and `SHARED` if there is
   * another. Linear.
   */
  reachedFrom(tips: readonly Oid[]): ReadonlyMap<Oid, number> {
    const tipOf = new Uint32Array(this.size).fill(NONE);
    for (const [tip, oid] of tips.entries()) {
      const start = this.#oids.indexOf(oid);
      if (start < 0) continue;
      // What an earlier tip has reached is shared, with all that it stands on.
      const met: number[] = [];
      this.#walk([start], (place, id) => {
        if (tipOf[place] !== NONE && tipOf[place] !== tip) met.push(id);
        if (tipOf[place] !== NONE) return false;
        tipOf[place] = tip;
        return true;
      });
      this.#walk(met, (place) => {
        if (tipOf[place]! >= SHARED) return false;
        tipOf[place]! += SHARED;
        return true;
      });
    }
    const reached = new Map<Oid, number>();
    for (const [place, tip] of tipOf.entries()) {
      if (tip !== NONE) reached.set(this.#oids.at(this.#idOf.at(place)), tip);
    }
    return reached;
  }

  /** @param visit the place and the id of a commit; whether to go on to its parents. */
  #walk(starts: readonly number[], visit: (place: number, id: number) => boolean): void {
    const waiting = new NumberList('uint32');
    for (const id of starts) waiting.push(id);
    while (waiting.length > 0) {
      const id = waiting.pop();
      const place = this.#placeOf.at(id);
      if (place === NONE || !visit(place, id)) continue;
      const start = place === 0 ? 0 : this.#parentsEnd.at(place - 1);
      for (let at = start; at < this.#parentsEnd.at(place); at++) waiting.push(this.#parents.at(at));
    }
  }

  missingParents(): Set<Oid> {
    const missing = new Set<Oid>();
    for (let id = 0; id < this.#oids.size; id++) {
      if (this.#placeOf.at(id) === NONE) missing.add(this.#oids.at(id));
    }
    return missing;
  }

  #number(oid: Oid): number {
    const id = this.#oids.add(oid);
    if (id === this.#placeOf.length) this.#placeOf.push(NONE);
    return id;
  }
}
