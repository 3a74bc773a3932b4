/**
 * Caches listings of upstream's history in memory, for the push after its discovery, and in KV, for
 * other isolates. A cache key has the host and the tips, which determine their history, so an entry
 * is never wrong.
 * Proved by test/upstream/history-lister.test.ts.
 */
import { utf8 } from '../git/bytes.ts';
import type { Oid } from '../git/objects/oid.ts';
import { onForget, Recent } from '../isolate/recent.ts';
import type { SealedStore } from '../secret/sealed-kv.ts';

/** The commits that were listed from some tips. */
export interface HistoryListing {
  /** The start of the listing in seconds since 1970. -Infinity means that everything was listed. */
  readonly since: number;
  readonly tips: readonly Oid[];
  readonly newestFirst: readonly Oid[];
  /**
   * Each listed commit, with the index in `tips` of a tip that reaches it, plus SEVERAL_TIPS if
   * another one does, too.
   */
  readonly listed: ReadonlyMap<Oid, number>;
  /** The parents of listed commits that were not listed themselves. */
  readonly boundary: ReadonlySet<Oid>;
  /** Trailers' keys and links' servers in its messages (git/search/conventions.ts). */
  readonly conventions: ReadonlySet<string>;
}

const KV_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
/** Weight of a convention, in ids: its key or server may have 257 characters. */
const CONVENTION_WEIGHT = 8;
/** Maximum weight of the listings in memory: about 10 MB of ids and conventions in all. */
const MAX_WEIGHT = 100_000;
const weightOf = ({ tips, newestFirst, boundary, conventions }: HistoryListing): number =>
  tips.length + newestFirst.length + boundary.size + CONVENTION_WEIGHT * conventions.size;
const memory = new Recent<HistoryListing>({ most: MAX_WEIGHT, weightOf });

const HOUR_MS = 60 * 60 * 1000;
/** Minimum weight of a listing in KV, where each entry costs a write, or 4 KiB of a disk. */
const LEAST_STORED = 100;
/**
 * Weight of the listings that this isolate has put into KV in an hour. Anyone can cause thousands,
 * and KV keeps each for a week, so those above MAX_WEIGHT are only in memory.
 */
const putIntoKv = { hour: 0, weight: 0 };
onForget(() => Object.assign(putIntoKv, { weight: 0 }));

/** Caches listings in memory and in KV. If KV fails, the history is listed again. */
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

  /**
   * Keeps a listing.
   * @param now is in milliseconds since 1970.
   */
  put(key: string, listing: HistoryListing, now: number): void {
    memory.set(key, listing);
    if (!mayBeStored(listing, now)) return;
    const put = this.#store.put(key, encodeListing(listing), KV_LIFE_MS);
    this.#waitUntil(put.catch(() => {}));
  }
}

/** Counts a listing, and tells if it may be put into KV in this hour. */
function mayBeStored(listing: HistoryListing, now: number): boolean {
  const hour = Math.floor(now / HOUR_MS);
  if (hour !== putIntoKv.hour) Object.assign(putIntoKv, { hour, weight: 0 });
  if (putIntoKv.weight >= MAX_WEIGHT) return false;
  putIntoKv.weight += Math.max(LEAST_STORED, weightOf(listing));
  return true;
}

export function encodeListing({
  since,
  tips,
  newestFirst,
  listed,
  boundary,
  conventions,
}: HistoryListing): Uint8Array {
  const places = newestFirst.map((oid) => listed.get(oid));
  // JSON has no -Infinity, and writes null.
  return utf8(JSON.stringify([since, tips, newestFirst, places, [...boundary], [...conventions]]));
}

export function decodeListing(stored: Uint8Array): HistoryListing {
  const fields = JSON.parse(new TextDecoder().decode(stored)) as [
    number | null,
    Oid[],
    Oid[],
    number[],
    Oid[],
    string[],
  ];
  const [since, tips, newestFirst, places, boundary, conventions] = fields;
  const listed = new Map(newestFirst.map((oid, index) => [oid, places[index] as number]));
  return {
    since: since ?? -Infinity,
    tips,
    newestFirst,
    listed,
    boundary: new Set(boundary),
    conventions: new Set(conventions),
  };
}
