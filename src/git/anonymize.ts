/**
 * Rewrites a chain of commits so that only the bot's identity is left in it (contract, 2.10).
 */
import { ByteArrays } from './byte-arrays.ts';
import { type Commit, encodeAnonymousCommit, type Identity } from './commit.ts';
import type { NewCommits } from './new-commits.ts';
import { hashObject, type Oid } from './oid.ts';
import { OidMap } from './oid-map.ts';
import { type Mentions, replaceMentions } from './own-ids.ts';

export interface AnonymousHistory {
  /** The new id of each commit, by its original id. */
  readonly renamed: OidMap;
  /** Contents of the new commits, each once: two originals that differ only in author and date become one. */
  readonly contents: ByteArrays;
}

/**
 * @param commits each after its parents and after those that its message mentions. A parent that is not among them is
 * upstream's and stays.
 * @param dateOf the date that replaces both dates of the original, in seconds since 1970.
 * @param mentions where messages mention others of these commits.
 */
export function anonymizeCommits(
  commits: NewCommits,
  identity: Identity,
  dateOf: (original: Oid) => number,
  mentions: Mentions,
): AnonymousHistory {
  const renamed = new OidMap();
  const contents = new ByteArrays();
  const allocate = (bytes: number): Uint8Array => contents.allocate(bytes);
  const newIdOf = (oid: Oid): Oid => renamed.get(oid) ?? oid;
  for (const { oid, commit } of commits) {
    const { tree, encoding } = commit;
    const message = replaceMentions(commit.message, mentions.get(oid), newIdOf);
    const parents = newParents(commit, newIdOf);
    const content = encodeAnonymousCommit(
      { tree, encoding, message },
      parents,
      identity,
      dateOf(oid),
      allocate,
    );
    if (!renamed.set(oid, hashObject('commit', content))) contents.pop();
  }
  return { renamed, contents };
}

/** Each parent once, as Git itself writes them, because two parents may have become the same commit. */
function newParents(commit: Commit, newIdOf: (oid: Oid) => Oid): Oid[] {
  return [...new Set(commit.parents.map(newIdOf))];
}
