/**
 * Tells upstream's commits from those of the person who pushes, by the history of the base and the
 * default branch, on which a push must be based, and by what other branches add, which must not be
 * rewritten as the person's.
 * Proved by test/e2e/push/push-history.test.ts.
 */
import type { KnownHistory } from '../git/objects/new-commits.ts';
import { SEVERAL_TIPS } from '../git/objects/commit-table.ts';
import type { Oid } from '../git/objects/oid.ts';
import type { Ref } from '../git/wire/ref-advertisement.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import type { HistoryListing } from './history-cache.ts';
import type { HistoryLister, HistoryPart } from './history-lister.ts';

/**
 * Maximum number of other branches that are examined. One request names them all, at 50 bytes each.
 */
const MAX_OTHER_BRANCHES = 1_000;

/** Minimum number of digits of an abbreviated id. */
const SHORTEST = 7;

const NOTHING: HistoryListing = {
  since: -Infinity,
  tips: [],
  newestFirst: [],
  listed: new Map(),
  boundary: new Set(),
  conventions: new Set(),
};

/** A part of the history that is listed further back step by step. */
class GrowingListing {
  readonly #list: (step: number) => Promise<HistoryListing | null>;
  #step = 0;
  current = NOTHING;
  /** True if nothing older can be listed. */
  isExhausted = false;

  constructor(list: (step: number) => Promise<HistoryListing | null>) {
    this.#list = list;
  }

  /** Returns a tip from which a listed commit is reached. */
  tipAbove(oid: Oid): Oid | undefined {
    return this.current.tips[(this.current.listed.get(oid) ?? -1) % SEVERAL_TIPS];
  }

  /**
   * Lists one window more.
   * @returns false if there is none, or it is too large.
   * @throws HostError
   */
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
  /** The history of the other branches, or null before it was listed. */
  #others: GrowingListing | null = null;
  /**
   * The history that upstream got after its refs were listed, or null if that was not checked or
   * there is none.
   */
  #newer: GrowingListing | null = null;
  /** Lists upstream's refs once more. It is null if that was done, or is not worth it. */
  #relist: (() => Promise<readonly Ref[]>) | null;

  /**
   * Opens a history, of which nothing is listed yet.
   * @param main has the default branch and, for a push, the base, which may be missing in `refs`.
   * @param relist is given for a push, whose `refs` may be seconds old; a fetch gives none.
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

  /** Returns the trailers' keys and links' servers in messages of the base and default branch. */
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

  /** Tells if a tip, the base's or the default branch's, is known to contain a commit. */
  has(tip: Oid, oid: Oid): boolean {
    const isThere = ({ tips, listed, boundary }: HistoryListing) =>
      tips[0] === tip && (listed.has(oid) || boundary.has(oid));
    return tip === oid || this.#main.some(({ current }) => isThere(current));
  }

  /**
   * Returns those abbreviated ids with which no known commit begins.
   * @param abbreviations have seven digits or more.
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
   * Returns the only branch that has a commit outside the main part.
   * @returns null if the commit is in the main part, several branches have it, or that is not
   * known.
   */
  ownerOf(oid: Oid): Ref | null {
    const isOfOne = (this.#others?.current.listed.get(oid) ?? SEVERAL_TIPS) < SEVERAL_TIPS;
    if (tipsOf(this.#heads).length > MAX_OTHER_BRANCHES || !isOfOne) return null;
    const tip = this.#others?.tipAbove(oid);
    const [branch, twin] = this.#heads.filter((head) => head.oid === tip);
    return branch === undefined || twin !== undefined ? null : branch;
  }

  /** Returns the other branches that contain some of these commits, as far as that is known. */
  branchesHolding(oids: ReadonlySet<Oid>): Ref[] {
    const tipOf = (oid: Oid) => this.#newer?.tipAbove(oid) ?? this.#others?.tipAbove(oid) ?? oid;
    const tips = new Set([...oids].map(tipOf));
    return this.#heads.filter(({ oid }) => tips.has(oid));
  }

  /**
   * Lists one window further back. When there is none, it lists what upstream got meanwhile.
   * @returns false if there is no more.
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

  /**
   * Lists one window further back on the other branches alone.
   * @throws HostError
   */
  async reachBackOnOthers(): Promise<boolean> {
    // The main part may contain all of them.
    this.#others ??= this.#beside(
      tipsOf(this.#heads).filter((tip) => !this.#main.some(({ current }) => current.listed.has(tip))),
    );
    return (await this.#others?.grow()) ?? false;
  }

  /**
   * Lists what upstream got since this isolate listed its refs. Another isolate may have shown that
   * to the client.
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

  /** Returns what these tips have besides the main part, or null if there are no tips. */
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
