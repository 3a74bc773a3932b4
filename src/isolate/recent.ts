/**
 * The one cache of what this isolate has learned, for the requests that follow: entries that are
 * good for a while, and not too many. When there is too much, what was used longest ago is dropped.
 * What has expired is dropped when the next entry comes, at most one life later; with no next entry
 * it stays, within its limit.
 */
interface RecentLimits<T> {
  /** How long an entry is good. Without it: until it is dropped. */
  readonly lifeMs?: number;
  /**
   * The greatest weight of all entries together; without `weightOf` their number. What weighs more
   * is not kept.
   */
  readonly most: number;
  /** In bytes, wherever others decide how large a value is. At least 1 is counted. */
  readonly weightOf?: (value: T) => number;
}

interface Entry<T> {
  readonly value: T;
  readonly weight: number;
  /** When it was set; milliseconds since 1970. */
  readonly at: number;
}

export class Recent<T> {
  readonly #limits: RecentLimits<T>;
  /** What was used last comes last. */
  readonly #entries = new Map<string, Entry<T>>();
  #weight = 0;
  /** When what has expired was dropped last. */
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(limits: RecentLimits<T>) {
    this.#limits = limits;
    onForget(() => this.clear());
  }

  /** @param now milliseconds since 1970; only an entry with a life needs it. */
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

  /** Null if it was never set, has expired or was dropped, or if the clock was set back since. */
  get(key: string, now = Date.now()): T | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    this.delete(key);
    if (!this.#isGood(entry, now)) return null;
    this.#entries.set(key, entry);
    this.#weight += entry.weight;
    return entry.value;
  }

  /** Drops what was used longest ago, as long as it is over. */
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

  /** Once in a life, so that it costs little for each entry. */
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

/** For what else a module remembers: how to empty it when a test asks for a new isolate. */
export const onForget = (forget: () => void): void => void memories.push(forget);

/** For tests, which share an isolate: as if it had just started. */
export function forgetEverything(): void {
  for (const forget of memories) forget();
}
