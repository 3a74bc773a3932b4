/**
 * Finds the commits of a pack that are new, and checks that all they are based on is upstream's and
 * that the pack contains nothing else. No original commit id may reach the host, not even as a
 * parent or in a question. So the walk goes down from the pushed tip until it meets upstream's
 * history, which was listed before. A commit of the pack that is not in that history is new, and is
 * rewritten. A parent that is neither in the pack nor in that history is unproven, and the push is
 * refused.
 */
import { NumberList } from '../compact-lists.ts';
import { ProtocolError } from '../wire/protocol-error.ts';
import { type Commit, parseCommit } from './commit.ts';
import type { Oid } from './oid.ts';
import { OidTable } from './oid-table.ts';

/**
 * The number of parents from which a merge is refused. Nobody merges so many branches at once, and
 * each parent costs memory wherever a commit goes.
 */
const TOO_MANY_PARENTS = 1_000;

/**
 * Maximum number of character encodings that the commits of a push name. Each is looked up, and a
 * hostile push could name thousands.
 */
const MAX_ENCODINGS = 100;

/** Upstream's history as far as it was listed, from a date on. */
export interface KnownHistory {
  /**
   * The start of the listing of the branches that a push may be based on, in seconds since 1970.
   * -Infinity means that all of their history was listed.
   */
  readonly since: number;
  /**
   * The start of the listing of upstream's other branches. -Infinity means that all was listed, or
   * that no more can be.
   */
  readonly othersSince: number;
  /** Tells if the commit itself was listed, so that its parents are known, too. */
  isListed(oid: Oid): boolean;
  /**
   * Tells if the commit is proved to be upstream's: listed, the parent of a listed commit, or an
   * advertised tip.
   */
  isKnown(oid: Oid): boolean;
}

export interface NewCommit {
  readonly oid: Oid;
  /**
   * Parses the commit, perhaps again at each access: the parts of thousands of commits take more
   * memory than their contents.
   */
  readonly commit: Commit;
}

/** An array of commits, or an object that makes each commit when it is asked for. */
export interface NewCommits extends Iterable<NewCommit> {
  readonly length: number;
  at(index: number): NewCommit | undefined;
}

type Trace =
  /**
   * Everything is proved. `commits` has parents first, and is empty if upstream has the tip.
   * `boundary` has the upstream commits that they are based on.
   */
  | { readonly kind: 'complete'; readonly commits: NewCommits; readonly boundary: ReadonlySet<Oid> }
  /** A commit is neither in the pack nor in the listed history. */
  | { readonly kind: 'unproven'; readonly missing: Oid }
  /** Commits from before the listed period may be upstream's: list further back to find out. */
  | { readonly kind: 'reaches-back' }
  /**
   * Commits from before the listed period may be upstream's, but only on branches that the push is
   * not based on.
   */
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

/** Returns the commits with the numbers in `order`, in its order. */
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

/**
 * States of a commit in the walk. LEFT_OLD means left, and based on a commit that was not listed or
 * on none at all.
 */
const MET = 0;
const ENTERED = 1;
const LEFT = 2;
const LEFT_OLD = 3;

/**
 * Walks from the tip to upstream's history, depth first, in linear time: each commit is parsed
 * once.
 * @param find returns a commit of the pack. The new commits call it later, too.
 * @throws ProtocolError `bad-pack` for a malformed commit, a merge of too many, or too many
 * encodings.
 */
export function traceNewCommits(tip: Oid, find: FindContent, history: KnownHistory): Trace {
  const walk = new Walk(find, history);
  const missing = walk.from(tip);
  if (missing !== null) return { kind: 'unproven', missing };
  if (walk.reachesBack) return { kind: 'reaches-back' };
  if (walk.oldestAt < history.othersSince) return { kind: 'reaches-back-on-others' };
  return { kind: 'complete', commits: foundCommits(walk.met, walk.order, find), boundary: walk.boundary };
}

