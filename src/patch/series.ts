/**
 * Makes commits of a patch, one of each mail, on a commit of upstream, and the pack that pushes
 * them. Files are read as upstream has them; what `git am` would not apply exactly is refused.
 * Proved by test/e2e/push/patch-oracle.test.ts and test/e2e/push/patch.test.ts.
 */
import { decodeUtf8, latin1, utf8 } from '../git/bytes.ts';
import type { Memory, MemoryClaim } from '../git/memory.ts';
import type { CommitIdentity } from '../git/objects/commit.ts';
import { hashObject, type ObjectType, type Oid } from '../git/objects/oid.ts';
import type { ChunkSource } from '../git/wire/byte-reader.ts';
import { kindOf } from '../git/objects/tree.ts';
import { packOf } from '../git/pack/new-pack.ts';
import { parsePath } from '../edit/path.ts';
import type { ReadObjects } from '../upstream/tree-reader.ts';
import { applyHunks, newBudget } from './apply.ts';
import { applyBinary } from './binary.ts';
import { type FileDiff, readDiffs } from './diff.ts';
import type { PatchMail } from './mails.ts';
import { doesNotApply, malformed, tooMuch } from './patch-error.ts';
import { type FileEntry, WorkTree } from './work-tree.ts';

const NOBODY: CommitIdentity = { name: '', email: '' };
const MiB = 1024 * 1024;
/** Bytes that are read of upstream's files, together. */
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
  readonly pack: ChunkSource;
}

/** It rejects as `read` does, or with PatchError. */
export async function seriesOn(
  { tip, tree: upstreamTree, committedAt }: Base,
  patch: string,
  mails: readonly PatchMail[],
  read: ReadObjects,
  memory: Memory,
): Promise<Series> {
  const count = { files: 0, hunks: 0 };
  const commits = mails.map((mail) => ({ ...mail, files: readDiffs(patch, mail.start, mail.end, count) }));
  for (const { files } of commits) checkNames(files);
  const paths = commits.flatMap(({ files }) =>
    files.flatMap(({ from, to }) => [from, to].filter((path) => path !== null)),
  );
  const tree = await WorkTree.of(read, upstreamTree, paths, memory);
  // A file that one commit renames may be changed by the next.
  const isLone = commits.length === 1;
  const changed = commits.flatMap(({ files }) => files.filter((file) => hasContent(file) || !isLone));
  const sources = await readSources(read, tree, changed);
  const objects = new NewObjects(memory, madeBytes(patch.length));
  const applying = new Applying(tree, patch, sources, objects);
  let parent = tip;
  for (const { files, people, message } of commits) {
    await applying.apply(files, memory);
    const root = tree.write((content) => void objects.add('tree', content));
    const head = `tree ${root}\nparent ${parent}\n${signatures(people, committedAt)}`;
    parent = objects.add('commit', utf8(`${head}\n${message}`));
    await objects.claim();
  }
  return { tip: parent, pack: packOf(objects.all) };
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

/** Whether the change depends on what the file has. */
function hasContent({ from, hunks, binary }: FileDiff): boolean {
  return from !== null && (hunks.length > 0 || binary !== null);
}

const shown = (path: string): string => Buffer.from(path, 'latin1').toString();

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
    if (isTwice) throw malformed(`It changes ${shown(to ?? from ?? '')} twice in one commit.`);
    if (to !== null) written.add(to);
    if (from !== null && !isCopy) taken.add(from);
  }
}

/** Reads the files that are changed, in one request. */
async function readSources(
  read: ReadObjects,
  tree: WorkTree,
  files: readonly FileDiff[],
): Promise<ReadonlyMap<Oid, Uint8Array>> {
  const wants = new Set<Oid>();
  for (const { from } of files) {
    const entry = from === null ? null : tree.at(from);
    if (entry !== null && entry !== 'folder' && kindOf(entry) !== 'submodule') wants.add(entry.oid);
  }
  if (wants.size === 0) return new Map();
  const found = await read({ wants: [...wants] }, MAX_READ_BYTES);
  if (found === null) throw tooMuch('The files that it changes are too large to be read here.');
  return new Map([...found].map(([oid, { content }]) => [oid, content]));
}

/** The objects that a patch makes, each once. */
class NewObjects {
  readonly #objects = new Map<Oid, { readonly type: ObjectType; readonly content: Uint8Array }>();
  readonly #claim: MemoryClaim;
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(memory: Memory, mostBytes: number) {
    this.#claim = memory.claim();
    this.#mostBytes = mostBytes;
  }

