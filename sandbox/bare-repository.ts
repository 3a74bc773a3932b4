/**
 * Bare repositories on disk. Creating one, reading its refs and loose objects, and copying its
 * objects for a fork are plain file operations here. Most REST calls then need no git process, and
 * the host stays fast enough to be a benchmark's reference. Changes to the objects or refs of a
 * repository in use are left to git.
 */
import {
  type Dirent,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';

const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[receive]
\tfsckObjects = true
\tadvertisePushOptions = false
\tautogc = false
\thideRefs = refs/pull
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
[uploadpackfilter "tree"]
\tmaxDepth = 0
[gc]
\tauto = 0
`;

const OID_LENGTH = 40;
const MANY_LOOSE_REFS = 256;

/** Makes an empty bare repository: what `git init --bare` writes, with the host's configuration. */
export function initBareRepository(path: string, defaultBranch: string): void {
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags']) {
    mkdirSync(join(path, folder), { recursive: true });
  }
  writeFileSync(join(path, 'config'), CONFIG);
  setHead(path, defaultBranch);
}

/** Whether a repository has the configuration that it was made with. */
export const hasHostConfig = (path: string): boolean => readFileSync(join(path, 'config'), 'utf8') === CONFIG;

/** Points HEAD at the default branch: a clone checks that one out. */
export function setHead(path: string, defaultBranch: string): void {
  writeFileSync(join(path, 'HEAD'), `ref: refs/heads/${defaultBranch}\n`);
}

/**
 * Reads all refs with their object ids, sorted by name. A loose ref takes precedence over a packed
 * one, as in git.
 */
export function readRefs(path: string): Map<string, string> {
  const refs = new Map<string, string>();
  // The loose ones first: git may pack some in between.
  readLooseRefs(path, 'refs', refs);
  for (const line of readTextIfThere(join(path, 'packed-refs')).split('\n')) {
    const name = line.slice(OID_LENGTH + 1);
    if (/^[0-9a-f]{40} /.test(line) && !refs.has(name)) refs.set(name, line.slice(0, OID_LENGTH));
  }
  return new Map([...refs].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Tells if so many branches have files of their own that git reads them slowly. */
export function hasManyLooseRefs(path: string): boolean {
  return listIfThere(join(path, 'refs/heads')).length > MANY_LOOSE_REFS;
}

/** Reads one ref's object id, by its full name. */
export function readRef(path: string, ref: string): string | undefined {
  if (ref.split('/').some((part) => part === '' || part.startsWith('.'))) return undefined;
  const loose = readTextIfThere(join(path, ref)).trim();
  if (loose.length === OID_LENGTH) return loose;
  const packed = readTextIfThere(join(path, 'packed-refs')).split('\n');
  return packed.find((line) => line.slice(OID_LENGTH + 1) === ref)?.slice(0, OID_LENGTH);
}

export interface GitObject {
  readonly type: string;
  readonly content: Buffer;
}

/**
 * Reads an object that has a file of its own, as git keeps those that came with few others.
 * `undefined` if the object is packed or missing.
 */
export function readLooseObject(path: string, oid: string): GitObject | undefined {
  const file = join(path, 'objects', oid.slice(0, 2), oid.slice(2));
  if (!/^[0-9a-f]{40}$/.test(oid) || !existsSync(file)) return undefined;
  const bytes = inflateSync(readFileSync(file));
  const type = bytes.toString('latin1', 0, bytes.indexOf(0x20));
  return { type, content: bytes.subarray(bytes.indexOf(0) + 1) };
}

/**
 * Fills the empty shell of a fork. Objects are linked file by file and become the fork's own. There
 * are no alternates, so the fork lacks what upstream gains later until it is synced. The refs are
 * read first and written last, so that they never name an object that has not been linked.
 */
export function copyIntoFork(parentPath: string, forkPath: string): void {
  const refs = readRefs(parentPath);
  for (const folder of readdirSync(join(parentPath, 'objects'))) {
    if (!/^([0-9a-f]{2}|pack)$/.test(folder)) continue;
    mkdirSync(join(forkPath, 'objects', folder), { recursive: true });
    for (const file of readdirSync(join(parentPath, 'objects', folder))) {
      if (!file.startsWith('tmp_')) linkUnlessThere(parentPath, forkPath, join('objects', folder, file));
    }
  }
  const copied = [...refs].filter(([ref]) => /^refs\/(heads|tags)\//.test(ref));
  const lines = copied.map(([ref, oid]) => `${oid} ${ref}\n`);
  writeFileSync(join(forkPath, 'packed-refs'), `# pack-refs with: sorted \n${lines.join('')}`);
}

/**
 * Adds up the size of the packs, in KB. Loose objects are left out: GitHub's figure also lags, and
 * is 0 for small repositories.
 */
export function packedSizeKb(path: string): number {
  const folder = join(path, 'objects/pack');
  const packs = readdirSync(folder).filter((file) => file.endsWith('.pack'));
  const bytes = packs.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
  return Math.floor(bytes / 1024);
}

function readLooseRefs(path: string, folder: string, refs: Map<string, string>): void {
  for (const entry of listIfThere(join(path, folder))) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) readLooseRefs(path, name, refs);
    else {
      // A ref may be renamed away or still be a lock file while it is read.
      const oid = readTextIfThere(join(path, name)).trim();
      if (oid.length === OID_LENGTH && !name.endsWith('.lock')) refs.set(name, oid);
    }
  }
}

function linkUnlessThere(fromRoot: string, toRoot: string, file: string): void {
  try {
    linkSync(join(fromRoot, file), join(toRoot, file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

const readTextIfThere = (file: string): string => ifThere(() => readFileSync(file, 'utf8'), '');

/** Lists a folder. Git removes an empty one when it packs refs. */
const listIfThere = (folder: string): Dirent[] =>
  ifThere(() => readdirSync(folder, { withFileTypes: true }), []);

function ifThere<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes(code)) return otherwise;
    throw error;
  }
}