class Walk {
  readonly #find: FindContent;
  readonly #history: KnownHistory;
  /** The commits that the walk has met, with the state and date of each. */
  readonly met = new OidTable();
  readonly #states = new NumberList('uint32');
  readonly #dates = new NumberList('float64');
  /**
   * The number of parents of each entered commit, followed by their numbers, and where that begins
   * for each commit.
   */
  readonly #parents = new NumberList('uint32');
  readonly #parentsAt = new NumberList('uint32');
  readonly #encodings = new Set<string>();
  /** Replaces recursion, because histories are deeper than the call stack. */
  readonly #stack = new NumberList('uint32');
  /** The new commits, parents first. */
  readonly order = new NumberList('uint32');
  readonly boundary = new Set<Oid>();
  reachesBack = false;
  oldestAt = Infinity;

  constructor(find: FindContent, history: KnownHistory) {
    this.#find = find;
    this.#history = history;
  }

  /** Returns a commit that is neither in the pack nor known; null if all are proved. */
  from(tip: Oid): Oid | null {
    this.#stack.push(this.#meet(tip));
    while (this.#stack.length > 0) {
      const number = this.#stack.at(this.#stack.length - 1);
      const state = this.#states.at(number);
      if (state !== MET) {
        this.#stack.pop();
        if (state === ENTERED) this.#leave(number);
      } else if (this.#history.isKnown(this.met.at(number))) {
        this.boundary.add(this.met.at(this.#stack.pop()));
      } else {
        const content = this.#find(this.met.at(number));
        if (content === undefined) return this.met.at(number);
        this.#enter(number, parseCommit(content));
      }
    }
    return null;
  }

  #meet(oid: Oid): number {
    const number = this.met.add(oid);
    if (number === this.#states.length) {
      this.#states.push(MET);
      this.#dates.push(0);
      this.#parentsAt.push(0);
    }
    return number;
  }

  /** Puts the parents on the stack, so that they leave it before this commit. */
  #enter(number: number, { parents, committedAt, encoding }: Commit): void {
    if (parents.length >= TOO_MANY_PARENTS) throw tooManyParents();
    if (encoding !== null && this.#encodings.add(encoding).size > MAX_ENCODINGS) throw tooManyEncodings();
    this.#states.set(number, ENTERED);
    this.#dates.set(number, committedAt);
    this.#parentsAt.set(number, this.#parents.length);
    this.#parents.push(parents.length);
    for (const oid of parents) {
      const parent = this.#meet(oid);
      this.#parents.push(parent);
      if (this.#states.at(parent) === MET) this.#stack.push(parent);
    }
  }

  #leave(number: number): void {
    const isOld = this.#isOld(number);
    this.#states.set(number, isOld ? LEFT_OLD : LEFT);
    const committedAt = this.#dates.at(number);
    // A date alone proves nothing, as clocks are wrong. It counts only together with the boundary.
    if (isOld && committedAt < this.#history.since) this.reachesBack = true;
    // Another branch may have left the listed history at any point, so its commits may be based on
    // listed ones.
    this.oldestAt = Math.min(this.oldestAt, committedAt);
    this.order.push(number);
  }

  /** Tells if a commit has no parent, or is based on a commit that was not listed. */
  #isOld(number: number): boolean {
    const first = this.#parentsAt.at(number) + 1;
    const count = this.#parents.at(first - 1);
    for (let at = first; at < first + count; at++) {
      const parent = this.#parents.at(at);
      const state = this.#states.at(parent);
      if (state === LEFT_OLD || (state === MET && !this.#history.isListed(this.met.at(parent)))) return true;
    }
    return count === 0;
  }
}

function tooManyParents(): ProtocolError {
  return new ProtocolError(
    'bad-pack',
    'The push contains a merge of 1,000 commits or more. Merge fewer at once, then push again.',
  );
}

function tooManyEncodings(): ProtocolError {
  return new ProtocolError(
    'bad-pack',
    `The commits name more than ${MAX_ENCODINGS} character encodings. Push fewer commits at once.`,
  );
}
