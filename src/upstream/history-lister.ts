/**
 * Lists upstream's history from the host: commits without their trees, by date, starting with the
 * last 90 days. Only a push that reaches further back extends it. The request names only tips that
 * upstream itself advertises. Listings are cached: in memory for the push after its discovery, and
 * in KV for other isolates. The key has the host and the tips, which determine their history, so an
 * entry is never wrong.
 */
import { createHash } from 'node:crypto';
import { utf8 } from '../git/bytes.ts';
import type { Oid } from '../git/objects/oid.ts';
import { type ObjectRequest, startOfDay } from '../git/wire/protocol-v2.ts';
import { HostError } from '../words/host-error.ts';
import type { GitTransport, ListedHistory } from '../host/git/git-transport.ts';
import type { Clock } from '../isolate/clock.ts';
import { Recent } from '../isolate/recent.ts';
import { Turns } from '../isolate/memory-budget.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import type { SealedStore } from '../secret/sealed-kv.ts';

const DAY_SECONDS = 24 * 60 * 60;
/** How far back to list, step by step; null: everything. */
const WINDOWS_DAYS = [90, 365, null] as const;
/** The step that lists everything. */
export const WHOLE_STEP = WINDOWS_DAYS.length - 1;
/** For the few repositories whose first window is too large. */
const NARROW_WINDOW_DAYS = 14;
/** One listing's pack; some 50,000 commits. */
const MAX_LISTING_BYTES = 8 * 1024 * 1024;
/** Of a listing that is asked for to see whether it is empty. */
const MAX_EMPTY_BYTES = 16 * 1024;
/** How many merges of upstream are examined before a branch is squashed. */
const MAX_CANDIDATES = 8;

/**
 * A listing that is too large costs as much as one that is not, so it is not tried again for each
 * request.
 */
const tooLarge = new Recent<true>({ lifeMs: 10 * 60_000, most: 1_000 });
/**
 * Requests that need the same listing at once wait for the first of them, and find it in the cache.
 */
const turns = new Turns();

/** A part of history: the commits that `tips` reach and `without` do not. */
export interface HistoryPart {
  readonly tips: readonly Oid[];
  readonly without: readonly Oid[];
}

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
  /** Keys and servers in its messages (git/search/conventions.ts). */
  readonly conventions: ReadonlySet<string>;
}

export class HistoryLister {
  readonly #transport: Pick<GitTransport, 'hostName' | 'listHistory'>;
  readonly #cache: HistoryCache;
  readonly #clock: Clock;

  constructor(transport: Pick<GitTransport, 'hostName' | 'listHistory'>, cache: HistoryCache, clock: Clock) {
    this.#transport = transport;
    this.#cache = cache;
    this.#clock = clock;
  }

  /** The newest window of a part, if it is in the cache. Makes no request. */
  async listed(part: HistoryPart): Promise<HistoryListing | null> {
    return this.#cache.get(this.#keyOf(part, WINDOWS_DAYS[0]));
  }

