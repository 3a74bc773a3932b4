/**
 * Rules for what the search of the pack has found: names, addresses, credentials and ids that would
 * become public, and folders that code hosts would refuse.
 * Proved by test/e2e/push/fsck.test.ts and test/push/judge/rules/searched.test.ts.
 */
import type { Oid } from '../../../git/objects/oid.ts';
import type { PlannedCommits } from '../../../git/objects/planned-commits.ts';
import { type Fault, isTakenBySome, sayFsck } from '../../../git/pack/fsck.ts';
import type { PackPaths } from '../../../git/search/pack-paths.ts';
import { type Finding, warn } from '../../../words/finding.ts';
import { oneLine } from '../../../words/host-text.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { Known } from '../known.ts';

const MOST_TOLD = 5;
/** Maximum number of faults that are described, because many may be described by the same line. */
const MOST_DESCRIBED = 1_000;

export function names({ searched: { refusal, findings } }: Pick<Known, 'searched'>): readonly Finding[] {
  const refused = refusal === null ? [] : [new Refusal('names', refusal.reason, refusal.lines)];
  return [...refused, ...findings];
}

export function folders({ oddFolders }: Pick<Known, 'oddFolders'>): readonly Finding[] {
  return oddFolders;
}

/** Judges what the search has found in folders. */
export function folderFindings(
  faults: readonly Fault[],
  paths: Pick<PackPaths, 'pathOf'>,
  commits: PlannedCommits,
): readonly Finding[] {
  if (faults.length === 0) return [];
  const roots = new Set(Array.from(commits, ({ tree }) => tree));
  const sure = faults.filter(([id]) => !isTakenBySome(id));
  if (sure.length === 0) return warn('folders', ...linesOf(faults, paths, roots, 'Some code hosts refuse'));
  return [
    new Refusal('fsck', 'code hosts refuse some of its folders', [
      ...linesOf(sure, paths, roots, 'Code hosts refuse'),
      'Correct it in every commit that has it ("git rebase -i"), then push again. "git fsck" shows it, too.',
    ]),
  ];
}

/** @param roots the folders of commits. */
function linesOf(
  faults: readonly Fault[],
  paths: Pick<PackPaths, 'pathOf'>,
  roots: ReadonlySet<Oid>,
  who: string,
): readonly string[] {
  const lines = new Set<string>();
  for (const [id, oid] of faults.slice(0, MOST_DESCRIBED)) {
    const path = paths.pathOf(oid);
    const nameless = roots.has(oid) ? 'the root folder' : 'a folder';
    lines.add(`${who} ${path === null ? nameless : `"${oneLine(path)}"`}: ${sayFsck(id)}.`);
    if (lines.size === MOST_TOLD) break;
  }
  return [...lines];
}
