/**
 * What the account has created in the last hour, or is about to create: each once, until it is an hour old or given
 * back.
 *
 * Cost: one row for each, which no answer waits for. If the machine stops before it is on disk, it is forgotten.
 */
const PREFIX = 'creation ';
const HOUR_MS = 60 * 60_000;

export interface Creation {
  /** A keyed hash of the network that asked for it. */
  readonly client: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export class Creations {
  readonly #storage: DurableObjectStorage;
  /** By the keys of their rows; oldest first. */
  readonly #kept: Map<string, Creation>;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    const stored = [...storage.kv.list<Creation>({ prefix: PREFIX })];
    this.#kept = new Map(stored.toSorted(([, a], [, b]) => a.at - b.at));
  }

  /** Oldest first. */
  all(now: number): readonly Creation[] {
    for (const [key, { at }] of this.#kept) if (Math.abs(now - at) >= HOUR_MS) this.#kept.delete(key);
    return [...this.#kept.values()];
  }

  /** Answers the id for `giveBack`. */
  add(client: string, at: number): string {
    const id = crypto.randomUUID();
    this.#kept.set(PREFIX + id, { client, at });
    void this.#storage.put(PREFIX + id, { client, at }, { allowUnconfirmed: true });
    return id;
  }

  /** It was not created after all. The second time, nothing happens. */
  giveBack(id: string): void {
    if (this.#kept.delete(PREFIX + id)) void this.#storage.delete(PREFIX + id, { allowUnconfirmed: true });
  }

  /** Answers the rest, as it is stored. */
  forgetOld(now: number): readonly (readonly [string, unknown])[] {
    this.all(now);
    return [...this.#kept];
  }
}
