/**
 * How often a search looks closely. Finding where something may begin costs nanoseconds for each
 * byte. A look at that place copies and runs patterns, which costs microseconds, and 30 KB can hold
 * ten million such places, compressed.
 * Proved by test/leaks/search-cost.test.ts.
 */

/** For each kind of what is searched for, in one push. */
const MAX_LOOKS = 1_000;
/**
 * Places of a kind that are tested at all. 270 MB of packages have 63,000 of the most frequent one.
 */
const MAX_PLACES = 100_000;

export class Looks {
  readonly #taken = new Map<string, number>();
  readonly #places = new Map<string, number>();
  readonly #over = new Set<string>();
  readonly #ended: Set<string>;

  /** @param ended where kinds are noted of which not every place was looked at. */
  constructor(ended = new Set<string>()) {
    this.#ended = ended;
  }

  /** Makes looks at another part of the same push: as many again, whose end is noted here. */
  beside(): Looks {
    return new Looks(this.#ended);
  }

  /**
   * Counts a look, and answers whether there are any left.
   * @param kind completes "Not searched further for …".
   */
  take(kind: string, most = MAX_LOOKS): boolean {
    const taken = this.#taken.get(kind) ?? 0;
    if (taken >= most) this.end(kind);
    else this.#taken.set(kind, taken + 1);
    return taken < most;
  }

  /** Counts a place where something may begin, and answers whether others are worth finding. */
  pass(kind: string): boolean {
    const places = (this.#places.get(kind) ?? 0) + 1;
    this.#places.set(kind, places);
    if (places > MAX_PLACES) this.end(kind);
    return !this.#over.has(kind);
  }

  /** Notes that a search has ended for another reason. */
  end(kind: string): void {
    this.#over.add(kind);
    this.#ended.add(kind);
  }

  hasEnded(kind: string): boolean {
    return this.#over.has(kind);
  }

  /** Kinds of which not every place was looked at: the person has to know. */
  get ended(): ReadonlySet<string> {
    return this.#ended;
  }
}
