/**
 * Finds a path in a commit, and reads only the folders on the way, level by level: hosts serve
 * objects by their ids, and GitHub allows no filter by depth but `tree:0`. The fifth request asks
 * for all folders below, and takes the answer if it is small. With 10,000 files, a hundred in each
 * folder, the way to one costs 9 KB.
 */
import { decodeUtf8, latin1, utf8 } from '../git/bytes.ts';
import { type Commit, parseCommit } from '../git/objects/commit.ts';
import { pullRequestText } from '../git/objects/commit-message.ts';
import type { Memory } from '../git/memory.ts';
import type { Oid } from '../git/objects/oid.ts';
import type { GitTransport } from '../host/git/git-transport.ts';
import { oneLine } from '../words/host-text.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import { Recent } from '../isolate/recent.ts';
import type { KeptObject } from '../git/pack/kept-objects.ts';
import type { ObjectRequest } from '../git/wire/protocol-v2.ts';
import { ProtocolError } from '../git/wire/protocol-error.ts';
import { entryNamed, kindOf, parseTree, type TreeEntry } from '../git/objects/tree.ts';

/** Reads the wanted objects by their ids, or returns null if they are larger than `maxBytes`. */
export type ReadObjects = (
  request: ObjectRequest,
  maxBytes: number,
) => Promise<ReadonlyMap<Oid, KeptObject> | null>;

/** Opens the objects of one repository. */
export function readsOf(
  transport: Pick<GitTransport, 'readObjects'>,
  repository: RepositoryName,
): ReadObjects {
  return (...asked) => transport.readObjects(repository, ...asked);
}

export type Folder = readonly TreeEntry[];

export type FoundPath =
  | { readonly kind: 'folder' | 'missing'; readonly folders: readonly Folder[] }
  | { readonly kind: 'file'; readonly folders: readonly Folder[]; readonly blob: Oid }
  /**
   * A place that cannot be changed here, and has nothing below it. `place` is how many parts of the
   * path lead to it.
   */
  | { readonly kind: 'symlink' | 'submodule' | 'file-as-folder'; readonly place: number }
  /** The folders on the way are too large. */
  | { readonly kind: 'too-large' };

const MAX_COMMIT_BYTES = 1024 * 1024;
/**
 * Maximum size of all folders on the way together, some 25,000 files. In memory, entries take ten
 * times that.
 */
const MAX_FOLDERS_BYTES = 1024 * 1024;
/**
 * Maximum number of entries that are listed. A folder that stands at many places is sent once, and
 * listed at each: ten such levels would be endless.
 */
const MAX_LISTED_ENTRIES = 50_000;
/**
 * Maximum length of all listed paths together: below folders with long names, a megabyte of folders
 * makes a hundred of paths.
 */
const MAX_LISTED_CHARACTERS = 4 * 1024 * 1024;
/** Maximum length of a path that is listed. It also bounds how deep folders are followed. */
const MAX_PATH_LENGTH = 4_096;
/** Number of the request that asks for all folders below, if they are small. */
const MAX_FOLDER_CALLS = 5;
const SMALL_BYTES = 40 * 1024;
/**
 * Factor for folders in memory: an entry of some 35 bytes becomes an object with a name, a mode and
 * an id.
 */
export const FOLDER_COPIES = 10;
/** Factor for files in memory: a text as it came, as a string, as lines, and in the page. */
const FILE_COPIES = 4;

/**
 * Folders that this isolate has read lately, by their ids, which determine their content. They take
 * at most some 4 MB.
 */
const remembered = new Recent<Uint8Array>({ most: 64 });
const MAX_REMEMBERED_BYTES = 64 * 1024;

/** A host whose objects are read, and the memory of the request that reads them. */
interface ReadHost {
  readonly transport: Pick<GitTransport, 'readObjects'>;
  readonly memory: Memory;
}

/**
 * Opens the objects of one repository, and counts those that are read in the memory of a request.
 * It rejects as the transport does, or with HostError `busy`.
 * @param fileCopies is how often a file is in memory.
 */
