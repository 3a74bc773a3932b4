/**
 * Builds a pack with one commit that sets one file. isomorphic-git would rewrite names of other
 * files that are not UTF-8.
 */
import { createHash } from 'node:crypto';
import { concatBytes, utf8 } from '../git/bytes.ts';
import { type Commit, encodeAnonymousCommit, type CommitIdentity } from '../git/objects/commit.ts';
import { hashObject, type ObjectType, type Oid } from '../git/objects/oid.ts';
import { encodeEntryHeader, encodePackHeader, OBJECT_TYPES } from '../git/pack/entry-header.ts';
import {
  encodeTree,
  entryNamed,
  FILE_MODE,
  FOLDER_MODE,
  type TreeEntry,
  withEntry,
} from '../git/objects/tree.ts';
import { zlibStore } from '../git/zlib/zlib-store.ts';

interface FileChange {
  /** The root folder, and those below it on the way to the file, as far as they exist. */
  readonly folders: readonly (readonly TreeEntry[])[];
  readonly path: readonly string[];
  readonly content: Uint8Array;
  readonly parent: Oid;
  readonly message: string;
  readonly committedAt: number;
  /** The author and committer. The service replaces both as in any push, and searches for them. */
  readonly identity: CommitIdentity;
}

export function buildChange(change: FileChange): { readonly tip: Oid; readonly pack: Uint8Array } {
  const { folders, path, content, parent, message, committedAt, identity } = change;
  /**
   * The entries of the pack, none of them a delta. The last one that was added comes first: Git
   * sends a commit before its folders.
   */
  const entries: Uint8Array[] = [];
  const add = (type: ObjectType, object: Uint8Array): Oid => {
    const header = encodeEntryHeader(OBJECT_TYPES.indexOf(type), object.byteLength);
    entries.unshift(concatBytes([header, zlibStore(object)]));
    return hashObject(type, object);
  };
  const fileName = utf8(path.at(-1) ?? '');
  const mode = entryNamed(folders[path.length - 1] ?? [], fileName)?.mode ?? FILE_MODE;
  let entry: TreeEntry = { mode, name: fileName, oid: add('blob', content) };
  for (let depth = path.length - 1; depth > 0; depth--) {
    const oid = add('tree', encodeTree(withEntry(folders[depth] ?? [], entry)));
    const name = utf8(path[depth - 1] ?? '');
    const known = entryNamed(folders[depth - 1] ?? [], name);
    entry = { mode: known?.mode ?? FOLDER_MODE, name, oid };
  }
  const tree = add('tree', encodeTree(withEntry(folders[0] ?? [], entry)));
  const commit: Commit = { tree, parents: [parent], committedAt, encoding: null, message: utf8(message) };
  const tip = add('commit', encodeAnonymousCommit(commit, [parent], identity, committedAt));
  const pack = concatBytes([encodePackHeader(entries.length), ...entries]);
  return { tip, pack: concatBytes([pack, createHash('sha1').update(pack).digest()]) };
}
