/**
 * Commits that Git's own words in a message name (`git revert`, `git cherry-pick -x`, `git merge <id>`) and that are
 * nobody's: neither the push's own, whose ids are replaced, nor upstream's. Such a commit is probably an earlier form
 * of the person's work, from before a rebase or on another branch. Its original id is a hash over name, address and
 * second, and anybody who sees it can test a guess.
 */
import type { KnownHistory } from '../../../git/objects/new-commits.ts';
import type { Oid } from '../../../git/objects/oid.ts';

const GITS_WORDS =
  /(?:^This reverts commit |^changes made to |^\(cherry picked from commit |^Merge commit ')([0-9a-f]{40})\b/gm;
const MAX_NAMED = 100;

export interface NamedCommits {
  readonly oids: readonly Oid[];
  /** False: upstream's history could not be listed to its beginning, so they may be upstream's. */
  readonly areStrange: boolean;
}

/**
 * @param isOwn whether an id is replaced, or public anyway. @param reachBack lists upstream's history further back;
 * false if it cannot. It is called only if a message names a commit that is not known yet.
 */
export async function namedCommits(
  messages: Iterable<Uint8Array>,
  isOwn: (oid: Oid) => boolean,
  history: KnownHistory,
  reachBack: () => Promise<boolean>,
): Promise<NamedCommits> {
  const named = new Set<Oid>();
  for (const message of messages) {
    const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString('latin1');
    for (const [, oid = ''] of text.matchAll(GITS_WORDS)) {
      if (!isOwn(oid) && named.size < MAX_NAMED) named.add(oid);
    }
  }
  for (;;) {
    const oids = [...named].filter((oid) => !history.isKnown(oid));
    if (oids.length === 0) return { oids, areStrange: false };
    if (!(await reachBack())) return { oids, areStrange: history.since === -Infinity };
  }
}
