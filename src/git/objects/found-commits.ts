/**
 * The new commits of a push, each made when it is asked for: the parts of thousands of commits
 * take more memory than their contents.
 * Proved by test/git/objects/new-commits.test.ts.
 */
import type { NumberList } from '../compact-lists.ts';
import { type Commit, parseCommit } from './commit.ts';
import type { Oid } from './oid.ts';
import type { OidTable } from './oid-table.ts';

export interface NewCommit {
  readonly oid: Oid;
  readonly content: Uint8Array;
  /**
   * Has the parts of the commit. Tree and parents may be parsed again at each access, because those
   * of thousands of commits take more memory than their contents.
   */
  readonly commit: Commit;
}

/** An array of commits, or an object that makes each commit when it is asked for. */
export interface NewCommits extends Iterable<NewCommit> {
  readonly length: number;
  at(index: number): NewCommit | undefined;
}

/** The walk that has found them, which knows each by a number. */
export interface FoundIn {
  readonly met: OidTable;
  /** The numbers of the new commits, parents first. */
  readonly order: NumberList;
  contentOf(number: number): Uint8Array;
  /** The place in the content where the message begins. */
  messageAt(number: number): number;
  encodingOf(number: number): string | null;
}

class FoundCommit implements NewCommit {
  readonly #walk: FoundIn;
  readonly #number: number;

  constructor(walk: FoundIn, number: number) {
    this.#walk = walk;
    this.#number = number;
  }

  get oid(): Oid {
    return this.#walk.met.at(this.#number);
  }

  get content(): Uint8Array {
    return this.#walk.contentOf(this.#number);
  }

  get commit(): Commit {
    return new ReadCommit(
      this.content,
      this.#walk.messageAt(this.#number),
      this.#walk.encodingOf(this.#number),
    );
  }
}

/** A commit that was parsed once, and is parsed again only for its tree and parents. */
class ReadCommit implements Commit {
  readonly #content: Uint8Array;
  readonly #messageAt: number;
  readonly encoding: string | null;
  #parsed: Commit | null = null;

  constructor(content: Uint8Array, messageAt: number, encoding: string | null) {
    this.#content = content;
    this.#messageAt = messageAt;
    this.encoding = encoding;
  }

  get message(): Uint8Array {
    return this.#content.subarray(this.#messageAt);
  }

  get tree(): Oid {
    return this.#whole.tree;
  }

  get parents(): readonly Oid[] {
    return this.#whole.parents;
  }

  get committedAt(): number {
    return this.#whole.committedAt;
  }

  get #whole(): Commit {
    return (this.#parsed ??= parseCommit(this.#content));
  }
}

/** Returns the commits in their order. */
export function foundCommits(walk: FoundIn): NewCommits {
  const { order } = walk;
  const { length } = order;
  const found = (place: number): NewCommit => new FoundCommit(walk, order.at(place));
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
