/**
 * Rewrites a chain of commits so that only the bot's identity is left in it (contract, 2.10).
 */
import { ByteSlabs } from './byte-slabs.ts';
import { type Commit, encodeAnonymousCommit, type Identity } from './commit.ts';
import type { NewCommit } from './new-commits.ts';
import { hashObject, type Oid } from './oid.ts';

export interface AnonymousHistory {
  /** The commit that takes the place of the last one given. */
  readonly tip: Oid;
  /** Contents of the new commits, each once: two originals that differ only in who and when become one. */
  readonly contents: readonly Uint8Array[];
}

/**
 * @param commits parents before children, at least one; a parent that is not among them is upstream's and stays.
 * @param dateOf the date that takes the place of the original's two, in seconds since 1970.
 */
export function anonymizeCommits(
  commits: readonly NewCommit[],
  identity: Identity,
  dateOf: (original: Oid) => number,
): AnonymousHistory {
  const renamed = new Map<Oid, Oid>();
  const contents = new Map<Oid, Uint8Array>();
  const slabs = new ByteSlabs();
  const allocate = (bytes: number) => slabs.take(bytes);
  let tip: Oid = '';
  for (const { oid, commit } of commits) {
    const content = encodeAnonymousCommit(
      commit,
      newParents(commit, renamed),
      identity,
      dateOf(oid),
      allocate,
    );
    tip = hashObject('commit', content);
    renamed.set(oid, tip);
    contents.set(tip, content);
  }
  return { tip, contents: [...contents.values()] };
}

/** Each parent once, as Git itself writes a commit: two of them may have become the same. */
function newParents(commit: Commit, renamed: ReadonlyMap<Oid, Oid>): Oid[] {
  return [...new Set(commit.parents.map((parent) => renamed.get(parent) ?? parent))];
}
