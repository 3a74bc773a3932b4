/**
 * Reads commits and compares branches, also across a fork and its parent. A fork and its parent
 * share no objects, so git gets the other one's object folder as an alternate for one command.
 * Nothing is copied.
 */
import { join } from 'node:path';
import { readLooseObject } from './bare-repository.ts';
import { mustRunGit, runGit } from './git-command.ts';

export interface Identity {
  readonly name: string;
  readonly email: string;
  /** Seconds since 1970. */
  readonly time: number;
  readonly zone: string;
}

export interface Commit {
  readonly oid: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Identity;
  readonly committer: Identity;
  readonly message: string;
  readonly signature: string | null;
  /**
   * Text of the whole object, with its headers. A page shows it to people who look for traces of
   * themselves.
   */
  readonly raw: string;
}

/** Longest line of commits that is read here. For longer ones, one git process is as fast. */
const LONGEST_LINE = 50;

/** One side of a comparison. */
export interface Tip {
  readonly path: string;
  readonly oid: string;
}

export interface Comparison {
  /** Commits of the head that the base lacks, oldest first. */
  readonly oids: readonly string[];
  /** False when the two have no commit in common. */
  readonly related: boolean;
}

/** Compares two branches as for a merge of head into base, with at most one git process. */
export async function compareTips(base: Tip, head: Tip): Promise<Comparison> {
  const straight = straightLine(base, head);
  if (straight !== undefined) return { oids: straight, related: true };
  const args = ['rev-list', '--reverse', '--boundary', head.oid, `^${base.oid}`];
  const lines = (await mustRunGit(base.path, args, { env: lendObjects(head.path) })).toString().split('\n');
  const oids = lines.filter((line) => /^[0-9a-f]/.test(line));
  // A boundary commit is one at which the head's own commits touch the base's history.
  const related = oids.length === 0 || lines.some((line) => line.startsWith('-'));
  return { oids, related };
}

/**
 * Lists the head's own commits, oldest first, if they are loose and form one line on top of the
 * base.
 */
function straightLine(base: Tip, head: Tip): string[] | undefined {
  const oids: string[] = [];
  let { oid } = head;
  while (oid !== base.oid) {
    const object = readLooseObject(head.path, oid);
    if (object?.type !== 'commit' || oids.length === LONGEST_LINE) return undefined;
    const [parent, ...others] = parseCommit(oid, object.content).parents;
    if (parent === undefined || others.length > 0) return undefined;
    oids.unshift(oid);
    oid = parent;
  }
  return oids;
}

/** Makes the patch from the merge base to the head, as text, at most `maxBytes` long. */
export async function diffText(base: Tip, head: Tip, maxBytes: number): Promise<string> {
  const args = ['diff', '--stat', '--patch', `${base.oid}...${head.oid}`];
  const { stdout } = await runGit(base.path, args, { env: lendObjects(head.path) });
  return stdout.subarray(0, maxBytes).toString();
}

/** Makes an mbox of the head's own commits. */
export function patchText(base: Tip, head: Tip): Promise<Buffer> {
  const args = ['format-patch', '--stdout', '--binary', `${base.oid}..${head.oid}`];
  return mustRunGit(base.path, args, { env: lendObjects(head.path) });
}

/** Reads commits by their ids, in order. An id of something else, or of nothing, is left out. */
export async function readCommits(path: string, oids: readonly string[]): Promise<Commit[]> {
  const loose = oids.map((oid) => ({ oid, object: readLooseObject(path, oid) }));
  if (loose.every(({ object }) => object !== undefined)) {
    return loose.flatMap(({ oid, object }) =>
      object?.type === 'commit' ? [parseCommit(oid, object.content)] : [],
    );
  }
  const output = await mustRunGit(path, ['cat-file', '--batch'], { input: `${oids.join('\n')}\n` });
  const commits: Commit[] = [];
  let offset = 0;
  while (offset < output.length) {
    const lineEnd = output.indexOf(0x0a, offset);
    const [oid = '', type, size] = output.toString('utf8', offset, lineEnd).split(' ');
    offset = lineEnd + 1;
    if (size === undefined) continue;
    const content = output.subarray(offset, offset + Number(size));
    if (type === 'commit') commits.push(parseCommit(oid, content));
    offset += Number(size) + 1;
  }
  return commits;
}

/** Reads one commit; `undefined` if the id names none. */
export async function readCommit(path: string, oid: string): Promise<Commit | undefined> {
  return (await readCommits(path, [oid]))[0];
}

/** Splits a commit object into its parts. Decodes the message by its `encoding` header. */
export function parseCommit(oid: string, content: Buffer): Commit {
  const headerEnd = content.indexOf('\n\n');
  const headers = parseHeaders(content.toString('utf8', 0, headerEnd));
  const encoding = headers.find(([name]) => name === 'encoding')?.[1];
  const message = decode(content.subarray(headerEnd + 2), encoding);
  const only = (name: string) => headers.find((header) => header[0] === name)?.[1] ?? '';
  return {
    oid,
    tree: only('tree'),
    parents: headers.filter(([name]) => name === 'parent').map(([, value]) => value),
    author: parseIdentity(only('author')),
    committer: parseIdentity(only('committer')),
    message: message.replace(/\n+$/, ''),
    signature: only('gpgsig') || null,
    raw: decode(content, encoding),
  };
}

/** Parses the headers. A continuation line starts with a space. */
function parseHeaders(text: string): [name: string, value: string][] {
  return text.split(/\n(?! )/).map((line) => {
    const space = line.indexOf(' ');
    return [line.slice(0, space), line.slice(space + 1).replaceAll('\n ', '\n')];
  });
}

function parseIdentity(value: string): Identity {
  const [, name = '', email = '', time = '0', zone = '+0000'] =
    /^(.*?) ?<(.*)> (\d+) ([+-]\d{4})$/s.exec(value) ?? [];
  return { name, email, time: Number(time), zone };
}

function decode(bytes: Buffer, encoding = 'utf-8'): string {
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    // Nobody knows this encoding. Show the bytes, one character each.
    return bytes.toString('latin1');
  }
}

function lendObjects(path: string): Record<string, string> {
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(path, 'objects') };
}
