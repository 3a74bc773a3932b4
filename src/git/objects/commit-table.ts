/**
 * Tens of thousands of commits of a listed history: their ids, dates and parents in a few typed
 * arrays, some 60 bytes a commit.
 */
import { NumberList } from '../compact-lists.ts';
import type { Oid } from './oid.ts';
import { OidTable } from './oid-table.ts';

export interface ListedCommit {
  readonly oid: Oid;
  readonly parents: readonly Oid[];
  readonly committedAt: number;
}

/** Stands for "no commit" and "no tip". */
const NONE = 2 ** 32 - 1;

/**
 * Flag that is added to a tip's index when another tip reaches the commit, too. There are fewer
 * tips than this.
 */
export const SEVERAL_TIPS = 2 ** 15;

export class CommitTable {
  readonly #oids = new OidTable();
  /**
   * The position of each id's commit in order of addition, or NONE if the id was only seen as a
   * parent.
   */
  readonly #placeOf = new NumberList('uint32');
  /** The number of each commit's id, its date, and the end of its parents in `#parents`. */
  readonly #idOf = new NumberList('uint32');
  readonly #committedAt = new NumberList('float64');
  readonly #parentsEnd = new NumberList('uint32');
  readonly #parents = new NumberList('uint32');

  /** Dates of the newest and the oldest commit, which are infinite while there is none. */
  newestAt = -Infinity;
  oldestAt = Infinity;

  get size(): number {
    return this.#idOf.length;
  }

  /** Returns the number of ids: those of commits, and of parents that were not added. */
  get idCount(): number {
    return this.#oids.size;
  }

  /** Adds a commit unless it was added before. */
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
   * Maps each commit that a tip reaches to the index of the first such tip, plus `SEVERAL_TIPS` if
   * another tip reaches it, too. Takes linear time.
   */
  reachedFrom(tips: readonly Oid[]): ReadonlyMap<Oid, number> {
    const tipOf = new Uint32Array(this.size).fill(NONE);
    for (const [tip, oid] of tips.entries()) {
      const start = this.#oids.indexOf(oid);
      if (start < 0) continue;
      // Commits that an earlier tip reached are shared, and so are all their ancestors.
      const met: number[] = [];
      this.#walk([start], (place, id) => {
        if (tipOf[place] !== NONE && tipOf[place] !== tip) met.push(id);
        if (tipOf[place] !== NONE) return false;
        tipOf[place] = tip;
        return true;
      });
      this.#walk(met, (place) => {
        if (tipOf[place]! >= SEVERAL_TIPS) return false;
        tipOf[place]! += SEVERAL_TIPS;
        return true;
      });
    }
    const reached = new Map<Oid, number>();
    for (const [place, tip] of tipOf.entries()) {
      if (tip !== NONE) reached.set(this.#oids.at(this.#idOf.at(place)), tip);
    }
    return reached;
  }

  /**
   * Visits commits and their ancestors.
   * @param visit gets the position and the id number of a commit, and says whether to go on to its
   * parents.
   */
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
