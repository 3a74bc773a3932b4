/**
 * Turns planned commits into Git commits whose only identity is the bot's (contract, 2.10). They
 * are encoded again each time they are read, so that they take no memory.
 */
import { NO_BYTES } from '../bytes.ts';
import { ByteArrays, NumberList } from '../compact-lists.ts';
import type { Memory } from '../memory.ts';
import { commitEntryBytes } from '../pack/outgoing-pack.ts';
import { encodeAnonymousCommit, type CommitIdentity, personLines, type SignatureOf } from './commit.ts';
import { hashBytes, type Oid, oidFromBytes } from './oid.ts';
import { OidTable } from './oid-table.ts';
import { type PlannedCommits, withIds } from './planned-commits.ts';
import type { StoredCommit } from './stored-commit.ts';
import type { SigningKey } from './ssh-signature.ts';

/**
 * Step in which the buffer grows. A commit may have ten megabytes, so doubling would waste too
 * much.
 */
const GROWTH_BYTES = 64 * 1024;

/**
 * Returns the date of a commit by its number, in seconds since 1970. Author and committer get the
 * same date.
 */
export type DateOf = (commit: number) => number;

/** Work of signing a commit, in bytes: some 60 microseconds. */
const SIGNATURE_WORK = 8 * 1024;
/** Bytes that a signature takes: of Ed25519 64, and 12 to find them again. */
const SIGNATURE_BYTES = 76;

export class AnonymousCommits {
  readonly #commits: PlannedCommits;
  readonly #identity: CommitIdentity;
  readonly #dateOf: DateOf;
  readonly #signingKey: SigningKey | null;
  /** The ids without repetition: commits that differed only in author and date become one. */
  readonly #ids = new OidTable();
  /** Indexes into `#ids`, by the number of the commit. */
  readonly #idOf = new NumberList('uint32');
  /** The signatures of the objects, in the order of `#ids`. */
  readonly #signatures = new ByteArrays();
  /** Size of the objects in a pack. */
  entryBytes = 0;
  #buffer = new Uint8Array(4096);
  /** The lines of author and committer of the last date. */
  #lines: Uint8Array = NO_BYTES;
  #linesAt: number | null = null;

  /**
   * Computes ids: a SHA-1 over every commit, and its signature.
   * @param signingKey is null for commits without signatures.
   * @param now has those whose ids are computed at once: all, or for `make` none.
   */
  constructor(
    commits: PlannedCommits,
    identity: CommitIdentity,
    dateOf: DateOf,
    signingKey: SigningKey | null = null,
    now: Iterable<StoredCommit> = commits,
  ) {
    this.#commits = commits;
    this.#identity = identity;
    this.#dateOf = dateOf;
    this.#signingKey = signingKey;
    for (const commit of now) this.#add(commit);
  }

  /**
   * Makes commits that are signed if there is a key, while other requests go on. The signatures
   * stay claimed until the request ends.
   */
  static async make(
    commits: PlannedCommits,
    identity: CommitIdentity,
    dateOf: DateOf,
    signingKey: SigningKey | null,
    memory: Pick<Memory, 'claim' | 'worked'>,
  ): Promise<AnonymousCommits> {
    if (signingKey === null) return new AnonymousCommits(commits, identity, dateOf);
    await memory.claim().set(commits.length * SIGNATURE_BYTES);
    const made = new AnonymousCommits(commits, identity, dateOf, signingKey, []);
    for (const commit of commits) {
      made.#add(commit);
      await memory.worked(SIGNATURE_WORK);
    }
    return made;
  }

  #add(commit: StoredCommit): void {
    const key = this.#signingKey;
    let signature: Uint8Array | null = null;
    const content = this.#encode(
      commit,
      this.#idOf.length,
      key &&
        ((...parts) => {
          signature = key.sign(...parts);
          return key.header(signature);
        }),
    );
    const count = this.#ids.size;
    this.#idOf.push(this.#ids.addBytes(hashBytes('commit', content)));
    if (this.#ids.size === count) return;
    this.entryBytes += commitEntryBytes(content.byteLength);
    if (signature !== null) this.#signatures.push(signature);
  }

  /** The number of Git objects, which is lower if commits differed only in author and date. */
  get objectCount(): number {
    return this.#ids.size;
  }

  /** Returns the first bytes of each object's id, one after the other. */
  idBeginnings(bytes: number): Uint8Array {
    const beginnings = new Uint8Array(bytes * this.#ids.size);
    for (let index = 0; index < this.#ids.size; index++)
      beginnings.set(this.#ids.bytesAt(index).subarray(0, bytes), index * bytes);
    return beginnings;
  }

  get tip(): Oid {
    return this.idOf(this.#commits.length - 1);
  }

  has(oid: Oid): boolean {
    return this.#ids.has(oid);
  }

  readonly idOf = (commit: number): Oid => this.#ids.at(this.#idOf.at(commit));

  /**
   * Yields the content of each object once, parents before children. It is valid until the next one
   * is asked for.
   */
  *contents(): Generator<Uint8Array> {
    const key = this.#signingKey;
    let [made, number] = [0, 0];
    for (const commit of this.#commits) {
      if (this.#idOf.at(number) === made) {
        const signature = key && key.header(this.#signatures.at(made));
        made += 1;
        yield this.#encode(commit, number, signature === null ? null : () => signature);
      }
      number += 1;
    }
  }

  #encode(commit: StoredCommit, number: number, signatureOf: SignatureOf | null): Uint8Array {
    const parents = commit.parentBytes(this.#bytesOf);
    // Git names no parent twice (git-commit-tree), and two parents may have become the same commit.
    const own =
      parents.length < 2 ? parents : new Map(parents.map((id) => [oidFromBytes(id, 0), id])).values();
    const { treeBytes: tree, encoding, message } = commit;
    return encodeAnonymousCommit(
      { tree, parents: [...own], encoding, message: withIds(message, this.idOf) },
      this.#persons(this.#dateOf(number)),
      signatureOf,
      this.#room,
    );
  }

  readonly #bytesOf = (commit: number): Uint8Array => this.#ids.bytesAt(this.#idOf.at(commit));

  /** Returns the lines of author and committer, which many commits share. */
  #persons(date: number): Uint8Array {
    if (date !== this.#linesAt) this.#lines = personLines(this.#identity, date);
    this.#linesAt = date;
    return this.#lines;
  }

  readonly #room = (bytes: number): Uint8Array => {
    if (bytes > this.#buffer.length) {
      this.#buffer = new Uint8Array(Math.ceil(bytes / GROWTH_BYTES) * GROWTH_BYTES);
    }
    return this.#buffer.subarray(0, bytes);
  };
}
