/**
 * Caches listings of upstream's history: in the isolate's memory for the push that follows its discovery, and in KV for
 * all other isolates.
 *
 * The key contains the host and the tips that were listed, and a tip determines its history, so an entry is never
 * wrong. If the cache fails, the history is listed again.
 */
import type { Oid } from '../git/objects/oid.ts';
import { OID_BYTES, OID_HEX_LENGTH } from '../git/objects/oid.ts';
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
/** since, and the numbers of tips, listed commits and boundary commits. */
const HEADER_BYTES = 20;
const TIP_INDEX_BYTES = 2;

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

/** The header, the ids of tips, listed and boundary commits, and for each listed commit the place of its tip. */
export function encodeListing({ since, tips, newestFirst, listed, boundary }: HistoryListing): Uint8Array {
  const oids = [...tips, ...newestFirst, ...boundary];
  const indexStart = HEADER_BYTES + oids.length * OID_BYTES;
  const bytes = new Uint8Array(indexStart + newestFirst.length * TIP_INDEX_BYTES);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, since);
  view.setUint32(8, tips.length);
  view.setUint32(12, newestFirst.length);
  view.setUint32(16, boundary.size);
  bytes.set(Buffer.from(oids.join(''), 'hex'), HEADER_BYTES);
  for (const [place, oid] of newestFirst.entries()) {
    view.setUint16(indexStart + place * TIP_INDEX_BYTES, listed.get(oid) as number);
  }
  return bytes;
}

export function decodeListing(stored: Uint8Array): HistoryListing {
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
  const tipCount = view.getUint32(8);
  const listedCount = view.getUint32(12);
  const oidCount = tipCount + listedCount + view.getUint32(16);
  const indexStart = HEADER_BYTES + oidCount * OID_BYTES;
  const hex = Buffer.from(stored.buffer, stored.byteOffset + HEADER_BYTES, oidCount * OID_BYTES).toString(
    'hex',
  );
  const oids: Oid[] = [];
  for (let at = 0; at < hex.length; at += OID_HEX_LENGTH) oids.push(hex.slice(at, at + OID_HEX_LENGTH));
  const newestFirst = oids.slice(tipCount, tipCount + listedCount);
  return {
    since: view.getFloat64(0),
    tips: oids.slice(0, tipCount),
    newestFirst,
    listed: new Map(
      newestFirst.map((oid, place) => [oid, view.getUint16(indexStart + place * TIP_INDEX_BYTES)]),
    ),
    boundary: new Set(oids.slice(tipCount + listedCount)),
  };
}
