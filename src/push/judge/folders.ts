/** What hosts would refuse in a push's folders: they would name ids that nobody has. Only of what is in memory. */
import {
  faultsOfGitmodules,
  faultsOfTree,
  type FsckId,
  isGitmodules,
  isTakenBySome,
  sayFsck,
} from '../../git/objects/fsck.ts';
import type { Memory } from '../../git/memory.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { kindOf, parseTree, type TreeEntry } from '../../git/objects/tree.ts';
import type { StoredPack } from '../../git/pack/entry-walker.ts';
import { PackIndex } from '../../git/pack/pack-index.ts';
import { PackedObjects } from '../../git/pack/packed-objects.ts';
import { PackPaths } from '../../git/search/pack-paths.ts';
import { ProtocolError } from '../../git/wire/protocol-error.ts';
import { oneLine } from '../../host-text.ts';
import { type ReceivedPack, storedPack } from '../receive/receive.ts';
import { Refusal } from '../reply/refusal.ts';

/** For each byte of a pack, which is compressed. */
const ROOM_FOR_PACK = 4;
/** Of all folders together, inflated: what is compressed well may be a thousand times as much. */
const MAX_BYTES = 1024 * 1024;
const MOST_TOLD = 5;

type Fault = readonly [id: FsckId, oid: Oid];

/** @param roots the folders of commits. @returns lines for the person. @throws Refusal */
export async function checkFolders(
  { spool }: Pick<ReceivedPack, 'spool'>,
  roots: ReadonlySet<Oid>,
  memory: Memory,
): Promise<readonly string[]> {
  if (!spool.isInMemory) return [];
  const pack = storedPack(spool, 0);
  const objects = new PackedObjects(pack, memory);
  const paths = new PackPaths([]);
  const linesOf = (faults: readonly Fault[], who: string): string[] => {
    const lines = faults.map(([id, oid]) => {
      const path = paths.pathOf(oid);
      const unnamed = roots.has(oid) ? 'the root folder' : 'a folder';
      return `${who} ${path === null ? unnamed : `"${oneLine(path)}"`}: ${sayFsck(id)}.`;
    });
    return [...new Set(lines)].slice(0, MOST_TOLD);
  };
  try {
    await objects.makeRoom(ROOM_FOR_PACK * pack.byteLength);
    const faults = await findFaults(pack, objects, paths);
    const sure = faults.filter(([id]) => !isTakenBySome(id));
    if (sure.length === 0) return linesOf(faults, 'Some code hosts refuse');
    throw new Refusal('fsck', 'code hosts refuse some of its folders', [
      ...linesOf(sure, 'Code hosts refuse'),
      'Correct it in every commit that has it ("git rebase -i"), then push again. "git fsck" shows it, too.',
    ]);
  } finally {
    objects.free();
  }
}

async function findFaults(pack: StoredPack, objects: PackedObjects, paths: PackPaths): Promise<Fault[]> {
  const faults: Fault[] = [];
  const files = new Map<Oid, number>();
  const gitmodules = new Set<Oid>();
  let bytesLeft = MAX_BYTES;
  const add = (found: Iterable<FsckId>, oid: Oid): void => {
    for (const id of found) faults.push([id, oid]);
  };
  const index = await PackIndex.of(pack, objects, (object) => {
    const { oid, type, offset, tree } = object;
    if (type === 'blob') files.set(oid, offset);
    if (tree === null || (bytesLeft -= tree.byteLength) < 0) return;
    paths.add(object);
    const entries = entriesOf(tree);
    add(faultsOfTree(entries), oid);
    for (const entry of entries) {
      if (isGitmodules(entry) && kindOf(entry) === 'file') gitmodules.add(entry.oid);
    }
  });
  await index.resolve();
  for (const oid of gitmodules) {
    const offset = files.get(oid);
    const file = offset === undefined ? null : await objects.at(offset);
    if (typeof file === 'object' && file !== null) add(faultsOfGitmodules(file.content), oid);
  }
  return faults;
}

/** None of one that is damaged: Git itself cannot send it. */
function entriesOf(tree: Uint8Array): TreeEntry[] {
  try {
    return parseTree(tree);
  } catch (error) {
    if (error instanceof ProtocolError) return [];
    throw error;
  }
}
