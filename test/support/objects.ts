/**
 * Git objects for tests, written out byte by byte; the people in them must never be found at the
 * host.
 */
import { CommitTable, type ListedCommit } from '../../src/git/objects/commit-table.ts';

/** All of these are searched for in what comes out. */
export const AUTHOR = 'Ada Lovelace <ada@example.org> 1700000000 +0530';
export const COMMITTER = 'Charles Babbage <charles@example.org> 1700000100 -0330';
export const PRIVATE_WORDS = ['Ada Lovelace', 'ada@example', 'Babbage', 'charles@', '+0530', '-0330'];

export interface CommitFields {
  readonly tree?: string;
  readonly parents?: readonly string[];
  readonly author?: string;
  readonly committer?: string;
  /** Lines behind the committer's, each ended by a line feed. */
  readonly headers?: string | Uint8Array;
  readonly message?: string | Uint8Array;
}

export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : content;
}

export function commitContent(fields: CommitFields = {}): Buffer {
  const { tree = EMPTY_TREE, parents = [], author = AUTHOR, committer = COMMITTER } = fields;
  const head = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${author}`,
    `committer ${committer}`,
    '',
  ].join('\n');
  return Buffer.concat([
    Buffer.from(head),
    bytesOf(fields.headers ?? ''),
    Buffer.from('\n'),
    bytesOf(fields.message ?? 'A change\n'),
  ]);
}

/** Files in the order in which Git sorts them: by name. */
export function treeContent(files: readonly { readonly name: string; readonly oid: string }[]): Buffer {
  const sorted = files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return Buffer.concat(
    sorted.flatMap(({ name, oid }) => [Buffer.from(`100644 ${name}\0`), Buffer.from(oid, 'hex')]),
  );
}

export function tagContent(target: string, name = 'v1', message: string | Uint8Array = 'A tag\n'): Buffer {
  return Buffer.concat([
    Buffer.from(`object ${target}\ntype commit\ntag ${name}\ntagger ${AUTHOR}\n\n`),
    bytesOf(message),
  ]);
}

/** An object id that names nothing; the same number gives the same one. */
export function oidNumber(number: number): string {
  return [1, 2, 3, 4, 5].map((part) => scrambled(number, part)).join('');
}

/**
 * Eight digits. Of the same part, no two numbers have the same; a hash of Git's would take twenty
 * times as long.
 */
function scrambled(number: number, part: number): string {
  let word = Math.imul(number, 0x9e3779b1) ^ Math.imul(part, 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 16), 0x7feb352d);
  word = Math.imul(word ^ (word >>> 15), 0x846ca68b);
  return ((word ^ (word >>> 16)) >>> 0).toString(16).padStart(8, '0');
}

export function tableOf(commits: Iterable<ListedCommit>): CommitTable {
  const table = new CommitTable();
  for (const commit of commits) table.add(commit);
  return table;
}
