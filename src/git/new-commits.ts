/**
 * Which commits of a pack are the pusher's own, and whether everything that they are based on is upstream's.
 *
 * No original commit id may reach the host, not even as a parent's name or as a question. So the walk starts at the
 * pushed tip and goes down through the pack until it meets upstream's history, which was listed before. A commit of the
 * pack that upstream does not list is new and will be rewritten. A parent that is neither in the pack nor listed is
 * unproven, and stops the push.
 */
import { type Commit, parseCommit } from './commit.ts';
import type { Oid } from './oid.ts';

/** Upstream's history as far as it was listed: everything committed since a date. */
export interface KnownHistory {
  /**
   * Seconds since 1970: older commits of the branches that a push is based on were not listed; -Infinity if all were.
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
  readonly commit: Commit;
}

export type Trace =
  /**
   * Everything is proved. `commits` has parents before children, and is empty if upstream has the tip. `ground` are the
   * upstream commits that they are based on.
   */
  | { readonly kind: 'complete'; readonly commits: readonly NewCommit[]; readonly ground: ReadonlySet<Oid> }
  /** A commit is neither in the pack (yet) nor in the listed history. */
  | { readonly kind: 'unproven' }
  /** Commits from before the listed period may be upstream's: list further back to find out. */
  | { readonly kind: 'reaches-back' }
  /** The same, but only on branches that the push is not based on. */
  | { readonly kind: 'reaches-back-on-others' };

/**
 * @param find the content of a commit of the pack, or undefined.
 * Cost: linear in the commits that the walk meets; each is parsed once.
 */
export function traceNewCommits(
  tip: Oid,
  find: (oid: Oid) => Uint8Array | undefined,
  history: KnownHistory,
): Trace {
  const met = new Map<Oid, Commit>();
  const commits: NewCommit[] = [];
  const ground = new Set<Oid>();
  /**
   * A loop instead of recursion, because histories are deeper than the stack. Parents leave the stack before children.
   */
  const stack: { oid: Oid; entered: boolean }[] = [{ oid: tip, entered: false }];
  /** Commits that are based on something older than the listed period. */
  const onOldGround = new Set<Oid>();
  let reachesBack = false;
  let oldestAt = Infinity;
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const { oid } = top;
    const known = met.get(oid);
    if (known === undefined) {
      if (history.isKnown(oid)) {
        ground.add(oid);
        stack.pop();
        continue;
      }
      const content = find(oid);
      if (content === undefined) return { kind: 'unproven' };
      const commit = parseCommit(content);
      met.set(oid, commit);
      top.entered = true;
      for (const parent of commit.parents) if (!met.has(parent)) stack.push({ oid: parent, entered: false });
      continue;
    }
    stack.pop();
    if (!top.entered) continue;
    const old =
      known.parents.length === 0 ||
      known.parents.some(
        (parent) => onOldGround.has(parent) || (!met.has(parent) && !history.isListed(parent)),
      );
    if (old) onOldGround.add(oid);
    // A date alone proves nothing (clocks are wrong, and some people hide theirs). It counts only together with the
    // ground.
    if (old && known.committedAt < history.since) reachesBack = true;
    // Another branch may have left the listed history at any point, so its commits may be based on listed ones.
    oldestAt = Math.min(oldestAt, known.committedAt);
    commits.push({ oid, commit: known });
  }
  if (reachesBack) return { kind: 'reaches-back' };
  if (oldestAt < history.othersSince) return { kind: 'reaches-back-on-others' };
  return { kind: 'complete', commits, ground };
}
