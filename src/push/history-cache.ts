/**
 * Listings of upstream's history by tip: in the isolate's memory for the push that follows its discovery, in KV for
 * all other isolates.
 *
 * A tip names its history, so an entry is never wrong, only superfluous; a cache that fails costs one more listing.
 */
import type { Oid } from '../git/oid.ts';
import { OID_BYTES, OID_HEX_LENGTH } from '../git/oid.ts';

/** What was listed below one tip. */
export interface HistoryListing {
  /** Seconds since 1970; -Infinity: everything was listed. */
  readonly since: number;
  readonly newestFirst: readonly Oid[];
  readonly listed: ReadonlySet<Oid>;
  /** Parents of listed commits that were not listed themselves. */
  readonly boundary: ReadonlySet<Oid>;
}

/** In memory: about 10 MB of ids, over all listings. */
const MAX_CACHED_COMMITS = 100_000;
const KV_LIFE_SECONDS = 7 * 24 * 60 * 60;
/** since, number of listed ids, number of boundary ids. */
const HEADER_BYTES = 16;

/** Insertion order is order of use: the first one is dropped first. One for the isolate. */
const memory = new Map<string, HistoryListing>();
let cachedCommits = 0;

export class HistoryCache {
  readonly #store: KVNamespace;
  readonly #waitUntil: (work: Promise<unknown>) => void;

  constructor(store: KVNamespace, waitUntil: (work: Promise<unknown>) => void) {
    this.#store = store;
    this.#waitUntil = waitUntil;
  }

  async get(key: string): Promise<HistoryListing | null> {
    const remembered = memory.get(key);
    if (remembered !== undefined) {
      memory.delete(key);
      memory.set(key, remembered);
      return remembered;
    }
    const stored = await this.#store.get(key, 'arrayBuffer').catch(() => null);
    if (stored === null) return null;
    const listing = decodeListing(stored);
    remember(key, listing);
    return listing;
  }

  put(key: string, listing: HistoryListing): void {
    remember(key, listing);
    const stored = this.#store.put(key, encodeListing(listing), { expirationTtl: KV_LIFE_SECONDS });
    this.#waitUntil(stored.catch(() => {}));
  }
}

function remember(key: string, listing: HistoryListing): void {
  if (listing.newestFirst.length > MAX_CACHED_COMMITS) return;
  // A discovery and a push may have listed the same at the same time.
  cachedCommits += listing.newestFirst.length - (memory.get(key)?.newestFirst.length ?? 0);
  memory.set(key, listing);
  for (const [oldKey, old] of memory) {
    if (cachedCommits <= MAX_CACHED_COMMITS) break;
    memory.delete(oldKey);
    cachedCommits -= old.newestFirst.length;
  }
}

export function encodeListing({ since, newestFirst, boundary }: HistoryListing): ArrayBuffer {
  const bytes = new Uint8Array(HEADER_BYTES + (newestFirst.length + boundary.size) * OID_BYTES);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, since);
  view.setUint32(8, newestFirst.length);
  view.setUint32(12, boundary.size);
  bytes.set(Buffer.from([...newestFirst, ...boundary].join(''), 'hex'), HEADER_BYTES);
  return bytes.buffer;
}

export function decodeListing(stored: ArrayBuffer): HistoryListing {
  const view = new DataView(stored);
  const listedCount = view.getUint32(8);
  const hex = Buffer.from(stored, HEADER_BYTES).toString('hex');
  const oids: Oid[] = [];
  for (let at = 0; at < hex.length; at += OID_HEX_LENGTH) oids.push(hex.slice(at, at + OID_HEX_LENGTH));
  const newestFirst = oids.slice(0, listedCount);
  return {
    since: view.getFloat64(0),
    newestFirst,
    listed: new Set(newestFirst),
    boundary: new Set(oids.slice(listedCount)),
  };
}
