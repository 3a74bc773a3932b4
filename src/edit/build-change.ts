/**
 * Builds a pack with one commit that sets or removes some files. isomorphic-git would rewrite names
 * of other files that are not UTF-8.
 */
import { createHash } from 'node:crypto';
import { concatBytes, utf8 } from '../git/bytes.ts';
import { type CommitIdentity, encodeAnonymousCommit, personLines } from '../git/objects/commit.ts';
import { hashObject, type ObjectType, type Oid, oidBytes } from '../git/objects/oid.ts';
import { encodePackHeader } from '../git/pack/entry-header.ts';
import { entryPieces } from '../git/pack/new-entry.ts';
import {
  encodeTree,
  entryNamed,
  FILE_MODE,
  FOLDER_MODE,
  type TreeEntry,
  withEntry,
  withoutEntry,
} from '../git/objects/tree.ts';

export interface FileChange {
  /** The root folder, and those below it on the way to the file, as far as they exist. */
  readonly folders: readonly (readonly TreeEntry[])[];
  readonly path: readonly string[];
  /** The new content, or null if the file is removed. */
  readonly content: Uint8Array | null;
}

interface Change {
  /** Files of one commit: no path is a folder of another one. */
  readonly files: readonly FileChange[];
  readonly parent: Oid;
  readonly message: string;
  readonly committedAt: number;
  /** The author and committer. The service replaces both as in any push, and searches for them. */
  readonly identity: CommitIdentity;
}

/** Adds an object to the pack, and returns its id. */
type Add = (type: ObjectType, object: Uint8Array) => Oid;

export function buildChange(change: Change): { readonly tip: Oid; readonly pack: Uint8Array } {
  const { files, parent, message, committedAt, identity } = change;
  /**
   * The entries of the pack, none of them a delta, in Git's order: a commit, its folders, and their
   * files.
   */
  const entries: Uint8Array[] = [];
  const add: Add = (type, object) => {
    const whole = concatBytes([...entryPieces(type, object)]);
    if (type === 'blob') entries.push(whole);
    else entries.unshift(whole);
    return hashObject(type, object);
  };
  const tree = add('tree', encodeTree(changedFolder(files, 0, add)));
  const [treeId, parentId] = [tree, parent].map(oidBytes) as [Uint8Array, Uint8Array];
  const parts = { tree: treeId, parents: [parentId], encoding: null, message: utf8(message) };
  const tip = add('commit', encodeAnonymousCommit(parts, personLines(identity, committedAt)));
  const pack = concatBytes([encodePackHeader(entries.length), ...entries]);
  return { tip, pack: concatBytes([pack, createHash('sha1').update(pack).digest()]) };
}

/**
 * Makes the entries of a folder with its changes, and adds what is new below it.
 * @param files those in this folder, at least one.
 * @param depth how many folders are above it.
 */
function changedFolder(files: readonly FileChange[], depth: number, add: Add): readonly TreeEntry[] {
  let entries = files.find(({ folders }) => folders.length > depth)?.folders[depth] ?? [];
  for (const [part = '', inIt] of Map.groupBy(files, ({ path }) => path[depth])) {
    const name = utf8(part);
    const known = entryNamed(entries, name)?.mode;
    const [{ path, content }] = inIt as [FileChange];
    const isFile = depth === path.length - 1;
    const below = isFile ? [] : changedFolder(inIt, depth + 1, add);
    // Git keeps no empty folders.
    if (isFile ? content === null : below.length === 0) entries = withoutEntry(entries, name);
    else if (content !== null && isFile)
      entries = withEntry(entries, { mode: known ?? FILE_MODE, name, oid: add('blob', content) });
    else
      entries = withEntry(entries, { mode: known ?? FOLDER_MODE, name, oid: add('tree', encodeTree(below)) });
  }
  return entries;
}
