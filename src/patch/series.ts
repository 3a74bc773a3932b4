/**
 * Makes commits of a patch, one of each mail, on a commit of upstream, and the entries of the pack
 * that pushes them. Files are read as upstream has them; what `git am` would not apply exactly is
 * refused.
 * Proved by test/e2e/push/patch-oracle.test.ts and test/e2e/push/patch.test.ts.
 */
import { decodeUtf8, utf8 } from '../git/bytes.ts';
import type { Memory } from '../git/memory.ts';
import type { CommitIdentity } from '../git/objects/commit.ts';
import type { Oid } from '../git/objects/oid.ts';
import { kindOf } from '../git/objects/tree.ts';
import { parsePath } from '../edit/path.ts';
import type { ReadObjects } from '../upstream/tree-reader.ts';
import { Applying } from './applying.ts';
import { type FileDiff, readDiffs } from './diff.ts';
import type { PatchMail } from './mails.ts';
import { NewEntries, type WriteEntry } from './new-entries.ts';
import { malformed, shownPath, tooMuch } from './patch-error.ts';
import { WorkTree } from './work-tree.ts';

const NOBODY: CommitIdentity = { name: '', email: '' };
const MiB = 1024 * 1024;
/** Bytes of a patch and of the files of upstream that it changes, together. */
const MAX_SOURCE_BYTES = 20 * MiB;
/** Bytes of these files alone. */
const MAX_READ_BYTES = 16 * MiB;
/**
 * Bytes of all new objects together: more than a patch of many small changes makes, but little for
 * each byte that was sent, because it is stored.
 */
const madeBytes = (patchBytes: number): number => Math.min(32 * MiB, 8 * MiB + 4 * patchBytes);

export interface Base {
  readonly tip: Oid;
  readonly tree: Oid;
  /** Seconds since 1970. */
  readonly committedAt: number;
}

export interface Series {
  readonly tip: Oid;
  /** Entries that were written. */
  readonly entryCount: number;
}

/** The side effects of a series. */
export interface SeriesPorts {
  readonly read: ReadObjects;
  readonly memory: Memory;
  /** Takes the entries of a pack as they are made, so that none has to stay in memory. */
  readonly write: WriteEntry;
}

/** It rejects as its ports do, or with PatchError. */
export async function seriesOn(
  { tip, tree: upstreamTree, committedAt }: Base,
  patch: Uint8Array,
  mails: readonly PatchMail[],
  { read, memory, write }: SeriesPorts,
): Promise<Series> {
  const count = { files: 0, hunks: 0 };
  const commits = mails.map((mail) => ({ ...mail, files: readDiffs(patch, mail.start, mail.end, count) }));
  for (const { files } of commits) checkNames(files);
  const paths = commits.flatMap(({ files }) =>
    files.flatMap(({ from, to }) => [from, to].filter((path) => path !== null)),
  );
  const tree = await WorkTree.of(read, upstreamTree, paths, memory);
  const { names, kept } = neededBy(commits.map(({ files }) => files));
  const sources = await readSources(read, tree, names, patch.byteLength);
  const entries = new NewEntries(write, madeBytes(patch.byteLength));
  const applying = new Applying({ tree, patch, sources, kept }, entries, memory);
  let parent = tip;
  for (const { files, people, message } of commits) {
    await applying.apply(files);
    const trees: Uint8Array[] = [];
    const root = tree.write((content) => void trees.push(content));
    for (const content of trees) await entries.add('tree', content);
    const head = `tree ${root}\nparent ${parent}\n${signatures(people, committedAt)}`;
    parent = await entries.add('commit', utf8(`${head}\n${message}`));
  }
  return { tip: parent, entryCount: entries.count };
}

/**
 * Makes the lines of author and committers. There is a committer for each further sender, because
 * all these names are searched for, before the service replaces the lines.
 */
function signatures(people: readonly CommitIdentity[], at: number): string {
  const [author = NOBODY, ...others] = people;
  return [author, ...(others.length === 0 ? [author] : others)]
    .map(
      ({ name, email }, index) => `${index === 0 ? 'author' : 'committer'} ${name} <${email}> ${at} +0000\n`,
    )
    .join('');
}

interface Needed {
  /** Files whose content upstream must give. */
  readonly names: ReadonlySet<string>;
  /** Changes whose result a later commit reads. */
  readonly kept: ReadonlySet<FileDiff>;
}

/** Finds, from the last commit to the first, what each needs of those before it. */
function neededBy(commits: readonly (readonly FileDiff[])[]): Needed {
  const [names, kept] = [new Set<string>(), new Set<FileDiff>()];
  for (const files of commits.toReversed()) {
    for (const file of files) if (file.to !== null && names.has(file.to)) kept.add(file);
    for (const { to } of files) if (to !== null) names.delete(to);
    for (const file of files) {
      const { from, hunks, binary } = file;
      const isRead = hunks.length > 0 || binary?.method === 'delta' || (binary === null && kept.has(file));
      if (from !== null && isRead) names.add(from);
    }
  }
  return { names, kept };
}

/** Refuses names that are unsafe, or stand twice. @throws PatchError */
function checkNames(files: readonly FileDiff[]): void {
  if (files.length === 0)
    throw malformed('A mail in it has no diff. Leave out a cover letter, and commits without changes.');
  const [taken, written] = [new Set<string>(), new Set<string>()];
  for (const { from, to, isCopy } of files) {
    for (const path of [from, to]) {
      const parsed = path === null ? null : parsePath(decodeUtf8(Buffer.from(path, 'latin1')) ?? '\ud800');
      if (parsed?.kind === 'invalid')
        throw malformed(`It has a file that it must not have. ${parsed.problem}`);
    }
    const isTwice = (to !== null && written.has(to)) || (from !== null && !isCopy && taken.has(from));
    if (isTwice) throw malformed(`It changes ${shownPath(to ?? from ?? '')} twice in one commit.`);
    if (to !== null) written.add(to);
    if (from !== null && !isCopy) taken.add(from);
  }
}

/** Reads the files that are changed, in one request. */
async function readSources(
  read: ReadObjects,
  tree: WorkTree,
  names: ReadonlySet<string>,
  patchBytes: number,
): Promise<ReadonlyMap<Oid, Uint8Array>> {
  const wants = new Set<Oid>();
  for (const name of names) {
    const entry = tree.at(name);
    if (entry !== null && entry !== 'folder' && kindOf(entry) !== 'submodule') wants.add(entry.oid);
  }
  if (wants.size === 0) return new Map();
  const found = await read({ wants: [...wants] }, Math.min(MAX_READ_BYTES, MAX_SOURCE_BYTES - patchBytes));
  if (found === null) throw tooMuch('The files that it changes are too large to be read here.');
  return new Map([...found].map(([oid, { content }]) => [oid, content]));
}
