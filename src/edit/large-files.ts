/**
 * Finds where the files of a push that are over the limit stand, and since which commit.
 * Proved by test/edit/large-files.test.ts and test/e2e/push/large-files.test.ts.
 */
import { decodeEscaped } from '../git/bytes.ts';
import type { Memory } from '../git/memory.ts';
import type { Oid } from '../git/objects/oid.ts';
import { MAX_OBJECT_BYTES } from '../git/pack/memory-limits.ts';
import type { ReadObjects } from '../upstream/tree-reader.ts';
import type { ComparedObjects } from './compared-objects.ts';
import { compareTrees, type PushedFiles } from './tree-comparison.ts';

/** Maximum number of files that are found, and of commits that are searched for each. */
const MOST_FILES = 5;
const MOST_COMMITS = 20;
/** Entries of folders that are read for that, all together: each is parsed anew. */
const MOST_ENTRIES = 100_000;

export interface LargeFile {
  readonly path: string;
  readonly bytes: number;
  /** The place in `roots` of the first commit that has it there; null: nobody knows. */
  readonly since: number | null;
}

/**
 * Finds large files in folders of the push that can be read, those of the newest commit first.
 * @param roots the root folders of the commits as they were pushed, parents first.
 */
export function findLargeFiles(
  pushed: PushedFiles,
  roots: readonly Oid[],
  read: ReadObjects,
  memory: Memory,
): Promise<readonly LargeFile[]> {
  const [first = null] = pushed.boundary;
  return compareTrees(pushed, first, read, memory, async (comparison, old) => {
    await comparison.compareEarlier(pushed.commits, old);
    const found = new Map<Oid, LargeFile>();
    const left = { entries: MOST_ENTRIES };
    for (const { path, now, kind } of comparison.pairs) {
      if (now === null || kind === 'elsewhere' || found.has(now.oid)) continue;
      const bytes = comparison.objects.pushedSize(now.oid) ?? 0;
      if (bytes <= MAX_OBJECT_BYTES) continue;
      found.set(now.oid, {
        path,
        bytes,
        since: await firstWith(comparison.objects, roots, path, now.oid, left),
      });
      if (found.size === MOST_FILES) break;
    }
    return [...found.values()];
  });
}

/** Finds the first commit that has an object at a path, as `LargeFile` has it. */
async function firstWith(
  objects: ComparedObjects,
  roots: readonly Oid[],
  path: string,
  oid: Oid,
  left: { entries: number },
): Promise<number | null> {
  for (const [place, root] of roots.slice(0, MOST_COMMITS).entries()) {
    let at: Oid | undefined = root;
    for (const name of path.split('/')) {
      const entries: Awaited<ReturnType<ComparedObjects['folder']>> = await objects.folder(at);
      if (entries === null || (left.entries -= entries.length) < 0) return null;
      at = entries.find((entry) => decodeEscaped(entry.name) === name)?.oid;
      if (at === undefined) break;
    }
    if (at === oid) return place;
  }
  return null;
}