export function heldReads(
  { transport, memory }: ReadHost,
  repository: RepositoryName,
  fileCopies = FILE_COPIES,
): ReadObjects {
  const read = readsOf(transport, repository);
  return async (request, maxBytes) => {
    const objects = await read(request, maxBytes);
    let bytes = 0;
    for (const { type, content } of objects?.values() ?? []) {
      bytes += content.byteLength * (type === 'tree' ? FOLDER_COPIES : fileCopies);
    }
    await memory.claim().set(bytes);
    return objects;
  };
}

/** Reads a commit without its files. It rejects as `read` does, or with ProtocolError. */
export async function readCommit(
  read: ReadObjects,
  oid: Oid,
): Promise<Commit & { readonly content: Uint8Array }> {
  const objects = await read({ wants: [oid], depth: 1 }, MAX_COMMIT_BYTES);
  const content = objects?.get(oid)?.content;
  if (content === undefined) throw notSent('commit');
  return { ...parseCommit(content), content };
}

/**
 * Finds a path. It rejects as `read` does, or with ProtocolError.
 * @param root is the folder of the commit.
 * @param parts are the parts of the path.
 */
export async function findPath(read: ReadObjects, root: Oid, parts: readonly string[]): Promise<FoundPath> {
  const folders: Folder[] = [];
  const reader = new FolderReader(read);
  let oid = root;
  for (let depth = 0; ; depth++) {
    const folder = await reader.read(oid, parts.length - depth);
    if (folder === null) return { kind: 'too-large' };
    folders.push(folder);
    const part = parts[depth];
    if (part === undefined) return { kind: 'folder', folders };
    const entry = entryNamed(folder, utf8(part));
    if (entry === undefined) return { kind: 'missing', folders };
    const kind = kindOf(entry);
    const isLast = depth === parts.length - 1;
    if (kind === 'file' && isLast) return { kind: 'file', folders, blob: entry.oid };
    if (kind === 'file') return { kind: 'file-as-folder', place: depth + 1 };
    if (kind !== 'folder') return { kind, place: depth + 1 };
    oid = entry.oid;
  }
}

/**
 * Lists the paths of all files, except those that are too long or not UTF-8. It takes one request,
 * with an answer of 64 KiB for some 1,500 files. It rejects as `read` does, or with ProtocolError.
 * @returns null if there are too many, or the folders are too large.
 */
export async function listFiles(read: ReadObjects, root: Oid): Promise<string[] | null> {
  const objects = await read({ wants: [root], withFolders: true }, MAX_FOLDERS_BYTES);
  if (objects === null) return null;
  const paths: string[] = [];
  let [left, charactersLeft] = [MAX_LISTED_ENTRIES, MAX_LISTED_CHARACTERS];
  const walk = (oid: Oid, above: string): void => {
    const folder = objects.get(oid);
    if (folder === undefined) throw notSent('folder');
    for (const entry of parseTree(folder.content)) {
      if (left-- <= 0 || charactersLeft < 0) return;
      const name = decodeUtf8(entry.name);
      const path = above + name;
      if (name === null || path.length > MAX_PATH_LENGTH) continue;
      const kind = kindOf(entry);
      if (kind === 'folder') walk(entry.oid, `${path}/`);
      else if (kind === 'file') {
        charactersLeft -= path.length;
        paths.push(path);
      }
    }
  };
  walk(root, '');
  return left < 0 || charactersLeft < 0 ? null : paths;
}

/**
 * Reads a file. It rejects as `read` does, or with ProtocolError.
 * @returns null if it is larger than `maxBytes`, or is no file.
 */
export async function readBlob(read: ReadObjects, oid: Oid, maxBytes: number): Promise<Uint8Array | null> {
  const objects = await read({ wants: [oid] }, maxBytes);
  if (objects === null) return null;
  const blob = objects.get(oid);
  if (blob === undefined) throw notSent('file');
  return blob.type === 'blob' && blob.content.byteLength <= maxBytes ? blob.content : null;
}

