/**
 * Folders that code hosts would refuse, naming ids that nobody has.
 * Proved by test/e2e/push/fsck.test.ts and test/push/judge/rules/folders.test.ts.
 */
import type { Oid } from '../../../git/objects/oid.ts';
import { type Fault, faultsOfPack, isTakenBySome, sayFsck } from '../../../git/pack/fsck.ts';
import { PackedObjects } from '../../../git/pack/packed-objects.ts';
import { PackPaths } from '../../../git/search/pack-paths.ts';
import { type Finding, warn } from '../../../words/finding.ts';
import { oneLine } from '../../../words/host-text.ts';
import { storedPack } from '../../receive/receive.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { Known } from '../known.ts';

/** Bytes of memory for each byte of a pack, which is compressed. */
const ROOM_FOR_PACK = 4;
const MOST_TOLD = 5;

/** Checks only what is in memory. */
export async function folders({
  received: { pack },
  circumstances: { memory },
  pushed: { commits },
}: Pick<Known, 'received' | 'circumstances' | 'pushed'>): Promise<readonly Finding[]> {
  const { spool } = pack;
  if (!spool.isInMemory) return [];
  const stored = storedPack(spool, 0);
  const objects = new PackedObjects(stored, memory);
  const paths = new PackPaths([]);
  const roots = new Set(Array.from(commits, ({ tree }) => tree));
  try {
    await objects.makeRoom(ROOM_FOR_PACK * stored.byteLength);
    const faults = await faultsOfPack(stored, objects, paths);
    const sure = faults.filter(([id]) => !isTakenBySome(id));
    if (sure.length === 0) return warn('folders', ...linesOf(faults, paths, roots, 'Some code hosts refuse'));
    throw new Refusal('fsck', 'code hosts refuse some of its folders', [
      ...linesOf(sure, paths, roots, 'Code hosts refuse'),
      'Correct it in every commit that has it ("git rebase -i"), then push again. "git fsck" shows it, too.',
    ]);
  } finally {
    objects.free();
  }
}

/** @param roots the folders of commits. */
function linesOf(
  faults: readonly Fault[],
  paths: PackPaths,
  roots: ReadonlySet<Oid>,
  who: string,
): readonly string[] {
  const lines = faults.map(([id, oid]) => {
    const path = paths.pathOf(oid);
    const nameless = roots.has(oid) ? 'the root folder' : 'a folder';
    return `${who} ${path === null ? nameless : `"${oneLine(path)}"`}: ${sayFsck(id)}.`;
  });
  return [...new Set(lines)].slice(0, MOST_TOLD);
}
