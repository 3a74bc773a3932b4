/**
 * Lists upstream's history from the host: commits without their trees, by date, starting with the
 * last 90 days. It is extended only for a request that reaches further back. Requests name only
 * commits that upstream is known to have.
 */
import { createHash } from 'node:crypto';
import type { Oid } from '../git/objects/oid.ts';
import { type ObjectRequest, startOfDay } from '../git/wire/protocol-v2.ts';
import { HostError } from '../words/host-error.ts';
import type { ListedHistory } from '../host/git/git-answers.ts';
import type { GitTransport } from '../host/git/git-transport.ts';
import type { Clock } from '../isolate/clock.ts';
import { Recent } from '../isolate/recent.ts';
import { SharedAnswers } from '../isolate/shared-answers.ts';
import { SingleFlight } from '../isolate/waiting.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import type { HistoryCache, HistoryListing } from './history-cache.ts';

const DAY_SECONDS = 24 * 60 * 60;
/** Windows of history, one for each step. The last one, null, is everything. */
const WINDOWS_DAYS = [90, 365, null] as const;
/** The step that lists everything. */
export const WHOLE_STEP = WINDOWS_DAYS.length - 1;
/** The window for the few repositories whose first window is too large. */
const NARROW_WINDOW_DAYS = 14;
/** Maximum size of one listing's pack, some 50,000 commits. */
const MAX_LISTING_BYTES = 8 * 1024 * 1024;
/** Maximum size of a listing that is only requested to see if it is empty. */
const MAX_EMPTY_BYTES = 16 * 1024;
/** Maximum number of commits that are compared with each other, each by a request or two. */
const MAX_CANDIDATES = 8;

/**
 * Listings that were too large lately. Such a listing costs as much as another, so it is not tried
 * again for each request.
 */
const tooLarge = new Recent<true>({ lifeMs: 10 * 60_000, most: 1_000 });
/**
 * Whether tips share no commit. Finding out may take a listing of everything, and never changes.
 */
const apart = new SharedAnswers<boolean>({ lifeMs: 10 * 60_000, mostBytes: 10_000, bytesOf: () => 1 });
/**
 * SingleFlight for listings: requests that need the same one at once wait for the first of them,
 * and find it in the cache.
 */
const turns = new SingleFlight();

/** A part of history: the commits that `tips` reach and `without` do not. */
export interface HistoryPart {
  readonly tips: readonly Oid[];
  readonly without: readonly Oid[];
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

  /** Returns the newest window of a part from the cache, without a request. */
  async listed(part: HistoryPart): Promise<HistoryListing | null> {
    return this.#cache.get(this.#keyOf(part, WINDOWS_DAYS[0]));
  }

  /**
   * Lists a part of history from its tips back to 90 days ago, to a year ago or to the roots (step
   * 0, 1 and 2); to 14 days ago if 90 are too many.
   * @returns null if there is no such step, or its listing is too large.
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
      // The turn ends before this waits for memory. Otherwise requests that hold memory could wait
      // for this one.
      const fetch = (back: number | null) => this.#fetch(repository, part, back, () => turn.end());
      const listing = (await fetch(days)) ?? (step === 0 ? await fetch(NARROW_WINDOW_DAYS) : null);
      if (listing !== null) this.#cache.put(key, listing, this.#clock.now());
      return listing;
    } finally {
      turn.end();
    }
  }

  /**
   * Finds the one of these upstream commits whose history contains all others, with a request for
   * each that is tried.
   * @returns null if it is none of the first MAX_CANDIDATES.
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
   * Finds those of these upstream commits that the base contains, and no other of them does, with
   * at most two requests for each. If there is only one, or too many, it returns them all.
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
   * Tells if a tip shares no commit with any of the others, as far as that can be known. It takes
   * one request, of which only the result is kept, because a push may name any two branches.
   * @throws HostError
   */
  isApart(repository: RepositoryName, tip: Oid, others: readonly Oid[]): Promise<boolean> {
    const part = { tips: [tip], without: others };
    return apart.read(this.#keyOf(part, null), this.#clock, async (beforeWait) => {
      const rest = await this.#fetch(repository, part, null, beforeWait);
      // If it met the others' history, a parent would be missing.
      return rest !== null && rest.newestFirst.length > 0 && rest.boundary.size === 0;
    });
  }

  /** Tells if the history of `haves` contains all of `wants`. */
  async #contain(repository: RepositoryName, haves: readonly Oid[], wants: readonly Oid[]): Promise<boolean> {
    const answer = await this.#transport.listHistory(repository, { wants, haves }, MAX_EMPTY_BYTES);
    return answer.kind === 'listed' && answer.commits.size === 0;
  }

  /**
   * Fetches a listing.
   * @param days is the length of the window, or null for everything.
   * @returns null if the listing is too large, or was lately.
   * @throws HostError
   */
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
      // These branches have no commits in the window, so it counts back from their last commit
      // instead.
      const tips = await fetch({ wants: part.tips, depth: 1 });
      const last = tips.kind === 'listed' ? tips.commits.newestAt : 0;
      since = startOfDay(last - days * DAY_SECONDS);
      answer = await fetchSince(since);
    }
    if (answer.kind === 'none-selected' && since !== null) {
      // If a committer's line is malformed, Git reads no date, so it selects nothing by date.
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

  /**
   * Makes a cache key. It has the host's name, because a host is only believed about its own
   * repositories, and the version of the form: the first one had no conventions.
   */
  #keyOf({ tips, without }: HistoryPart, days: number | null): string {
    const text = `${tips.toSorted().join()}-${without.toSorted().join()}`;
    const isOne = tips.length === 1 && without.length === 0;
    const name = isOne ? tips[0] : createHash('sha256').update(text).digest('hex');
    return `history/2/${this.#transport.hostName}/${name}/${days ?? 'all'}`;
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