  /**
   * A part of history, `step` windows back; null if that window does not exist or is too large.
   * @throws HostError
   */
  async list(repository: RepositoryName, part: HistoryPart, step: number): Promise<HistoryListing | null> {
    const days = WINDOWS_DAYS[step];
    if (days === undefined) return null;
    const key = this.#keyOf(part, days);
    const cached = await this.#cache.get(key);
    if (cached !== null) return cached;
    const turn = await turns.take(key, this.#clock);
    try {
      const listedMeanwhile = turn.hasWaited ? await this.#cache.get(key) : null;
      if (listedMeanwhile !== null) return listedMeanwhile;
      // End the turn before waiting for memory: otherwise requests that hold memory could wait for
      // this one.
      const fetch = (back: number | null) => this.#fetch(repository, part, back, () => turn.end());
      const listing = (await fetch(days)) ?? (step === 0 ? await fetch(NARROW_WINDOW_DAYS) : null);
      if (listing !== null) this.#cache.put(key, listing);
      return listing;
    } finally {
      turn.end();
    }
  }

  /**
   * The one of upstream's commits whose history contains all others. One request for each.
   * @throws HostError
   */
  async newestOf(repository: RepositoryName, oids: ReadonlySet<Oid>): Promise<Oid | null> {
    for (const oid of [...oids].slice(0, MAX_CANDIDATES)) {
      const others = [...oids].filter((other) => other !== oid);
      if (await this.#contain(repository, [oid], others)) return oid;
    }
    return null;
  }

  /**
   * Those of upstream's commits that the base contains, and no other of them does. Two requests for
   * each, unless there is one alone; all of them if there are many.
   * @throws HostError
   */
  async newestIn(base: Oid, repository: RepositoryName, oids: readonly Oid[]): Promise<readonly Oid[]> {
    if (oids.length < 2 || oids.length > MAX_CANDIDATES) return oids;
    const based: Oid[] = [];
    for (const oid of oids) if (await this.#contain(repository, [base], [oid])) based.push(oid);
    const newest: Oid[] = [];
    for (const oid of based) {
      const others = based.filter((other) => other !== oid);
      if (others.length === 0 || !(await this.#contain(repository, others, [oid]))) newest.push(oid);
    }
    return newest;
  }

  /**
   * Whether a tip shares no commit with any of the others, as far as that can be known. One
   * request, whose answer is not kept: a push may name any two branches.
   * @throws HostError
   */
  async isApart(repository: RepositoryName, tip: Oid, others: readonly Oid[]): Promise<boolean> {
    const rest = await this.#fetch(repository, { tips: [tip], without: others }, null, () => {});
    // Where it meets the others' history, a parent would be missing.
    return rest !== null && rest.newestFirst.length > 0 && rest.boundary.size === 0;
  }

  /** Whether the history of `haves` contains all of `wants`. */
  async #contain(repository: RepositoryName, haves: readonly Oid[], wants: readonly Oid[]): Promise<boolean> {
    const answer = await this.#transport.listHistory(repository, { wants, haves }, MAX_EMPTY_BYTES);
    return answer.kind === 'listed' && answer.commits.size === 0;
  }

  /** Null: it is too large, or was lately. */
  async #fetch(
    repository: RepositoryName,
    part: HistoryPart,
    days: number | null,
    onWait: () => void,
  ): Promise<HistoryListing | null> {
    const now = this.#clock.now();
    if (tooLarge.get(this.#keyOf(part, days), now) !== null) return null;
    const fetch = (request: ObjectRequest) =>
      this.#transport.listHistory(repository, request, MAX_LISTING_BYTES, onWait);
    const range = { wants: part.tips, haves: part.without };
    const fetchSince = (from: number | null) => fetch(from === null ? range : { ...range, since: from });
    let since = days === null ? null : startOfDay(now / 1000 - days * DAY_SECONDS);
    let answer = await fetchSince(since);
    if (answer.kind === 'none-selected' && days !== null) {
      // These branches had no commits within the window: count back from their last commit instead.
      const tips = await fetch({ wants: part.tips, depth: 1 });
      const last = tips.kind === 'listed' ? tips.commits.newestAt : 0;
      since = startOfDay(last - days * DAY_SECONDS);
      answer = await fetchSince(since);
    }
    if (answer.kind === 'none-selected' && since !== null) {
      // Git reads no date where an author's line is malformed, and selects nothing by it.
      since = null;
      answer = await fetchSince(null);
    }
    if (answer.kind === 'listed') return toListing(part.tips, answer, since);
    if (answer.kind === 'none-selected') {
      const message = `${this.#transport.hostName} did not list the history. Try again later.`;
      throw new HostError('unreachable', message);
    }
    // If the part that was read lies within the narrow window, that one is too large, too.
    const narrowSince = since === null ? Infinity : since + ((days ?? 0) - NARROW_WINDOW_DAYS) * DAY_SECONDS;
    for (const each of answer.oldestAt >= narrowSince ? [days, NARROW_WINDOW_DAYS] : [days])
      tooLarge.set(this.#keyOf(part, each), true, this.#clock.now());
    return null;
  }

  /** A host is believed what it says of its own repositories only. */
  #keyOf({ tips, without }: HistoryPart, days: number | null): string {
    const text = `${tips.toSorted().join()}-${without.toSorted().join()}`;
    const isOne = tips.length === 1 && without.length === 0;
    const name = isOne ? tips[0] : createHash('sha256').update(text).digest('hex');
    return `history/${this.#transport.hostName}/${name}/${days ?? 'all'}`;
  }
}

function toListing(
  tips: readonly Oid[],
  { commits, conventions }: ListedHistory,
  since: number | null,
): HistoryListing {
  const boundary = commits.missingParents();
  // If no parent is missing, the listing has reached the roots.
  const isWhole = since === null || boundary.size === 0;
  return {
    since: isWhole ? -Infinity : since,
    tips,
    newestFirst: commits.newestFirst(),
    listed: commits.reachedFrom(tips),
    boundary,
    conventions,
  };
}

const KV_LIFE_MS = 7 * DAY_SECONDS * 1000;
/** With the tips: at most about 10 MB of ids, over all listings. */
const memory = new Recent<HistoryListing>({
  most: 100_000,
  weightOf: ({ tips, newestFirst, conventions }) => tips.length + newestFirst.length + conventions.size,
});

/** If it fails, the history is listed again. */
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
