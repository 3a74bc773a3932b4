/**
 * What tells upstream's commits from the pusher's: the history of the base and the default branch,
 * on which a push must be based; and what others add, which must not be rewritten as the pusher's.
 * Of too much, the oldest is left out.
 * Proved by test/e2e/push/push-history.test.ts.
 */
import type { KnownHistory } from '../git/objects/new-commits.ts';
import { SHARED } from '../git/objects/commit-table.ts';
import type { Oid } from '../git/objects/oid.ts';
import type { Ref } from '../git/wire/ref-advertisement.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import type { HistoryLister, HistoryListing, HistoryPart } from './history-lister.ts';

/** How many other branches are examined. One request names them all, at 50 bytes each. */
const MAX_OTHER_BRANCHES = 1_000;

/** Digits of an abbreviated id. */
const SHORTEST = 7;

const NOTHING: HistoryListing = {
  since: -Infinity,
  tips: [],
  newestFirst: [],
  listed: new Map(),
  boundary: new Set(),
  conventions: new Set(),
};

/** One part of the history, listed further back step by step. */
class GrowingListing {
  readonly #list: (step: number) => Promise<HistoryListing | null>;
  #step = 0;
  current = NOTHING;
  /** What is older cannot be listed. */
  isExhausted = false;

  constructor(list: (step: number) => Promise<HistoryListing | null>) {
    this.#list = list;
  }

  /** A tip from which a listed commit is reached. */
  tipAbove(oid: Oid): Oid | undefined {
    return this.current.tips[(this.current.listed.get(oid) ?? -1) % SHARED];
  }

  /** Lists one window more; false if there is none, or it is too large. @throws HostError */
  async grow(): Promise<boolean> {
    const isWhole = this.#step > 0 && this.current.since === -Infinity;
    if (this.isExhausted || isWhole) return false;
    const longer = await this.#list(this.#step++);
    this.isExhausted = longer === null;
    this.current = longer ?? this.current;
    return longer !== null;
  }
}

export class UpstreamHistory implements KnownHistory {
  readonly #advertised: Set<Oid>;
  #heads: readonly Ref[];
  readonly #mainTips: readonly Oid[];
  readonly #main: readonly GrowingListing[];
  readonly #listed: (part: HistoryPart) => GrowingListing;
  /** Null: not looked at yet. */
  #others: GrowingListing | null = null;
  /** What upstream has got since its refs were listed; null: not looked at, or nothing. */
  #newer: GrowingListing | null = null;
  /** Lists upstream's refs once more; null: it was done, or is not worth it. */
  #relist: (() => Promise<readonly Ref[]>) | null;

  /**
   * @param main the base and the default branch, perhaps not in `refs`.
   * @param relist if `refs` may be seconds old.
   */
  constructor(
    lister: Pick<HistoryLister, 'list'>,
    repository: RepositoryName,
    refs: readonly Ref[],
    main: readonly Ref[],
    relist: (() => Promise<readonly Ref[]>) | null = null,
  ) {
    this.#relist = relist;
    this.#advertised = new Set([...refs, ...main].map(({ oid }) => oid));
    this.#heads = refs.filter(isHead);
    this.#mainTips = tipsOf(main);
    this.#listed = (part) => new GrowingListing((step) => lister.list(repository, part, step));
    this.#main = this.#mainTips.map((tip) => this.#listed({ tips: [tip], without: [] }));
  }

