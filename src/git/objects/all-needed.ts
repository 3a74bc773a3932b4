/**
 * Checks that a pack contains nothing but what the accepted branch needs. A pack does not say which
 * commit a file belongs to, so files of other refs would be published, too.
 */
import { latin1 } from '../bytes.ts';
import type { KeptObjects } from '../pack/kept-objects.ts';
import { parseHistory } from './commit.ts';
import type { NewCommits } from './found-commits.ts';
import type { KnownHistory } from './new-commits.ts';
import { isOid, type Oid, OID_HEX_LENGTH, ZERO_OID } from './oid.ts';
import { OidTable } from './oid-table.ts';

/**
 * Tells if the accepted branch needs all that was kept, and all that the other refs point at: each
 * commit is new work of the branch or upstream's (`boundary`, known, or an ancestor of these), and
 * each tag points at one of them.
 */
export function areAllNeeded(
  kept: Pick<KeptObjects, 'size' | 'objects'>,
  newCommits: NewCommits,
  boundary: ReadonlySet<Oid>,
  otherTips: readonly Oid[],
  history: KnownHistory,
): boolean {
  // All new commits were kept.
  if (kept.size === newCommits.length && otherTips.length === 0) return true;
  const isNew = new OidTable();
  for (const { oid } of newCommits) isNew.add(oid);
  const others = new Map<Oid, Uint8Array>();
  const tagTargets = new Map<Oid, Oid>();
  for (const { type, oid, content } of kept.objects()) {
    if (type === 'tag') tagTargets.set(oid, tagTarget(content));
    else if (!isNew.has(oid)) others.set(oid, content);
  }
  const known = [...others.keys()].filter((oid) => history.isKnown(oid));
  if (ancestorsIn(others, [...known, ...boundary]).size < others.size) return false;
  // A tag that another tag points at is judged itself.
  const isNeeded = (oid: Oid): boolean =>
    tagTargets.has(oid) || isNew.has(oid) || others.has(oid) || history.isKnown(oid);
  return [...tagTargets.values(), ...otherTips].every(isNeeded);
}

/** Returns those of the commits that `start` or its ancestors contain. */
function ancestorsIn(commits: ReadonlyMap<Oid, Uint8Array>, start: readonly Oid[]): Set<Oid> {
  const met = new Set<Oid>();
  const waiting = [...start];
  for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
    const content = met.has(oid) ? undefined : commits.get(oid);
    if (content === undefined) continue;
    met.add(oid);
    waiting.push(...parseHistory(content).parents);
  }
  return met;
}

const FIRST_WORD = 'object ';

/**
 * Reads the object that an annotated tag names in its first line. The tagger is not read.
 * @returns ZERO_OID if the line is malformed.
 */
export function tagTarget(content: Uint8Array): Oid {
  const line = latin1(content.subarray(0, FIRST_WORD.length + OID_HEX_LENGTH));
  const oid = line.slice(FIRST_WORD.length);
  return line.startsWith(FIRST_WORD) && isOid(oid) ? oid : ZERO_OID;
}
