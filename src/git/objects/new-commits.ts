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
import { parseCommit } from './commit.ts';
import { type FoundIn, foundCommits, type NewCommits } from './found-commits.ts';
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

/** Commits of a pack, each of which has a place. */
export interface CommitStore {
  /** Finds a commit, or returns -1. */
  placeOf(oid: Oid): number;
  contentAt(place: number): Uint8Array;
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
 * @param store has the commits of the pack. The new commits read it later, too.
 * @throws ProtocolError `bad-pack` for a malformed commit, a merge of too many, or too many
 * encodings.
 */
export function traceNewCommits(tip: Oid, store: CommitStore, history: KnownHistory): Trace {
  const walk = new Walk(store, history);
  const missing = walk.from(tip);
  if (missing !== null) return { kind: 'unproven', missing };
  if (walk.reachesBack) return { kind: 'reaches-back' };
  if (walk.oldestAt < history.othersSince) return { kind: 'reaches-back-on-others' };
  return { kind: 'complete', commits: foundCommits(walk), boundary: walk.boundary };
}

class Walk implements FoundIn {
  readonly #store: CommitStore;
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
  /** The place of each commit in the store, and where its message begins. */
  readonly #places = new NumberList('uint32');
  readonly #messagesAt = new NumberList('uint32');
  /** The encodings that commits name, and the number of that of each; 0 stands for none. */
  readonly #encodings: (string | null)[] = [null];
  readonly #encodingOf = new NumberList('uint32');
  /** Replaces recursion, because histories are deeper than the call stack. */
  readonly #stack = new NumberList('uint32');
  /** The new commits, parents first. */
  readonly order = new NumberList('uint32');
  readonly boundary = new Set<Oid>();
  reachesBack = false;
  oldestAt = Infinity;

  constructor(store: CommitStore, history: KnownHistory) {
    this.#store = store;
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
        continue;
      }
      const oid = this.met.at(number);
      if (this.#history.isKnown(oid)) {
        this.#stack.pop();
        this.boundary.add(oid);
        continue;
      }
      const place = this.#store.placeOf(oid);
      if (place < 0) return oid;
      this.#places.set(number, place);
      this.#enter(number, this.#store.contentAt(place));
    }
    return null;
  }

  #meet(oid: Oid): number {
    const number = this.met.add(oid);
    if (number === this.#states.length) {
      this.#states.push(MET);
      this.#dates.push(0);
      for (const list of [this.#parentsAt, this.#places, this.#messagesAt, this.#encodingOf]) list.push(0);
    }
    return number;
  }

  contentOf(number: number): Uint8Array {
    return this.#store.contentAt(this.#places.at(number));
  }

  messageAt(number: number): number {
    return this.#messagesAt.at(number);
  }

  encodingOf(number: number): string | null {
    return this.#encodings[this.#encodingOf.at(number)] ?? null;
  }

  /** Puts the parents on the stack, so that they leave it before this commit. */
  #enter(number: number, content: Uint8Array): void {
    const { parents, committedAt, encoding, message } = parseCommit(content);
    if (parents.length >= TOO_MANY_PARENTS) throw tooManyParents();
    if (!this.#encodings.includes(encoding)) this.#encodings.push(encoding);
    if (this.#encodings.length > 1 + MAX_ENCODINGS) throw tooManyEncodings();
    this.#encodingOf.set(number, this.#encodings.indexOf(encoding));
    this.#messagesAt.set(number, content.byteLength - message.byteLength);
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
