/**
 * Caches listings of upstream's history: in the isolate's memory for the push that follows its discovery, and in KV for
 * all other isolates.
 *
 * The key contains the host and the tips that were listed, and a tip determines its history, so an entry is never
 * wrong. If the cache fails, the history is listed again.
 */
import { utf8 } from '../git/bytes.ts';
import type { Oid } from '../git/objects/oid.ts';
import { Recent } from '../isolate/recent.ts';
import type { SealedStore } from '../secret/sealed-kv.ts';

/** The commits that were listed from some tips. */
export interface HistoryListing {
  /** Seconds since 1970; -Infinity: everything was listed. */
  readonly since: number;
  readonly tips: readonly Oid[];
  readonly newestFirst: readonly Oid[];
  /** Each listed commit, with the index in `tips` of a tip that reaches it. */
  readonly listed: ReadonlyMap<Oid, number>;
  /** Parents of listed commits that were not listed themselves. */
  readonly boundary: ReadonlySet<Oid>;
}

/** In memory, with the tips: about 10 MB of ids, over all listings. */
const MAX_CACHED_COMMITS = 100_000;
const KV_LIFE_MS = 7 * 24 * 60 * 60 * 1000;

const memory = new Recent<HistoryListing>({
  most: MAX_CACHED_COMMITS,
  weightOf: ({ tips, newestFirst }) => tips.length + newestFirst.length,
});

export class HistoryCache {
  readonly #store: SealedStore;
  readonly #waitUntil: (work: Promise<unknown>) => void;

  constructor(store: SealedStore, waitUntil: (work: Promise<unknown>) => void) {
    this.#store = store;
    this.#waitUntil = waitUntil;
  }

  async get(key: string): Promise<HistoryListing | null> {
    const remembered = memory.get(key);
    if (remembered !== null) return remembered;
    const stored = await this.#store.get(key).catch(() => null);
    if (stored === null) return null;
    const listing = decodeListing(stored);
    memory.set(key, listing);
    return listing;
  }

  put(key: string, listing: HistoryListing): void {
    memory.set(key, listing);
    const stored = this.#store.put(key, encodeListing(listing), KV_LIFE_MS);
    this.#waitUntil(stored.catch(() => {}));
  }
}

export function encodeListing({ since, tips, newestFirst, listed, boundary }: HistoryListing): Uint8Array {
  const places = newestFirst.map((oid) => listed.get(oid));
  // JSON has no -Infinity, and writes null.
  return utf8(JSON.stringify([since, tips, newestFirst, places, [...boundary]]));
}

export function decodeListing(stored: Uint8Array): HistoryListing {
  const [since, tips, newestFirst, places, boundary] = JSON.parse(new TextDecoder().decode(stored)) as [
    number | null,
    Oid[],
    Oid[],
    number[],
    Oid[],
  ];
  const listed = new Map(newestFirst.map((oid, index) => [oid, places[index] as number]));
  return { since: since ?? -Infinity, tips, newestFirst, listed, boundary: new Set(boundary) };
}
