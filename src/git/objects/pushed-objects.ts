/**
 * Checks what a pack contains besides the new commits of the pushed tip.
 *
 * A push of several refs sends all their objects in one pack, which does not say what commit a file belongs to. So the
 * files of refs that are not accepted would leave, too, unless every commit is new work of the accepted tip or
 * upstream's, and every tag points at one of these. Otherwise the whole push is refused.
 */
import { latin1 } from '../bytes.ts';
import { parseCommit } from './commit.ts';
import type { KnownHistory, NewCommits } from './new-commits.ts';
import { isOid, type Oid, OID_HEX_LENGTH } from './oid.ts';
import { OidTable } from './oid-table.ts';
import type { KeptObject } from '../pack/kept-objects.ts';

export interface PushedObjects {
  /** Commits of the pack that are upstream's: listed, or ancestors of such a commit. */
  readonly upstreams: ReadonlySet<Oid>;
  /** Whether the accepted branch needs everything in the pack and everything that the other refs point at. */
  readonly areAllNeeded: boolean;
}

/**
 * Cost: linear in the commits and tags that are not new; nothing for an ordinary push of one branch.
 * @param kept the pack's commits and tags. @param newCommits those of the taken tip. @param ground what they are based
 * on.
 * @param otherTips what the other refs of the push point at.
 */
export function classifyObjects(
  kept: Iterable<KeptObject>,
  newCommits: NewCommits,
  ground: ReadonlySet<Oid>,
  otherTips: readonly Oid[],
  history: KnownHistory,
): PushedObjects {
  const isNew = new OidTable();
  for (const { oid } of newCommits) isNew.add(oid);
  const commits = new Map<Oid, Uint8Array>();
  const tagTargets = new Map<Oid, Oid | null>();
  for (const { type, oid, content } of kept) {
    if (type === 'tag') tagTargets.set(oid, tagTarget(content));
    else if (!isNew.has(oid)) commits.set(oid, content);
  }
  const known = [...commits.keys()].filter((oid) => history.isKnown(oid));
  const upstreams = ancestorsIn(commits, [...known, ...ground]);
  const isNeeded = (oid: Oid): boolean => isNew.has(oid) || upstreams.has(oid) || history.isKnown(oid);
  /** Of the tags that were followed: a tag of a tag of a tag is not followed again from each of them. */
  const followed = new Map<Oid, boolean>();
  const leadsToNeeded = (oid: Oid): boolean => {
    const tags: Oid[] = [];
    let target: Oid | null = oid;
    // A tag contains its target's hash, so tags cannot point at each other in a circle.
    while (target !== null && !followed.has(target) && tagTargets.has(target)) {
      tags.push(target);
      target = tagTargets.get(target) ?? null;
    }
    const leads = target !== null && (followed.get(target) ?? isNeeded(target));
    for (const tag of tags) followed.set(tag, leads);
    return leads;
  };
  const areAllNeeded =
    upstreams.size === commits.size &&
    [...tagTargets.keys()].every(leadsToNeeded) &&
    otherTips.every(leadsToNeeded);
  return { upstreams, areAllNeeded };
}

/** The commits among `commits` that are reached from `start`. */
function ancestorsIn(commits: ReadonlyMap<Oid, Uint8Array>, start: readonly Oid[]): Set<Oid> {
  const met = new Set<Oid>();
  const waiting = [...start];
  for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
    const content = met.has(oid) ? undefined : commits.get(oid);
    if (content === undefined) continue;
    met.add(oid);
    waiting.push(...parseCommit(content).parents);
  }
  return met;
}

const FIRST_WORD = 'object ';

/** The object that an annotated tag names in its first line; null if that is malformed. Its tagger is not read. */
function tagTarget(content: Uint8Array): Oid | null {
  const line = latin1(content.subarray(0, FIRST_WORD.length + OID_HEX_LENGTH));
  const oid = line.slice(FIRST_WORD.length);
  return line.startsWith(FIRST_WORD) && isOid(oid) ? oid : null;
}
