/**
 * Upstream's history, listed from the host as far back as a push needs it.
 *
 * It is the proof of which commits are upstream's and which are the pusher's, and the source of the `.have` lines. It
 * is listed by date, starting with the last 90 days; only a push that reaches further back makes it longer.
 */
import type { GitTransport, ListedCommit } from '../host/git-transport.ts';
import { HostError } from '../host/host-error.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import type { Clock } from '../clock.ts';
import type { KnownHistory } from '../git/new-commits.ts';
import type { Oid } from '../git/oid.ts';
import type { HistoryCache, HistoryListing } from './history-cache.ts';

const DAY_SECONDS = 24 * 60 * 60;
/** How far back to list, one after the other; null: everything. */
const WINDOWS_DAYS = [90, 365, null] as const;
/** For the few repositories whose first window alone is too much. */
const NARROW_WINDOW_DAYS = 14;
/** One listing's pack; some 50,000 commits. */
const MAX_LISTING_BYTES = 8 * 1024 * 1024;

export class HistoryLister {
  readonly #transport: GitTransport;
  readonly #cache: HistoryCache;
  readonly #clock: Clock;

  constructor(transport: GitTransport, cache: HistoryCache, clock: Clock) {
    this.#transport = transport;
    this.#cache = cache;
    this.#clock = clock;
  }

  /**
   * What is below `tip`, `step` windows back; null if that window does not exist, or holds too much.
   * @throws HostError if the host does not answer.
   */
  async list(repository: RepositoryName, tip: Oid, step: number): Promise<HistoryListing | null> {
    const days = WINDOWS_DAYS[step];
    if (days === undefined) return null;
    const key = `history/${tip}/${days ?? 'all'}`;
    const cached = await this.#cache.get(key);
    if (cached !== null) return cached;
    const listing =
      (await this.#fetch(repository, tip, days)) ??
      (step === 0 ? await this.#fetch(repository, tip, NARROW_WINDOW_DAYS) : null);
    if (listing !== null) this.#cache.put(key, listing);
    return listing;
  }

  async #fetch(repository: RepositoryName, tip: Oid, days: number | null): Promise<HistoryListing | null> {
    const wants = [tip];
    const fetchSince = (since: number | null) =>
      this.#transport.listHistory(
        repository,
        since === null ? { wants } : { wants, since },
        MAX_LISTING_BYTES,
      );
    let since = days === null ? null : Math.floor(this.#clock.now() / 1000) - days * DAY_SECONDS;
    let answer = await fetchSince(since);
    if (answer.kind === 'none-selected' && days !== null) {
      // Upstream has rested for longer than the window: count from its last commit instead.
      const tips = await this.#transport.listHistory(
        repository,
        { wants, tipsOnly: true },
        MAX_LISTING_BYTES,
      );
      const last = tips.kind === 'listed' ? tips.commits[0] : undefined;
      since = Math.max(0, (last?.committedAt ?? 0) - days * DAY_SECONDS);
      answer = await fetchSince(since);
    }
    if (answer.kind === 'too-large') return null;
    if (answer.kind === 'none-selected') {
      throw new HostError(
        'unreachable',
        `${this.#transport.hostName} did not list the history. Try again later.`,
      );
    }
    return toListing(answer.commits, since);
  }
}

function toListing(commits: readonly ListedCommit[], since: number | null): HistoryListing {
  const newestFirst = commits.toSorted((a, b) => b.committedAt - a.committedAt).map(({ oid }) => oid);
  const listed = new Set(newestFirst);
  const boundary = new Set<Oid>();
  for (const { parents } of commits)
    for (const parent of parents) if (!listed.has(parent)) boundary.add(parent);
  // Without a parent that is missing, the listing has reached the roots.
  return { since: since === null || boundary.size === 0 ? -Infinity : since, newestFirst, listed, boundary };
}

/** The history that one push is proved against: below the base branch's tip and the default branch's. */
export class UpstreamHistory implements KnownHistory {
  readonly #lister: HistoryLister;
  readonly #repository: RepositoryName;
  readonly #tips: readonly Oid[];
  readonly #advertised: ReadonlySet<Oid>;
  #listings: readonly HistoryListing[] = [];
  #step = -1;

  /** @param advertised the tips of all branches and tags: upstream's by the host's own word. */
  constructor(
    lister: HistoryLister,
    repository: RepositoryName,
    tips: readonly Oid[],
    advertised: ReadonlySet<Oid>,
  ) {
    this.#lister = lister;
    this.#repository = repository;
    this.#tips = [...new Set(tips)];
    this.#advertised = advertised;
  }

  get since(): number {
    return Math.max(...this.#listings.map(({ since }) => since));
  }

  isListed(oid: Oid): boolean {
    return this.#listings.some(({ listed }) => listed.has(oid));
  }

  isKnown(oid: Oid): boolean {
    return (
      this.#advertised.has(oid) ||
      this.#listings.some(({ listed, boundary }) => listed.has(oid) || boundary.has(oid))
    );
  }

  /**
   * Lists one window further back; false if there is none, or it holds too much.
   * @throws HostError if the host does not answer.
   */
  async reachBack(): Promise<boolean> {
    if (this.#listings.length > 0 && this.since === -Infinity) return false;
    this.#step += 1;
    const listings = await Promise.all(
      this.#tips.map((tip) => this.#lister.list(this.#repository, tip, this.#step)),
    );
    if (listings.includes(null)) return false;
    this.#listings = listings.filter((listing) => listing !== null);
    return true;
  }
}
