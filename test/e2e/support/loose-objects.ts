/**
 * Writes objects and refs into a repository's own files, as git does when there are few: a program
 * for each commit would take longer than what is tested with it.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { readLooseObject } from '../../../sandbox/bare-repository.ts';

/** Path → content; null removes the file. */
export type Files = Readonly<Record<string, string | Uint8Array | null>>;

export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  /** `Name <mail> seconds zone` */
  readonly author: string;
  readonly committer: string;
  readonly message: string | Uint8Array;
  /** Whole lines behind the committer's, continuation lines included. */
  readonly headers?: readonly string[];
}

interface Entry {
  readonly mode: string;
  readonly oid: string;
}

/** Its state is small: the usual one takes longer to get than an object to compress. */
const QUICKLY = { level: 1, memLevel: 1, windowBits: 9 };
/** Larger ones are random bytes, which are stored as they are. */
const LARGE_BYTES = 1_000_000;

const FILE = '100644';
const FOLDER = '40000';

/** Writes an object, also one that git would not make. Answers its id. */
export function writeObject(gitFolder: string, type: string, content: Uint8Array): string {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.byteLength}\0`), content]);
  const oid = createHash('sha1').update(bytes).digest('hex');
  const file = join(gitFolder, 'objects', oid.slice(0, 2), oid.slice(2));
  if (existsSync(file)) return oid;
  mkdirSync(dirname(file), { recursive: true });
  const how = bytes.length > LARGE_BYTES ? { level: 0 } : QUICKLY;
  writeFileSync(file, deflateSync(bytes, how), { mode: 0o444 });
  return oid;
}

export function writeCommit(gitFolder: string, commit: NewCommit): string {
  const lines = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${commit.author}`,
    `committer ${commit.committer}`,
    ...(commit.headers ?? []),
  ];
  const content = Buffer.concat([Buffer.from(`${lines.join('\n')}\n\n`), Buffer.from(commit.message)]);
  return writeObject(gitFolder, 'commit', content);
}

export function writeRef(gitFolder: string, ref: string, value: string): void {
  mkdirSync(dirname(join(gitFolder, ref)), { recursive: true });
  writeFileSync(join(gitFolder, ref), `${value}\n`);
}

/** The tree of a commit that has a file of its own; undefined: it is packed. */
export function treeOf(gitFolder: string, commit: string): string | undefined {
  const text = readLooseObject(gitFolder, commit)?.content.toString('latin1');
  return text === undefined ? undefined : /^tree ([0-9a-f]{40})$/m.exec(text)?.[1];
}

/**
 * Writes the tree with other files in it; null: it starts empty. Answers its id.
 * Undefined: a tree that is needed is packed, or there is more at a path than a file.
 */
export function treeWith(gitFolder: string, tree: string | null, files: Files): string | undefined {
  const entries = tree === null ? new Map<string, Entry>() : readTree(gitFolder, tree);
  if (entries === undefined) return undefined;
  const inFolders = new Map<string, Record<string, string | Uint8Array | null>>();
  for (const [path, content] of Object.entries(files)) {
    const slash = path.indexOf('/');
    const name = slash < 0 ? path : path.slice(0, slash);
    const there = entries.get(name);
    if (there !== undefined && (there.mode === FOLDER) !== slash >= 0) return undefined;
    if (slash >= 0) {
      inFolders.set(name, { ...inFolders.get(name), [path.slice(slash + 1)]: content });
    } else if (content === null) entries.delete(name);
    else {
      if (there !== undefined && !there.mode.startsWith('100')) return undefined;
      const oid = writeObject(gitFolder, 'blob', Buffer.from(content));
      entries.set(name, { mode: there?.mode ?? FILE, oid });
    }
  }
  for (const [name, inside] of inFolders) {
    const oid = treeWith(gitFolder, entries.get(name)?.oid ?? null, inside);
    if (oid === undefined) return undefined;
    if (oid === EMPTY_TREE) entries.delete(name);
    else entries.set(name, { mode: FOLDER, oid });
  }
  return writeObject(gitFolder, 'tree', treeContent(entries));
}

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** The entries of a tree by name; undefined: it is packed. */
export function readTree(gitFolder: string, oid: string): Map<string, Entry> | undefined {
  const content = readLooseObject(gitFolder, oid)?.content;
  if (content === undefined) return undefined;
  const entries = new Map<string, Entry>();
  for (let position = 0; position < content.length;) {
    const space = content.indexOf(0x20, position);
    const end = content.indexOf(0, space);
    const name = content.toString('utf8', space + 1, end);
    const mode = content.toString('latin1', position, space);
    position = end + 21;
    entries.set(name, { mode, oid: content.toString('hex', end + 1, position) });
  }
  return entries;
}

/** Sorted as git does: a folder as if its name ended in a slash. */
function treeContent(entries: ReadonlyMap<string, Entry>): Buffer {
  const sorted = [...entries]
    .map(([name, entry]) => ({ key: Buffer.from(entry.mode === FOLDER ? `${name}/` : name), name, entry }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key));
  return Buffer.concat(
    sorted.flatMap(({ name, entry: { mode, oid } }) => [
      Buffer.from(`${mode} ${name}\0`),
      Buffer.from(oid, 'hex'),
    ]),
  );
}