  get since(): number {
    return Math.max(...this.#main.map(({ current }) => current.since));
  }

  get othersSince(): number {
    return this.#others === null || this.#others.isExhausted ? -Infinity : this.#others.current.since;
  }

  /** Keys of trailers and servers of links in the messages of the base and the default branch. */
  get conventions(): ReadonlySet<string> {
    return new Set(this.#main.flatMap(({ current }) => [...current.conventions]));
  }

  isListed(oid: Oid): boolean {
    return this.#listings().some(({ listed }) => listed.has(oid));
  }

  isKnown(oid: Oid): boolean {
    const isThere = ({ listed, boundary }: HistoryListing) => listed.has(oid) || boundary.has(oid);
    return this.#advertised.has(oid) || this.#listings().some(isThere);
  }

  /** Whether one of the main tips is known to contain a commit. */
  has(tip: Oid, oid: Oid): boolean {
    const isThere = ({ tips, listed, boundary }: HistoryListing) =>
      tips[0] === tip && (listed.has(oid) || boundary.has(oid));
    return tip === oid || this.#main.some(({ current }) => isThere(current));
  }

  /**
   * Of abbreviated ids, those with which no known commit begins.
   * @param abbreviations of seven digits or more.
   */
  unknownOf(abbreviations: ReadonlySet<string>): readonly string[] {
    const sought = Map.groupBy(abbreviations, (abbreviation) => abbreviation.slice(0, SHORTEST));
    const unknown = new Set(abbreviations);
    const remove = (oid: Oid): void => {
      for (const abbreviation of sought.get(oid.slice(0, SHORTEST)) ?? []) {
        if (oid.startsWith(abbreviation)) unknown.delete(abbreviation);
      }
    };
    for (const oid of this.#advertised) remove(oid);
    for (const { newestFirst, boundary } of this.#listings()) {
      newestFirst.forEach(remove);
      boundary.forEach(remove);
    }
    return [...unknown];
  }

  /**
   * The one branch that has a commit, if it is not in the main part. Null: it is, several have it,
   * or nobody knows.
   */
  ownerOf(oid: Oid): Ref | null {
    const isOfOne = (this.#others?.current.listed.get(oid) ?? SHARED) < SHARED;
    if (tipsOf(this.#heads).length > MAX_OTHER_BRANCHES || !isOfOne) return null;
    const tip = this.#others?.tipAbove(oid);
    const [branch, twin] = this.#heads.filter((head) => head.oid === tip);
    return branch === undefined || twin !== undefined ? null : branch;
  }

  /** Other branches that contain some of these commits. */
  branchesHolding(oids: ReadonlySet<Oid>): Ref[] {
    const tipOf = (oid: Oid) => this.#newer?.tipAbove(oid) ?? this.#others?.tipAbove(oid) ?? oid;
    const tips = new Set([...oids].map(tipOf));
    return this.#heads.filter(({ oid }) => tips.has(oid));
  }

  /**
   * Lists one window further back, last what upstream has got since; false: there is no more.
   * @throws HostError
   */
  async reachBack(): Promise<boolean> {
    const listings = this.#newer === null ? this.#main : [...this.#main, this.#newer];
    let hasGrown = false;
    // One after the other, because each may be large.
    for (const listing of listings) hasGrown = (await listing.grow()) || hasGrown;
    const hasOthersGrown = await this.reachBackOnOthers();
    return hasOthersGrown || hasGrown || this.#lookAgain();
  }

  /** The same for the other branches alone. */
  async reachBackOnOthers(): Promise<boolean> {
    // The main part may contain all of them.
    this.#others ??= this.#beside(
      tipsOf(this.#heads).filter((tip) => !this.#main.some(({ current }) => current.listed.has(tip))),
    );
    return (await this.#others?.grow()) ?? false;
  }

  /**
   * Another isolate may have told the client of an upstream that has moved since this one listed
   * its refs.
   */
  async #lookAgain(): Promise<boolean> {
    const refs = await this.#relist?.();
    this.#relist = null;
    const newer = (refs ?? []).filter(({ oid }) => !this.#advertised.has(oid));
    if (refs === undefined || newer.length === 0) return false;
    for (const { oid } of newer) this.#advertised.add(oid);
    this.#heads = refs.filter(isHead);
    this.#newer = this.#beside(tipsOf(newer.filter(isHead)));
    await this.#newer?.grow();
    return true;
  }

  /** What these have besides the main part; null: there are none. */
  #beside(tips: readonly Oid[]): GrowingListing | null {
    const part = { tips: tips.slice(0, MAX_OTHER_BRANCHES), without: this.#mainTips };
    return tips.length === 0 ? null : this.#listed(part);
  }

  #listings(): readonly HistoryListing[] {
    const parts = [...this.#main, this.#others, this.#newer];
    return parts.filter((part) => part !== null).map(({ current }) => current);
  }
}

function tipsOf(refs: readonly Ref[]): Oid[] {
  return [...new Set(refs.map(({ oid }) => oid))];
}

function isHead({ name }: Ref): boolean {
  return name.startsWith('refs/heads/');
}
