/** Reads Git objects out of repositories with the real Git, many at a time. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun, neutralEnvironment } from './run.ts';

export interface GitObject {
  readonly oid: string;
  readonly type: string;
  readonly content: Buffer;
}

const environment = neutralEnvironment({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_NO_REPLACE_OBJECTS: '1' });

/** Runs git in a repository, bare or not; answers what it printed, without the last line feed. */
export async function gitIn(path: string, ...args: string[]): Promise<string> {
  return (await mustRun('git', args, { cwd: path, env: environment })).toString().replace(/\n$/, '');
}

/** Every object that is there, unreachable ones too: id → type. */
export async function listObjects(path: string): Promise<Map<string, string>> {
  const format = '--batch-check=%(objectname) %(objecttype)';
  const lines = await gitIn(path, 'cat-file', '--batch-all-objects', '--unordered', format);
  return new Map(
    lines.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ') as [string, string]])),
  );
}

/**
 * Changes whenever an object is added, found without starting a program: which repositories need no second look is
 * asked after every test.
 */
export function objectsFingerprint(path: string): string {
  const objects = ['.git/objects', 'objects'].map((folder) => join(path, folder)).find(existsSync);
  if (objects === undefined) return '';
  return readdirSync(objects)
    .flatMap((folder) => readdirSync(join(objects, folder)))
    .join();
}

/** The objects of these ids; ids that name nothing are left out. */
export async function readObjects(path: string, oids: readonly string[]): Promise<GitObject[]> {
  if (oids.length === 0) return [];
  const options = { cwd: path, env: environment, input: `${oids.join('\n')}\n` };
  const output = await mustRun('git', ['cat-file', '--batch'], options);
  const objects: GitObject[] = [];
  let offset = 0;
  while (offset < output.length) {
    const lineEnd = output.indexOf(0x0a, offset);
    const [oid = '', type = '', size] = output.toString('latin1', offset, lineEnd).split(' ');
    offset = lineEnd + 1;
    if (size === undefined) continue;
    objects.push({ oid, type, content: output.subarray(offset, offset + Number(size)) });
    offset += Number(size) + 1;
  }
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
  const oids = (await gitIn(path, 'rev-list', '--topo-order', '--reverse', ...args))
    .split('\n')
    .filter(Boolean);
  return (await readObjects(path, oids)).map(parseCommit);
}