  get all() {
    return [...this.#objects.values()];
  }

  get bytesLeft(): number {
    return this.#mostBytes - this.#bytes;
  }

  add(type: ObjectType, content: Uint8Array): Oid {
    this.#bytes += content.byteLength;
    if (this.bytesLeft < 0) throw tooMuch('The files that it changes, and their folders, are too large.');
    const oid = hashObject(type, content);
    this.#objects.set(oid, { type, content });
    return oid;
  }

  claim(): Promise<void> {
    return this.#claim.set(this.#bytes);
  }
}

class Applying {
  readonly #tree: WorkTree;
  readonly #patch: string;
  readonly #sources: ReadonlyMap<Oid, Uint8Array>;
  readonly #objects: NewObjects;
  readonly #budget = newBudget();

  constructor(tree: WorkTree, patch: string, sources: ReadonlyMap<Oid, Uint8Array>, objects: NewObjects) {
    this.#tree = tree;
    this.#patch = patch;
    this.#sources = sources;
    this.#objects = objects;
  }

  /** Applies the changes of one commit, which all begin with the files before it. */
  async apply(files: readonly FileDiff[], memory: Memory): Promise<void> {
    const written = [];
    for (const file of files) {
      const entry = this.#changed(file);
      await memory.worked(entry?.content?.byteLength ?? 0);
      written.push({ file, entry });
    }
    for (const { from, isCopy } of files) if (from !== null && !isCopy) this.#tree.put(from, null);
    for (const { file, entry } of written) {
      if (file.to === null || entry === null) continue;
      const there = this.#tree.at(file.to);
      if (there !== null || this.#tree.isBlocked(file.to))
        throw doesNotApply(
          `${shown(file.to)} is there already upstream${there === 'folder' ? ', as a folder' : ''}.`,
        );
      this.#tree.put(file.to, entry);
    }
  }

  /** The file that a change leaves; null: none. */
  #changed(file: FileDiff): FileEntry | null {
    const { from, to, oldMode, newMode } = file;
    const name = shown(to ?? from ?? '');
    const old = from === null ? null : this.#tree.at(from);
    if (from !== null && (old === null || old === 'folder'))
      throw doesNotApply(`${shown(from)} is no file upstream.`);
    const source = old === 'folder' ? null : old;
    if (source !== null && oldMode !== null && kindOf(source) !== kindOf({ mode: oldMode }))
      throw doesNotApply(`${name} is of another type upstream: a file, a symbolic link or a submodule.`);
    const content = this.#contentOf(file, source, name);
    if (to === null) {
      if (content !== null && content.byteLength > 0)
        throw doesNotApply(`${name} has more in it upstream than is deleted.`);
      return null;
    }
    const mode = newMode ?? source?.mode ?? '';
    if (source !== null && kindOf(source) !== kindOf({ mode }))
      throw malformed(`It changes the type of ${name}.`);
    if (content === null && source !== null) return { ...source, mode };
    const now = content ?? new Uint8Array(0);
    return { mode, oid: this.#objects.add('blob', now), content: now };
  }

  /** The content that a change leaves; null: it stays. */
  #contentOf(
    { hunks, binary, ids, to }: FileDiff,
    source: FileEntry | null,
    name: string,
  ): Uint8Array | null {
    if (binary === null && hunks.length === 0) return to === null ? this.#sizeMark(source, name) : null;
    const before = source === null ? new Uint8Array(0) : (source.content ?? this.#sources.get(source.oid));
    if (before === undefined) throw doesNotApply(`The code host did not send ${name}.`);
    if (binary === null) {
      const text = applyHunks(latin1(before), this.#patch, hunks, name, this.#budget);
      return Buffer.from(text, 'latin1');
    }
    if (source !== null && source.oid !== ids?.[0])
      throw doesNotApply(`${name} is a binary file that has changed upstream.`);
    const after = applyBinary(before, this.#patch, binary, this.#objects.bytesLeft, name);
    if (to !== null && hashObject('blob', after) !== ids?.[1])
      throw malformed(`The binary patch of ${name} is broken.`);
    return after;
  }

  /** A file that is deleted without a line must be empty. */
  #sizeMark(source: FileEntry | null, name: string): null {
    if (source?.oid !== EMPTY_BLOB) throw doesNotApply(`${name} has more in it upstream than is deleted.`);
    return null;
  }
}

const EMPTY_BLOB = hashObject('blob', new Uint8Array(0));
