/**
 * Which commits of a pack are the pusher's own, whether all that they are based on is upstream's,
 * and whether the pack has anything else. No original commit id may reach the host, not even as a
 * parent's name or in a question. So the walk goes down from the pushed tip until it meets
 * upstream's history, which was listed before. A commit of the pack that is not listed is new, and
 * rewritten. A parent neither in the pack nor listed is unproven, and stops the push.
 */
import { latin1 } from '../bytes.ts';
import { NumberList } from '../compact-lists.ts';
import type { KeptObject } from '../pack/kept-objects.ts';
import { ProtocolError } from '../wire/protocol-error.ts';
import { type Commit, parseCommit, parseHistory } from './commit.ts';
import { isOid, type Oid, OID_HEX_LENGTH, ZERO_OID } from './oid.ts';
import { OidTable } from './oid-table.ts';

/** Nobody merges so many branches at once, and each parent costs memory wherever a commit goes. */
const TOO_MANY_PARENTS = 1_000;

/** Upstream's history as far as it was listed: everything committed since a date. */
export interface KnownHistory {
  /**
   * Seconds since 1970: older commits of the branches that a push is based on were not listed;
   * -Infinity: all were.
   */
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
  /**
   * May be parsed again each time, because the parts of thousands of commits take more memory than
   * their contents.
   */
  readonly commit: Commit;
}

/** An array, or anything like one that makes its commits when they are asked for. */
export interface NewCommits extends Iterable<NewCommit> {
  readonly length: number;
  at(index: number): NewCommit | undefined;
}

type Trace =
  /**
   * All is proved. `commits`: parents first; empty if upstream has the tip. `boundary`: upstream's
   * ones below them.
   */
  | { readonly kind: 'complete'; readonly commits: NewCommits; readonly boundary: ReadonlySet<Oid> }
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

/** @param order numbers of `oids`. */
function foundCommits(oids: OidTable, order: NumberList, find: FindContent): NewCommits {
  const { length } = order;
  const found = (place: number): NewCommit => new FoundCommit(oids.at(order.at(place)), find);
  return {
    length,
    at(index) {
      const place = index < 0 ? length + index : index;
      return place < 0 || place >= length ? undefined : found(place);
    },
    *[Symbol.iterator]() {
      for (let place = 0; place < length; place++) yield found(place);
    },
  };
}

/** How far the walk has come with a commit. */
const MET = 0;
const ENTERED = 1;
const LEFT = 2;
/** Left, and based on something older than the listed period. */
const LEFT_OLD = 3;

/**
 * Linear: each commit is parsed once.
 * @param find a commit of the pack; the new commits use it later, too.
 */
export function traceNewCommits(tip: Oid, find: FindContent, history: KnownHistory): Trace {
  /** Commits that the walk has met, and what it knows of each. */
  const met = new OidTable();
  const states = new NumberList('uint32');
  const dates = new NumberList('float64');
  /**
   * Of each commit that was entered, how many parents it has and which; and where that stands among
   * all.
   */
  const parents = new NumberList('uint32');
  const parentsAt = new NumberList('uint32');
  const meet = (oid: Oid): number => {
    const number = met.add(oid);
    if (number === states.length) {
      states.push(MET);
      dates.push(0);
      parentsAt.push(0);
    }
    return number;
  };
  const order = new NumberList('uint32');
  const boundary = new Set<Oid>();
  // A loop instead of recursion, because histories are deeper than the stack. Parents leave the
  // stack before children.
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
        boundary.add(oid);
        stack.pop();
        continue;
      }
      const content = find(oid);
      if (content === undefined) return { kind: 'unproven', missing: oid };
      const commit = parseCommit(content);
      if (commit.parents.length >= TOO_MANY_PARENTS) throw tooManyParents();
      states.set(number, ENTERED);
      dates.set(number, commit.committedAt);
      parentsAt.set(number, parents.length);
      parents.push(commit.parents.length);
      for (const parent of commit.parents) {
        const next = meet(parent);
        parents.push(next);
        if (states.at(next) === MET) stack.push(next);
      }
      continue;
    }
    stack.pop();
    if (state !== ENTERED) continue;
    const first = parentsAt.at(number) + 1;
    const count = parents.at(first - 1);
    let isOld = count === 0;
    for (let at = first; at < first + count && !isOld; at++) {
      const parent = parents.at(at);
      const parentState = states.at(parent);
      isOld = parentState === LEFT_OLD || (parentState === MET && !history.isListed(met.at(parent)));
    }
    states.set(number, isOld ? LEFT_OLD : LEFT);
    const committedAt = dates.at(number);
    // A date alone proves nothing, as clocks are wrong. It counts only together with the boundary.
    if (isOld && committedAt < history.since) reachesBack = true;
    // Another branch may have left the listed history at any point, so its commits may be based on
    // listed ones.
    oldestAt = Math.min(oldestAt, committedAt);
    order.push(number);
  }
  if (reachesBack) return { kind: 'reaches-back' };
  if (oldestAt < history.othersSince) return { kind: 'reaches-back-on-others' };
  return { kind: 'complete', commits: foundCommits(met, order, find), boundary };
}

function tooManyParents(): ProtocolError {
  return new ProtocolError(
    'bad-pack',
    'The push contains a merge of 1,000 commits or more. Merge fewer at once, then push again.',
  );
}

/**
 * Whether the accepted branch needs all that was kept, and all that the other refs point at. A pack
 * does not say what commit a file belongs to, so files of other refs would leave, too, unless each
 * commit is new work of the branch or upstream's (`boundary`, known, or an ancestor of these), and
 * each tag points at one of them.
 */
export function areAllNeeded(
  kept: Iterable<KeptObject>,
  newCommits: NewCommits,
  boundary: ReadonlySet<Oid>,
  otherTips: readonly Oid[],
  history: KnownHistory,
): boolean {
  const isNew = new OidTable();
  for (const { oid } of newCommits) isNew.add(oid);
  const others = new Map<Oid, Uint8Array>();
  const tagTargets = new Map<Oid, Oid>();
  for (const { type, oid, content } of kept) {
    if (type === 'tag') tagTargets.set(oid, tagTarget(content));
    else if (!isNew.has(oid)) others.set(oid, content);
  }
  const known = [...others.keys()].filter((oid) => history.isKnown(oid));
  if (ancestorsIn(others, [...known, ...boundary]).size < others.size) return false;
  // A tag of a tag needs no look at the target of that: it is judged itself.
  const isNeeded = (oid: Oid): boolean =>
    tagTargets.has(oid) || isNew.has(oid) || others.has(oid) || history.isKnown(oid);
  return [...tagTargets.values(), ...otherTips].every(isNeeded);
}

/** The commits among `commits` that are reached from `start`. */
function ancestorsIn(commits: ReadonlyMap<Oid, Uint8Array>, start: readonly Oid[]): Set<Oid> {
  const met = new Set<Oid>();
  const waiting = [...start];
  for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
    const content = met.has(oid) ? undefined : commits.get(oid);
    if (content === undefined) continue;
    met.add(oid);
    waiting.push(...parseHistory(content).parents);
  }
  return met;
}

const FIRST_WORD = 'object ';

/**
 * The object that an annotated tag names in its first line; ZERO_OID if that is malformed. Its
 * tagger is not read.
 */
function tagTarget(content: Uint8Array): Oid {
  const line = latin1(content.subarray(0, FIRST_WORD.length + OID_HEX_LENGTH));
  const oid = line.slice(FIRST_WORD.length);
  return line.startsWith(FIRST_WORD) && isOid(oid) ? oid : ZERO_OID;
}
