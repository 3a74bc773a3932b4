/**
 * Which commits of a pack are the pusher's own, and whether everything that they are based on is upstream's.
 *
 * No original commit id may reach the host, not even as a parent's name or as a question. So the walk starts at the
 * pushed tip and goes down through the pack until it meets upstream's history, which was listed before. A commit of the
 * pack that upstream does not list is new and will be rewritten. A parent that is neither in the pack nor listed is
 * unproven, and stops the push.
 */
import { type Commit, parseCommit } from './commit.ts';
import { NumberList } from '../number-list.ts';
import { ProtocolError } from '../wire/protocol-error.ts';
import type { Oid } from './oid.ts';
import { OidTable } from './oid-table.ts';

/** Nobody merges so many branches at once, and each parent costs memory wherever a commit goes. */
const TOO_MANY_PARENTS = 1_000;

/** Upstream's history as far as it was listed: everything committed since a date. */
export interface KnownHistory {
  /** Seconds since 1970: older commits of the branches that a push is based on were not listed; -Infinity: all were. */
  readonly since: number;
  /** The same for upstream's other branches; -Infinity also when no more of them can be listed. */
  readonly othersSince: number;
  /** Listed itself: its own parents are known too. */
  isListed(oid: Oid): boolean;
  /** Proved to be upstream's: listed, a listed commit's parent, or an advertised tip. */
  isKnown(oid: Oid): boolean;
}

export interface NewCommit {
  readonly oid: Oid;
  /** May be parsed again each time, because the parts of thousands of commits take more memory than their contents. */
  readonly commit: Commit;
}

/** An array, or anything like one that makes its commits when they are asked for. */
export interface NewCommits extends Iterable<NewCommit> {
  readonly length: number;
  /** As of an array. */
  at(index: number): NewCommit | undefined;
}

export type Trace =
  /** All is proved. `commits`: parents first; empty if upstream has the tip. `ground`: upstream's ones below them. */
  | { readonly kind: 'complete'; readonly commits: NewCommits; readonly ground: ReadonlySet<Oid> }
  /** A commit is neither in the pack nor in the listed history. */
  | { readonly kind: 'unproven'; readonly missing: Oid }
  /** Commits from before the listed period may be upstream's: list further back to find out. */
  | { readonly kind: 'reaches-back' }
  /** The same, but only on branches that the push is not based on. */
  | { readonly kind: 'reaches-back-on-others' };

type FindContent = (oid: Oid) => Uint8Array | undefined;

class FoundCommit implements NewCommit {
  readonly oid: Oid;
  readonly #find: FindContent;

  constructor(oid: Oid, find: FindContent) {
    this.oid = oid;
    this.#find = find;
  }

  get commit(): Commit {
    return parseCommit(this.#find(this.oid) as Uint8Array);
  }
}

class FoundCommits implements NewCommits {
  readonly #oids: OidTable;
  readonly #order: NumberList;
  readonly #find: FindContent;

  /** @param order numbers of `oids`. */
  constructor(oids: OidTable, order: NumberList, find: FindContent) {
    this.#oids = oids;
    this.#order = order;
    this.#find = find;
  }

  get length(): number {
    return this.#order.length;
  }

  at(index: number): NewCommit | undefined {
    const place = index < 0 ? this.length + index : index;
    if (place < 0 || place >= this.length) return undefined;
    return new FoundCommit(this.#oids.at(this.#order.at(place)), this.#find);
  }

  *[Symbol.iterator](): Generator<NewCommit> {
    for (let place = 0; place < this.length; place++) yield this.at(place) as NewCommit;
  }
}

/** How far the walk has come with a commit. */
const MET = 0;
const ENTERED = 1;
const LEFT = 2;
/** Left, and based on something older than the listed period. */
const LEFT_OLD = 3;

/** Linear: each commit is parsed once. @param find a commit of the pack; the new commits use it later, too. */
export function traceNewCommits(tip: Oid, find: FindContent, history: KnownHistory): Trace {
  /** Commits that the walk has met, and what it knows of each. */
  const met = new OidTable();
  const states = new NumberList('uint32');
  const dates = new NumberList('float64');
  /** The parents of each commit that was entered: where they begin among all, and how many there are. */
  const parentsStart = new NumberList('uint32');
  const parentCount = new NumberList('uint32');
  const parents = new NumberList('uint32');
  const meet = (oid: Oid): number => {
    const number = met.add(oid);
    if (number === states.length) {
      states.push(MET);
      for (const list of [dates, parentsStart, parentCount]) list.push(0);
    }
    return number;
  };
  const order = new NumberList('uint32');
  const ground = new Set<Oid>();
  /**
   * A loop instead of recursion, because histories are deeper than the stack. Parents leave the stack before children.
   */
  const stack = new NumberList('uint32');
  stack.push(meet(tip));
  let reachesBack = false;
  let oldestAt = Infinity;
  while (stack.length > 0) {
    const number = stack.at(stack.length - 1);
    const state = states.at(number);
    if (state === MET) {
      const oid = met.at(number);
      if (history.isKnown(oid)) {
        ground.add(oid);
        stack.pop();
        continue;
      }
      const content = find(oid);
      if (content === undefined) return { kind: 'unproven', missing: oid };
      const commit = parseCommit(content);
      if (commit.parents.length >= TOO_MANY_PARENTS)
        throw new ProtocolError(
          'bad-pack',
          'The push contains a merge of 1,000 commits or more. Merge fewer at once, then push again.',
        );
      states.set(number, ENTERED);
      dates.set(number, commit.committedAt);
      parentsStart.set(number, parents.length);
      parentCount.set(number, commit.parents.length);
      for (const parent of commit.parents) {
        const next = meet(parent);
        parents.push(next);
        if (states.at(next) === MET) stack.push(next);
      }
      continue;
    }
    stack.pop();
    if (state !== ENTERED) continue;
    const start = parentsStart.at(number);
    const count = parentCount.at(number);
    let isOld = count === 0;
    for (let at = start; at < start + count && !isOld; at++) {
      const parent = parents.at(at);
      const parentState = states.at(parent);
      isOld = parentState === LEFT_OLD || (parentState === MET && !history.isListed(met.at(parent)));
    }
    states.set(number, isOld ? LEFT_OLD : LEFT);
    const committedAt = dates.at(number);
    // A date alone proves nothing (clocks are wrong, and some people hide theirs). It counts only together with the
    // ground.
    if (isOld && committedAt < history.since) reachesBack = true;
    // Another branch may have left the listed history at any point, so its commits may be based on listed ones.
    oldestAt = Math.min(oldestAt, committedAt);
    order.push(number);
  }
  if (reachesBack) return { kind: 'reaches-back' };
  if (oldestAt < history.othersSince) return { kind: 'reaches-back-on-others' };
  return { kind: 'complete', commits: new FoundCommits(met, order, find), ground };
}
