/**
 * The cache for what this isolate has learned. Its entries may expire, and have a maximum weight
 * together; above it, the least recently used are dropped. An expired entry is dropped when it is
 * read, and all of them when an entry is set, at most once in a life.
 */
interface RecentLimits<T> {
  /** Time for which an entry is valid. By default, it is valid until it is dropped. */
  readonly lifeMs?: number;
  /**
   * Maximum weight of all entries together, which by default is their number. A heavier value is
   * not kept.
   */
  readonly most: number;
  /**
   * Returns the weight of a value, in bytes wherever others decide how large it is. Less than 1
   * counts as 1.
   */
  readonly weightOf?: (value: T) => number;
}

interface Entry<T> {
  readonly value: T;
  readonly weight: number;
  /** The time when it was set, in milliseconds since 1970. */
  readonly at: number;
}

export class Recent<T> {
  readonly #limits: RecentLimits<T>;
  /** The entries, the least recently used first. */
  readonly #entries = new Map<string, Entry<T>>();
  #weight = 0;
  /** The time when expired entries were dropped last. */
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(limits: RecentLimits<T>) {
    this.#limits = limits;
    onForget(() => this.clear());
  }

  /**
   * Sets an entry.
   * @param now is in milliseconds since 1970. It matters only for entries that expire.
   */
  set(key: string, value: T, now = Date.now()): void {
    const { most, weightOf } = this.#limits;
    this.delete(key);
    this.#sweep(now);
    const weight = Math.max(1, weightOf?.(value) ?? 1);
    if (weight > most) return;
    this.#entries.set(key, { value, weight, at: now });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= most) break;
      this.delete(oldest);
    }
  }

  /**
   * Returns a value, or null if it was never set, has expired or was dropped. An entry that can
   * expire does so, too, when the clock is set back behind it.
   */
  get(key: string, now = Date.now()): T | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    this.delete(key);
    if (!this.#isGood(entry, now)) return null;
    this.#entries.set(key, entry);
    this.#weight += entry.weight;
    return entry.value;
  }

  /** Drops the least recently used entries, as long as each of them is over. */
  dropOldest(isOver: (value: T) => boolean): void {
    for (const [key, { value }] of this.#entries) {
      if (!isOver(value)) return;
      this.delete(key);
    }
  }

  delete(key: string): boolean {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    return this.#entries.delete(key);
  }

  get size(): number {
    return this.#entries.size;
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  /** Drops expired entries once in a life, so that it costs little for each entry. */
  #sweep(now: number): void {
    const { lifeMs } = this.#limits;
    if (lifeMs === undefined || (this.#sweptAt <= now && now - this.#sweptAt < lifeMs)) return;
    this.#sweptAt = now;
    for (const [key, entry] of this.#entries) if (!this.#isGood(entry, now)) this.delete(key);
  }

  #isGood({ at }: Entry<T>, now: number): boolean {
    const { lifeMs } = this.#limits;
    return lifeMs === undefined || (at <= now && now - at < lifeMs);
  }
}

const memories: (() => void)[] = [];

/** Registers how to empty what a module remembers, for tests that want a new isolate. */
export const onForget = (forget: () => void): void => void memories.push(forget);

/** Empties all memories, as in a new isolate. It is for tests, which share one. */
export function forgetEverything(): void {
  for (const forget of memories) forget();
}
