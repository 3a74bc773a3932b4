/**
 * The tree that a patch changes, of which only the folders on the way are read: level by level, in
 * one request for all files of the patch. Names have one character for each byte.
 */
import { latin1 } from '../git/bytes.ts';
import type { Memory } from '../git/memory.ts';
import { hashObject, type Oid } from '../git/objects/oid.ts';
import { canonical, encodeTree, FOLDER_MODE, kindOf, parseTree } from '../git/objects/tree.ts';
import { FOLDER_COPIES, type ReadObjects } from '../upstream/tree-reader.ts';
import { doesNotApply, tooMuch } from './patch-error.ts';

export interface FileEntry {
  readonly mode: string;
  readonly oid: Oid;
  /** The content that a patch has given it, if a later commit needs that; else null. */
  readonly content: Uint8Array | null;
}

interface Folder {
  readonly entries: Map<string, FileEntry | FolderEntry>;
  isChanged: boolean;
}

interface FolderEntry {
  readonly mode: string;
  oid: Oid;
  /** Its entries; null if no file of the patch is in it, so that it was not read. */
  folder: Folder | null;
}

/** A path on its way down. */
interface Walk {
  readonly parts: readonly string[];
  /** The folder at which it has arrived. */
  readonly entry: FolderEntry;
}

/** All folders on the way together: some 50,000 files. */
const MAX_FOLDERS_BYTES = 2 * 1024 * 1024;

const MANY_ENTRIES = 'The folders of its files have too many entries.';

const isFolder = (entry: FileEntry | FolderEntry): entry is FolderEntry => 'folder' in entry;

export class WorkTree {
  readonly #root: FolderEntry;
  /** Memory that the folders take. */
  heldBytes = 0;

  private constructor(root: Oid) {
    this.#root = { mode: FOLDER_MODE, oid: root, folder: null };
  }

