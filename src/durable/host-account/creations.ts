/**
 * What the account has created in the last hour, or is about to create: each once, until it is an hour old or given
 * back.
 *
 * Cost: one write for each, which no answer waits for. If the machine stops before it is on disk, it is forgotten.
 */
const KEY = 'creations';
const HOUR_MS = 60 * 60_000;

export interface Creation {
  readonly id: string;
  /** A keyed hash of the network that asked for it. */
  readonly client: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export class Creations {
  readonly #storage: DurableObjectStorage;
  #kept: readonly Creation[];

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#kept = storage.kv.get<Creation[]>(KEY) ?? [];
  }

  /** Oldest first. */
  all(now: number): readonly Creation[] {
    this.#kept = this.#kept.filter(({ at }) => Math.abs(now - at) < HOUR_MS);
    return this.#kept;
  }

  /** Answers the id for `giveBack`. */
  add(client: string, at: number): string {
    const id = crypto.randomUUID();
    this.#keep([...this.all(at), { id, client, at }]);
    return id;
  }

  /** It was not created after all. The second time, nothing happens. */
  giveBack(id: string): void {
    const rest = this.#kept.filter((creation) => creation.id !== id);
    if (rest.length < this.#kept.length) this.#keep(rest);
  }

  /** Answers the rest, as it is stored. */
  forgetOld(now: number): readonly (readonly [string, unknown])[] {
    const left = this.all(now);
    return left.length === 0 ? [] : [[KEY, left]];
  }

  #keep(creations: readonly Creation[]): void {
    this.#kept = creations;
    void this.#storage.put(KEY, creations, { allowUnconfirmed: true });
  }
}
