/**
 * Makes commits of planned ones, so that only the bot's identity is in them (contract, 2.10). They
 * are not stored.
 */
import { NumberList } from '../compact-lists.ts';
import { encodeAnonymousCommit, type CommitIdentity } from './commit.ts';
import { hashObject, type Oid } from './oid.ts';
import { OidTable } from './oid-table.ts';
import { type PlannedCommit, type PlannedCommits, withIds } from './planned-commits.ts';

/** Doubling would be too much: a commit may have ten megabytes. */
const GROWTH_BYTES = 64 * 1024;

/** The date of each commit by its number, in seconds since 1970: author's and committer's. */
export type DateOf = (commit: number) => number;

export class AnonymousCommits {
  readonly #commits: PlannedCommits;
  readonly #identity: CommitIdentity;
  readonly #dateOf: DateOf;
  /** Two that differ only in author and date become one. */
  readonly #ids = new OidTable();
  /** By the number of a commit. */
  readonly #idOf = new NumberList('uint32');
  #buffer = new Uint8Array(4096);

  /** Cost: a SHA-1 over all commits. */
  constructor(commits: PlannedCommits, identity: CommitIdentity, dateOf: DateOf) {
    this.#commits = commits;
    this.#identity = identity;
    this.#dateOf = dateOf;
    let number = 0;
    for (const commit of commits) {
      this.#idOf.push(this.#ids.add(hashObject('commit', this.#encode(commit, number++))));
    }
  }

  /** How many commits the push has: the numbers of `idOf` are below it. */
  get length(): number {
    return this.#commits.length;
  }

  /** How many objects they become: fewer than commits if two differ only in author and date. */
  get objectCount(): number {
    return this.#ids.size;
  }

  get tip(): Oid {
    return this.idOf(this.#commits.length - 1);
  }

  has(oid: Oid): boolean {
    return this.#ids.has(oid);
  }

  readonly idOf = (commit: number): Oid => this.#ids.at(this.#idOf.at(commit));

  /** Each once, parents before children. Valid until the next one is asked for. */
  *contents(): Generator<Uint8Array> {
    let [made, number] = [0, 0];
    for (const commit of this.#commits) {
      if (this.#idOf.at(number) === made) {
        made += 1;
        yield this.#encode(commit, number);
      }
      number += 1;
    }
  }

  #encode({ tree, encoding, parents, message }: PlannedCommit, number: number): Uint8Array {
    const own = parents.map((parent) => (typeof parent === 'number' ? this.idOf(parent) : parent));
    return encodeAnonymousCommit(
      { tree, encoding, message: withIds(message, this.idOf) },
      // Each once, as Git itself writes them: two parents may have become the same commit.
      [...new Set(own)],
      this.#identity,
      this.#dateOf(number),
      (bytes) => this.#room(bytes),
    );
  }

  #room(bytes: number): Uint8Array {
    if (bytes > this.#buffer.length) {
      this.#buffer = new Uint8Array(Math.ceil(bytes / GROWTH_BYTES) * GROWTH_BYTES);
    }
    return this.#buffer.subarray(0, bytes);
  }
}
