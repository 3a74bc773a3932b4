/**
 * Limits how often a search looks closely. Finding a place where something may begin costs
 * nanoseconds for each byte. A look at that place copies and runs patterns, which costs
 * microseconds, and 30 KB can contain ten million such places, compressed.
 * Proved by test/leaks/search-cost.test.ts.
 */

/** Maximum number of looks for each kind, by default, in one part of a push. */
const MAX_LOOKS = 1_000;
/**
 * Maximum number of places of a kind that are tested at all. 270 MB of packages have 63,000 of the
 * most frequent one.
 */
const MAX_PLACES = 100_000;

export class Looks {
  readonly #taken = new Map<string, number>();
  readonly #places = new Map<string, number>();
  readonly #over = new Set<string>();
  readonly #ended: Set<string>;

  /**
   * Starts to count.
   * @param ended collects the kinds of which not every place was looked at.
   */
  constructor(ended = new Set<string>()) {
    this.#ended = ended;
  }

  /**
   * Creates a budget of the same size for another part of the same push. What ends there is noted
   * here, too.
   */
  beside(): Looks {
    return new Looks(this.#ended);
  }

  /**
   * Counts a look.
   * @param kind completes "Not searched further for …".
   * @returns whether there are any left.
   */
  take(kind: string, most = MAX_LOOKS): boolean {
    const taken = this.#taken.get(kind) ?? 0;
    if (taken >= most) this.end(kind);
    else this.#taken.set(kind, taken + 1);
    return taken < most;
  }

  /**
   * Counts a place where something may begin.
   * @returns whether further places are worth finding.
   */
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

  /** Returns the kinds of which not every place was looked at, which the person has to know. */
  get ended(): ReadonlySet<string> {
    return this.#ended;
  }
}
