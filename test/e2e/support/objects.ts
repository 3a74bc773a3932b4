/**
 * Reads Git objects out of repositories. Every test lists and reads whole repositories several
 * times: that is done from their files, because a program for each look would take more time than
 * all that is pushed.
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { constants, inflateSync } from 'node:zlib';
import { unpackPush } from './captured-pack.ts';
import { mustRun, neutralEnvironment } from './run.ts';

export interface GitObject {
  readonly oid: string;
  readonly type: string;
  readonly content: Buffer;
}

const OID = /^[0-9a-f]{40}$/;
/** More than the header of an object is, compressed. */
const LOOSE_START_BYTES = 128;

const environment = neutralEnvironment({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_NO_REPLACE_OBJECTS: '1' });

/** Runs git in a repository, bare or not; answers what it printed, without the last line feed. */
export async function gitIn(path: string, ...args: string[]): Promise<string> {
  return (await mustRun('git', args, { cwd: path, env: environment })).toString().replace(/\n$/, '');
}

/** Every object that is there, unreachable ones too: id → type. */
export async function listObjects(path: string): Promise<Map<string, string>> {
  const folder = objectsFolder(path);
  const found = new Map<string, string>();
  for (const oid of looseIds(folder)) {
    const type = looseTypes.get(oid) ?? looseType(folder, oid);
    looseTypes.set(oid, type);
    found.set(oid, type);
  }
  for (const pack of packsIn(folder)) {
    for (const [oid, type] of await packTypes(pack)) found.set(oid, type);
  }
  return found;
}

/**
 * Changes whenever an object is added, found without reading a folder of objects: which
 * repositories need no second look is asked after every test. Where folders do not grow by a file,
 * their time alone says so, in steps of milliseconds.
 */
export function objectsFingerprint(path: string): string {
  const objects = objectsFolder(path);
  if (!existsSync(objects)) return '';
  return readdirSync(objects)
    .map((folder) => {
      // Git may just be removing one.
      const found = statSync(`${objects}/${folder}`, { throwIfNoEntry: false });
      return `${folder} ${found?.size} ${found?.mtimeMs}`;
    })
    .join();
}

/** The objects of these ids, in this order; ids that name nothing are left out. */
export async function readObjects(path: string, oids: readonly string[]): Promise<GitObject[]> {
  const folder = objectsFolder(path);
  const wanted = new Set(oids);
  const found = new Map<string, GitObject>();
  for (const oid of wanted) {
    if (existsSync(loosePath(folder, oid))) found.set(oid, readLoose(folder, oid));
  }
  for (const pack of found.size < wanted.size ? packsIn(folder) : []) {
    const types = await packTypes(pack);
    if (!oids.some((oid) => types.has(oid) && !found.has(oid))) continue;
    for (const object of await unpack(pack)) if (wanted.has(object.oid)) found.set(object.oid, object);
  }
  return oids.flatMap((oid) => found.get(oid) ?? []);
}

/** The folder of the objects of a repository, bare or with a work tree. */
function objectsFolder(path: string): string {
  const inside = join(path, '.git/objects');
  return existsSync(inside) ? inside : join(path, 'objects');
}

function looseIds(folder: string): string[] {
  const starts = readdirSync(folder).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const ids = starts.flatMap((start) => readdirSync(join(folder, start)).map((rest) => start + rest));
  return ids.filter((oid) => OID.test(oid));
}

const loosePath = (folder: string, oid: string): string => join(folder, oid.slice(0, 2), oid.slice(2));

/** Types of objects by their ids; what an id names never changes. */
const looseTypes = new Map<string, string>();

function looseType(folder: string, oid: string): string {
  const start = inflateSync(readFileSync(loosePath(folder, oid)).subarray(0, LOOSE_START_BYTES), {
    finishFlush: constants.Z_SYNC_FLUSH,
  });
  return start.toString('latin1', 0, start.indexOf(' '));
}

function readLoose(folder: string, oid: string): GitObject {
  const bytes = inflateSync(readFileSync(loosePath(folder, oid)));
  return {
    oid,
    type: bytes.toString('latin1', 0, bytes.indexOf(' ')),
    content: bytes.subarray(bytes.indexOf(0) + 1),
  };
}

/** Those that are complete: Git writes the index last. */
function packsIn(folder: string): string[] {
  const names = readdirSync(join(folder, 'pack')).filter((name) => name.endsWith('.idx'));
  return names.map((name) => join(folder, 'pack', name.replace(/idx$/, 'pack')));
}

/** By the pack's name, which is its checksum: a fork has its upstream's. */
const knownPacks = new Map<string, ReadonlyMap<string, string>>();

async function packTypes(pack: string): Promise<ReadonlyMap<string, string>> {
  const known = knownPacks.get(basename(pack));
  if (known !== undefined) return known;
  const types = new Map((await unpack(pack)).map(({ oid, type }) => [oid, type]));
  knownPacks.set(basename(pack), types);
  return types;
}

async function unpack(pack: string): Promise<readonly GitObject[]> {
  const { objects, announcedObjects, isComplete } = await unpackPush(readFileSync(pack), async () => []);
  if (!isComplete || objects.length < announcedObjects) throw new Error(`${pack} cannot be read`);
  return objects;
}

/** One object, byte for byte. */
export async function readObject(path: string, oid: string): Promise<GitObject> {
  const [object] = await readObjects(path, [oid]);
  if (object === undefined) throw new Error(`${path} has no object ${oid}`);
  return object;
}

export interface CommitParts {
  readonly oid: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly committer: string;
  /** All headers in order, continuation lines joined. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly message: Buffer;
}

/** Splits a commit (or a tag) into headers and message. */
export function parseCommit({ oid, content }: GitObject): CommitParts {
  const end = content.indexOf('\n\n');
  const headerText = content.toString('latin1', 0, end < 0 ? content.length : end);
  const headers = headerText.split(/\n(?! )/).map((line) => {
    const space = line.indexOf(' ');
    return [line.slice(0, space), line.slice(space + 1).replaceAll('\n ', '\n')] as const;
  });
  const all = (name: string) => headers.filter((header) => header[0] === name).map((header) => header[1]);
  return {
    oid,
    tree: all('tree')[0] ?? '',
    parents: all('parent'),
    author: all('author')[0] ?? '',
    committer: all('committer')[0] ?? '',
    headers,
    message: end < 0 ? Buffer.alloc(0) : content.subarray(end + 2),
  };
}

export async function readCommit(path: string, oid: string): Promise<CommitParts> {
  return parseCommit(await readObject(path, oid));
}

/** Commits of `git rev-list <args>`, parents before children. */
export async function readHistory(path: string, ...args: string[]): Promise<CommitParts[]> {
  const line = args.length === 1 ? looseLine(path, args[0] as string) : null;
  if (line !== null) return line;
  const oids = (await gitIn(path, 'rev-list', '--topo-order', '--reverse', ...args))
    .split('\n')
    .filter(Boolean);
  return (await readObjects(path, oids)).map(parseCommit);
}

/**
 * The history of a commit, first commit first; null: Git must be asked, because it branches or is
 * packed in part.
 */
function looseLine(path: string, tip: string): CommitParts[] | null {
  const folder = objectsFolder(path);
  const line: CommitParts[] = [];
  for (let oid: string | undefined = tip; oid !== undefined;) {
    if (!OID.test(oid) || !existsSync(loosePath(folder, oid))) return null;
    const commit: CommitParts = parseCommit(readLoose(folder, oid));
    if (commit.parents.length > 1) return null;
    line.unshift(commit);
    oid = commit.parents[0];
  }
  return line;
}