  /**
   * Reads the folders of these paths, as far as they exist. It rejects as `read` does.
   * @throws PatchError if they are too large.
   */
  static async of(read: ReadObjects, root: Oid, paths: readonly string[], memory: Memory): Promise<WorkTree> {
    const tree = new WorkTree(root);
    let walks: Walk[] = [...new Set(paths)].map((path) => ({ parts: path.split('/'), entry: tree.#root }));
    let bytesLeft = MAX_FOLDERS_BYTES;
    for (let depth = 0; walks.length > 0; depth++) {
      const readBytes = await readFolders(read, walks, bytesLeft, memory);
      bytesLeft -= readBytes;
      tree.heldBytes += FOLDER_COPIES * readBytes;
      walks = walks.flatMap(({ parts, entry }) => {
        const below =
          depth + 1 < parts.length ? entry.folder?.entries.get(parts[depth] as string) : undefined;
        return below !== undefined && isFolder(below) ? [{ parts, entry: below }] : [];
      });
    }
    return tree;
  }

  /** The file of this name; `folder` if it is one with files, null if there is nothing. */
  at(path: string): FileEntry | 'folder' | null {
    const parts = path.split('/');
    const name = parts.pop() as string;
    const entry = this.#folderAt(parts)?.folder?.entries.get(name) ?? null;
    if (entry === null || !isFolder(entry)) return entry;
    return isEmpty(entry) ? null : 'folder';
  }

  /** Whether a file stands where this path needs a folder. */
  isBlocked(path: string): boolean {
    let entry: FileEntry | FolderEntry | undefined = this.#root;
    for (const part of path.split('/').slice(0, -1)) {
      entry = entry.folder?.entries.get(part);
      if (entry === undefined) return false;
      if (!isFolder(entry)) return true;
    }
    return false;
  }

  /** Puts a file in place of what is there; null removes it. */
  put(path: string, file: FileEntry | null): void {
    const parts = path.split('/');
    const name = parts.pop() as string;
    let { folder } = this.#root;
    for (const part of [null, ...parts]) {
      if (part !== null) folder = folderIn(folder as Folder, part);
      (folder as Folder).isChanged = true;
    }
    if (file === null) folder?.entries.delete(name);
    else folder?.entries.set(name, file);
  }

  /**
   * Gives the id of the tree, with each folder that is new.
   * @param add takes the content of these.
   */
  write(add: (tree: Uint8Array) => void): Oid {
    writeFolder(this.#root, add);
    return this.#root.oid;
  }

  /** A folder that is read or may be; null if there is none. */
  #folderAt(parts: readonly string[]): FolderEntry | null {
    let entry: FolderEntry = this.#root;
    for (const part of parts) {
      const below = entry.folder?.entries.get(part);
      if (below === undefined || !isFolder(below)) return null;
      entry = below;
    }
    return entry;
  }
}

/**
 * Reads the folders at which paths have arrived, each once.
 * @returns how many bytes they have.
 */
async function readFolders(
  read: ReadObjects,
  walks: readonly Walk[],
  maxBytes: number,
  memory: Memory,
): Promise<number> {
  const unread = new Map<Oid, Set<FolderEntry>>();
  for (const { entry } of walks) {
    if (entry.folder === null) unread.set(entry.oid, (unread.get(entry.oid) ?? new Set()).add(entry));
  }
  const found = unread.size === 0 ? new Map() : await read({ wants: [...unread.keys()] }, maxBytes);
  if (found === null) throw tooMuch(MANY_ENTRIES);
  let bytes = 0;
  for (const [oid, entries] of unread) {
    const content = found.get(oid)?.content ?? null;
    if (content === null) throw doesNotApply('The code host did not send a folder that was asked for.');
    bytes += content.byteLength * entries.size;
    if (bytes > maxBytes) throw tooMuch(MANY_ENTRIES);
    for (const entry of entries) entry.folder = folderOf(content);
  }
  await memory.worked(bytes);
  return bytes;
}

function isEmpty({ folder }: FolderEntry): boolean {
  if (folder === null) return false;
  for (const entry of folder.entries.values()) if (!isFolder(entry) || !isEmpty(entry)) return false;
  return true;
}

function folderOf(content: Uint8Array): Folder {
  const entries = parseTree(content).map((entry) => {
    const { mode, name, oid } = canonical(entry);
    return [
      latin1(name),
      kindOf(entry) === 'folder' ? { mode, oid, folder: null } : { mode, oid, content: null },
    ] as const;
  });
  return { entries: new Map<string, FileEntry | FolderEntry>(entries), isChanged: false };
}

function folderIn({ entries }: Folder, name: string): Folder {
  const known = entries.get(name);
  if (known !== undefined && isFolder(known) && known.folder !== null) return known.folder;
  const folder: Folder = { entries: new Map(), isChanged: true };
  entries.set(name, { mode: FOLDER_MODE, oid: '', folder } satisfies FolderEntry);
  return folder;
}

/** Answers whether anything is left in it, because Git keeps no empty folders. */
function writeFolder(entry: FolderEntry, add: (tree: Uint8Array) => void): boolean {
  const { folder } = entry;
  if (folder === null || !folder.isChanged) return true;
  folder.isChanged = false;
  for (const [name, below] of folder.entries) {
    if (isFolder(below) && !writeFolder(below, add)) folder.entries.delete(name);
  }
  const sorted = [...folder.entries].toSorted(([one, a], [other, b]) =>
    compare(sortKey(one, a), sortKey(other, b)),
  );
  const content = encodeTree(
    sorted.map(([name, { mode, oid }]) => ({ mode, name: Buffer.from(name, 'latin1'), oid })),
  );
  entry.oid = hashObject('tree', content);
  add(content);
  return folder.entries.size > 0;
}

/** Git sorts a folder as if its name ended with a slash. */
const sortKey = (name: string, entry: FileEntry | FolderEntry): string =>
  isFolder(entry) ? `${name}/` : name;

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
