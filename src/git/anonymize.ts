/**
 * Rewrites a chain of commits so that only the bot's identity is left in it (contract, 2.10).
 */
import { ByteSlabs } from './byte-slabs.ts';
import { type Commit, encodeAnonymousCommit, type Identity } from './commit.ts';
import type { NewCommit } from './new-commits.ts';
import { hashObject, type Oid } from './oid.ts';
import { type Mentions, replaceMentions } from './own-ids.ts';

export interface AnonymousHistory {
  /** The new id of each commit, by its original id. */
  readonly renamed: ReadonlyMap<Oid, Oid>;
  /** Contents of the new commits, each once: two originals that differ only in author and date become one. */
  readonly contents: readonly Uint8Array[];
}

/**
 * @param commits each after its parents and after those that its message mentions. A parent that is not among them is
 * upstream's and stays.
 * @param dateOf the date that replaces both dates of the original, in seconds since 1970.
 * @param mentions where messages mention others of these commits.
 */
export function anonymizeCommits(
  commits: readonly NewCommit[],
  identity: Identity,
  dateOf: (original: Oid) => number,
  mentions: Mentions,
): AnonymousHistory {
  const renamed = new Map<Oid, Oid>();
  const contents = new Map<Oid, Uint8Array>();
  const slabs = new ByteSlabs();
  const allocate = (bytes: number) => slabs.take(bytes);
  const newIdOf = (oid: Oid): Oid => renamed.get(oid) ?? oid;
  for (const { oid, commit } of commits) {
    const message = replaceMentions(commit.message, mentions.get(oid), newIdOf);
    const content = encodeAnonymousCommit(
      { ...commit, message },
      newParents(commit, newIdOf),
      identity,
      dateOf(oid),
      allocate,
    );
    const newId = hashObject('commit', content);
    renamed.set(oid, newId);
    contents.set(newId, content);
  }
  return { renamed, contents: [...contents.values()] };
}

/** Each parent once, as Git itself writes them, because two parents may have become the same commit. */
function newParents(commit: Commit, newIdOf: (oid: Oid) => Oid): Oid[] {
  return [...new Set(commit.parents.map(newIdOf))];
}