class FolderReader {
  readonly #read: ReadObjects;
  /** The folders that came with another folder. */
  readonly #below = new Map<Oid, Uint8Array>();
  #calls = 0;
  #bytesLeft = MAX_FOLDERS_BYTES;

  constructor(read: ReadObjects) {
    this.#read = read;
  }

  /**
   * Reads a folder.
   * @param levelsBelow is how many levels below it may be read next.
   * @returns null if it is too large, together with those above.
   */
  async read(oid: Oid, levelsBelow: number): Promise<Folder | null> {
    const content = await this.#contentOf(oid, levelsBelow);
    if (content === null || content.byteLength > this.#bytesLeft) return null;
    this.#bytesLeft -= content.byteLength;
    return parseTree(content);
  }

  async #contentOf(oid: Oid, levelsBelow: number): Promise<Uint8Array | null> {
    const known = this.#below.get(oid) ?? remembered.get(oid);
    if (known !== null) return known;
    this.#calls++;
    // Ask for the rest of the way at once, and take it if it is small.
    if (this.#calls === MAX_FOLDER_CALLS && levelsBelow > 1) {
      const all = await this.#read({ wants: [oid], withFolders: true }, SMALL_BYTES);
      for (const [each, { type, content }] of all ?? []) if (type === 'tree') this.#below.set(each, content);
      const folder = all?.get(oid);
      if (folder !== undefined) return folder.content;
    }
    const objects = await this.#read({ wants: [oid] }, this.#bytesLeft);
    if (objects === null) return null;
    const folder = objects.get(oid);
    if (folder === undefined) throw notSent('folder');
    // Copy the content, because it is a view into a larger buffer.
    if (folder.content.byteLength <= MAX_REMEMBERED_BYTES) remembered.set(oid, folder.content.slice());
    return folder.content;
  }
}

function notSent(what: string): ProtocolError {
  return new ProtocolError('bad-pack', `The code host did not send the ${what} that was asked for.`);
}

/** Maximum number of generations of commits of a branch that are examined. */
const MOST_COMMITS = 10;
const MOST_COMMITS_BYTES = 256 * 1024;
/** Length of an abbreviated id in a message. */
export const SHOWN_ID_LENGTH = 12;

/**
 * Tells if a commit may be removed from the branch: it is upstream's, in the push, or was recorded.
 */
export type IsHarmless = (oid: Oid) => boolean | Promise<boolean>;

/**
 * Describes the commits of others on a branch, the newest first, one a line. It takes one request.
 * @returns null if the host does not show them.
 */
export async function othersOn(
  read: ReadObjects,
  tip: Oid,
  anonEmail: string,
  isHarmless: IsHarmless,
): Promise<readonly string[] | null> {
  const commits = await read({ wants: [tip], depth: MOST_COMMITS }, MOST_COMMITS_BYTES);
  if (commits?.has(tip) !== true) return null;
  const lines: string[] = [];
  const seen = new Set<Oid>();
  const left = [tip];
  for (let oid = left.pop(); oid !== undefined; oid = left.pop()) {
    if (seen.has(oid) || (await isHarmless(oid))) continue;
    seen.add(oid);
    const content = commits.get(oid)?.content;
    if (content === undefined) return [...lines, 'and more'];
    if (isMadeHere(content, anonEmail)) continue;
    const commit = parseCommit(content);
    lines.push(`${oid.slice(0, SHOWN_ID_LENGTH)} ${oneLine(pullRequestText(commit).title)}`);
    left.push(...commit.parents);
  }
  return lines;
}

/** Tells if the service made a commit: its author and its committer have the bot's address. */
export function isMadeHere(content: Uint8Array, anonEmail: string): boolean {
  const [head = ''] = latin1(content).split('\n\n', 1);
  const signed = head.split('\n').filter((line: string) => /^(?:author|committer) /.test(line));
  return signed.length === 2 && signed.every((line: string) => line.includes(` <${anonEmail}> `));
}
