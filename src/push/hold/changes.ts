/**
 * What a held push changes: its newest commit's files, compared with those of the upstream commit that it stands on.
 *
 * Its own objects come from its pack. The host is asked only for what is in folders of that upstream commit, so it
 * learns no id of the push. Everything is bounded; what passes a bound is listed without its difference.
 */
import { type Difference, difference } from '../../edit/hunks.ts';
import { decodeUtf8 } from '../../git/bytes.ts';
import type { Memory } from '../../git/memory.ts';
import type { PlannedCommits } from '../../git/objects/planned-commits.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { FILE_MODE, FOLDER_MODE, kindOf, parseTree, type TreeEntry } from '../../git/objects/tree.ts';
import type { KeptObject } from '../../git/pack/kept-objects.ts';
import { type IndexedObject, PackIndex } from '../../git/pack/pack-index.ts';
import { type FileObject, PackedObjects, type StoredPack } from '../../git/pack/packed-objects.ts';
import { readCommit, type ReadObjects } from '../../upstream/tree-reader.ts';

/** Of a pack that is looked into. */
export const MAX_PACK_BYTES = 1024 * 1024;
/** Of a file whose difference is shown, in each version. */
export const MAX_FILE_BYTES = 64 * 1024;
/** Files whose difference is shown. */
const MAX_SHOWN = 50;
/** Of all differences together: their texts, and their lines. */
const MAX_COMPARED_BYTES = 512 * 1024;
const MAX_SHOWN_LINES = 5_000;
/** Paths that are listed. */
const MAX_LISTED = 500;
/** Folders that are compared. */
const MAX_FOLDERS = 500;
/** Commits of upstream, besides the one that it is compared with, that are read for what deltas stand on. */
const MAX_MERGED = 4;
/** Objects that the host is asked for at once; and, if they are too large together, one by one. */
const MAX_WANTS = 500;
const MAX_SINGLE_WANTS = 20;
/** Of one answer of the host. */
const MAX_FOLDERS_BYTES = 512 * 1024;
const MAX_FILES_BYTES = 1024 * 1024;
/** Of all that it answers. */
const MAX_READ_BYTES = 3 * 1024 * 1024;

export interface ChangedFile {
  /** As text; a folder's ends with a slash. Of one that is elsewhere, its id. */
  readonly path: string;
  /** `elsewhere`: in an earlier commit, or in a folder that is not compared; it becomes public, too. */
  readonly kind: 'added' | 'removed' | 'changed' | 'elsewhere';
  /** Null: it is not shown. */
  readonly difference: Difference | null;
  /** What else there is to know, in sentences. */
  readonly remarks: readonly string[];
}

export interface Changes {
  readonly files: readonly ChangedFile[];
  /** What is missing in all this, in sentences. */
  readonly gaps: readonly string[];
}

/** The upstream commit that the newest one stands on, always by the first parent; null: it has a history of its own. */
export function groundOf(commits: PlannedCommits): Oid | null {
  for (let number = commits.length - 1; ;) {
    const [parent] = commits.at(number).parents;
    if (parent === undefined) return null;
    if (typeof parent === 'string') return parent;
    number = parent;
  }
}

export interface PushedFiles {
  readonly commits: PlannedCommits;
  /** The upstream commits that they stand on. */
  readonly ground: readonly Oid[];
  readonly pack: StoredPack;
}

/** @param read asks upstream. Rejects as `read` does, and with what `memory` throws. */
export function changesOf(pushed: PushedFiles, read: ReadObjects, memory: Memory): Promise<Changes> {
  return compare(pushed, groundOf(pushed.commits), read, memory, (comparison) => comparison.compareFiles());
}

/** A submodule, and the commit of its own repository that it stands for. */
export interface Submodule {
  readonly path: string;
  readonly oid: Oid;
}

/**
 * The submodules whose commits a push changes: those that none of the upstream commits that it stands on has so. Null: not
 * everything can be compared. Rejects as `changesOf` does.
 */
export async function changedSubmodules(
  pushed: PushedFiles,
  read: ReadObjects,
  memory: Memory,
): Promise<readonly Submodule[] | null> {
  const first = groundOf(pushed.commits);
  const merged = pushed.ground.filter((oid) => oid !== first);
  if (merged.length > MAX_MERGED) return null;
  let changed: readonly Submodule[] | null = null;
  for (const oid of [first, ...merged]) {
    const alone = { ...pushed, ground: [] };
    const found = await compare(alone, oid, read, memory, async (comparison) => comparison.submodules);
    if (found === null) return null;
    const isFound = new Set(found.map((submodule) => `${submodule.oid} ${submodule.path}`));
    changed = (changed ?? found).filter((submodule) => isFound.has(`${submodule.oid} ${submodule.path}`));
  }
  return changed;
}

/** Compares folders, and answers what `use` makes of it. @param first what it is compared with; null: nothing. */
async function compare<T>(
  { commits, ground, pack }: PushedFiles,
  first: Oid | null,
  read: ReadObjects,
  memory: Memory,
  use: (comparison: Comparison) => Promise<T>,
): Promise<T> {
  const objects = new PackedObjects(pack, memory);
  const share = memory.share();
  try {
    const held = new Map<Oid, Held>();
    const index = await PackIndex.of(pack, objects, ({ oid, type, offset, size }) =>
      held.set(oid, { type, offset, size }),
    );
    await index.resolve();
    const comparison = new Comparison({ objects, index, held }, read, (bytes) => share.set(bytes));
    let old: Oid | null = null;
    for (const oid of ground.filter((other) => other !== first).slice(0, MAX_MERGED)) {
      comparison.merges((await readCommit(read, oid)).tree);
    }
    if (first !== null) old = (await readCommit(read, first)).tree;
    await comparison.compareFolders(commits.at(commits.length - 1).tree, old);
    return await use(comparison);
  } finally {
    share.setNow(0);
    objects.free();
  }
}

/** An entry on each side; null: there is none. */
interface Pair {
  readonly path: string;
  readonly now: TreeEntry | null;
  readonly old: TreeEntry | null;
  readonly isElsewhere?: true;
}

interface Pushed {
  readonly objects: PackedObjects;
  readonly index: PackIndex;
  /** What is known to be in the pack: where it is, and its size in bytes. It grows as the index does. */
  readonly held: ReadonlyMap<Oid, Held>;
}
type Held = Pick<IndexedObject, 'type' | 'offset' | 'size'>;

class Comparison {
  readonly #pushed: Pushed;
  readonly #read: ReadObjects;
  readonly #count: (bytes: number) => Promise<void>;
  /** Where upstream has an object. Nothing else may be asked for. A folder's path ends with a slash, but for the root's. */
  readonly #upstreams = new Map<Oid, string>();
  /** What the host has sent. */
  readonly #sent = new Map<Oid, Uint8Array>();
  #sentBytes = 0;
  /** What it need not be asked for again. */
  readonly #asked = new Set<Oid>();
  readonly #changed: Pair[] = [];
  readonly #gaps = new Set<string>();

  constructor(pushed: Pushed, read: ReadObjects, count: (bytes: number) => Promise<void>) {
    this.#pushed = pushed;
    this.#read = read;
    this.#count = count;
  }

  /** @param root of another commit that the push stands on. */
  merges(root: Oid): void {
    this.#upstreams.set(root, '');
    this.#gaps.add(
      'It merges several upstream commits, but is compared with only one, so the changes of the others are listed, too.',
    );
  }

  /** Level by level, with one question for each. @param old null: upstream has nothing. */
  async compareFolders(now: Oid, old: Oid | null): Promise<void> {
    if (old !== null) this.#upstreams.set(old, '');
    let left = MAX_FOLDERS;
    let level: Pair[] = [{ path: '', now: rootFolder(now), old: old === null ? null : rootFolder(old) }];
    while (level.length > 0) {
      if (level.length > left) this.#gaps.add('It changes too many folders to compare all of them.');
      const compared = level.slice(0, left);
      left -= compared.length;
      await this.#ask('folder', oldIds(compared), MAX_FOLDERS_BYTES);
      const next: Pair[] = [];
      for (const pair of compared) next.push(...(await this.#foldersBelow(pair)));
      level = next;
    }
  }

  /** Null: not all folders could be compared. */
  get submodules(): readonly Submodule[] | null {
    if (this.#gaps.size > 0 || this.#changed.some(({ now }) => isFolder(now))) return null;
    return this.#changed.flatMap(({ path, now }) =>
      now !== null && kindOf(now) === 'submodule' ? [{ path, oid: now.oid }] : [],
    );
  }

  async compareFiles(): Promise<Changes> {
    const sorted = [...this.#changed.toSorted((a, b) => (a.path < b.path ? -1 : 1)), ...this.#others()];
    if (sorted.length > MAX_LISTED) this.#gaps.add(`It changes ${sorted.length} files; these are the first.`);
    const listed = sorted.slice(0, MAX_LISTED);
    const old = oldIds(listed.slice(0, MAX_SHOWN).filter((pair) => isFile(pair.now) && isFile(pair.old)));
    await this.#ask('file', old, MAX_FILES_BYTES);
    const files: ChangedFile[] = [];
    let [bytesLeft, linesLeft] = [MAX_COMPARED_BYTES, MAX_SHOWN_LINES];
    for (const pair of listed) {
      const isRoom = files.length < MAX_SHOWN && bytesLeft > 0 && linesLeft > 0;
      if (!isRoom) this.#gaps.add('There is too much to show everything: the last files are only listed.');
      const { bytes, ...file } = isRoom ? await this.#fileOf(pair) : listedOnly(pair);
      bytesLeft -= bytes;
      linesLeft -= (file.difference?.hunks ?? []).reduce((sum, lines) => sum + lines.length, 0);
      files.push(file);
    }
    if (!this.#pushed.index.isComplete)
      this.#gaps.add('Some of its files, or versions of them, could not be read.');
    return { files, gaps: [...this.#gaps] };
  }

  /** What the push holds besides what was found to be changed. */
  #others(): Pair[] {
    const shown = new Set(this.#changed.map(({ now }) => now?.oid));
    const others = [...this.#pushed.held].filter(
      ([oid, { type }]) => type === 'blob' && !shown.has(oid) && !this.#upstreams.has(oid),
    );
    return others.map(([oid]) => ({
      path: oid,
      now: { ...rootFolder(oid), mode: FILE_MODE },
      old: null,
      isElsewhere: true,
    }));
  }

  /** The folders in it that differ. Files are noted. */
  async #foldersBelow({ path, now, old }: Pair): Promise<Pair[]> {
    const nowEntries = now === null ? [] : await this.#folder(now.oid);
    const oldEntries = old === null ? [] : this.#sentFolder(old.oid);
    if (oldEntries === null) this.#gaps.add(`Upstream’s folder /${path} is too large to be compared.`);
    if (nowEntries === null || oldEntries === null) {
      this.#changed.push({ path, now, old });
      return [];
    }
    const below = (name: Uint8Array): string => path + textOf(name);
    for (const entry of oldEntries) {
      const place = below(entry.name) + (isFolder(entry) ? '/' : '');
      if (!this.#upstreams.has(entry.oid) && kindOf(entry) !== 'submodule')
        this.#upstreams.set(entry.oid, place);
    }
    const names = new Map<string, [TreeEntry | null, TreeEntry | null]>();
    for (const entry of nowEntries) names.set(keyOf(entry), [entry, null]);
    for (const entry of oldEntries) names.set(keyOf(entry), [names.get(keyOf(entry))?.[0] ?? null, entry]);
    const folders: Pair[] = [];
    for (const [after, before] of names.values()) {
      if (after?.oid === before?.oid && after?.mode === before?.mode) continue;
      const name = below((after ?? before)!.name);
      if (isFolder(after)) {
        folders.push({ path: `${name}/`, now: after, old: isFolder(before) ? before : null });
        if (before !== null && !isFolder(before)) this.#changed.push({ path: name, now: null, old: before });
      } else if (isFolder(before)) {
        this.#changed.push({ path: `${name}/`, now: null, old: before });
        if (after !== null) this.#changed.push({ path: name, now: after, old: null });
      } else {
        this.#changed.push({ path: name, now: after, old: before });
      }
    }
    return folders;
  }

  /** Null: it is not there, or too large. */
  async #folder(oid: Oid): Promise<readonly TreeEntry[] | null> {
    const object = await this.#readHeld(oid);
    if (object?.type === 'tree') return parseTree(object.content);
    return this.#sentFolder(oid);
  }

  #sentFolder(oid: Oid): readonly TreeEntry[] | null {
    const content = this.#sent.get(oid);
    return content === undefined ? null : parseTree(content);
  }

  /** Asks upstream for these, and for what the pack's deltas of the same kind stand on. */
  async #ask(kind: 'file' | 'folder', oids: readonly Oid[], maxBytes: number): Promise<void> {
    const isOfKind = (oid: Oid): boolean =>
      /(?:^|\/)$/.test(this.#upstreams.get(oid) ?? 'none') === (kind === 'folder');
    const bases = this.#pushed.index.missingBases;
    const wants = [...new Set([...oids, ...bases.keys()])]
      .filter((oid) => this.#upstreams.has(oid) && !this.#asked.has(oid) && isOfKind(oid))
      // One that is known to be large is not shown anyway.
      .filter((oid) => (bases.get(oid) ?? 0) <= maxBytes / 2)
      .slice(0, MAX_WANTS);
    for (const oid of wants) this.#asked.add(oid);
    if (wants.length === 0) return;
    const all = await this.#readObjects(wants, maxBytes);
    if (all !== null) return this.#take(all);
    // Together they are too large. Most of them are not.
    for (const oid of wants.slice(0, MAX_SINGLE_WANTS)) {
      const one = await this.#readObjects([oid], maxBytes / 2);
      if (one !== null) await this.#take(one);
    }
  }

  async #readObjects(wants: readonly Oid[], maxBytes: number): Promise<readonly KeptObject[] | null> {
    const most = Math.min(maxBytes, MAX_READ_BYTES - this.#sentBytes);
    if (most <= 0) return [];
    const objects = await this.#read({ wants }, most);
    return objects === null ? null : [...objects.values()];
  }

  async #take(objects: readonly KeptObject[]): Promise<void> {
    this.#sentBytes += objects.reduce((sum, { content }) => sum + content.byteLength, 0);
    await this.#count(this.#sentBytes);
    for (const { oid, content } of objects) this.#sent.set(oid, content);
    this.#pushed.index.add(objects);
    await this.#pushed.index.resolve();
  }

  async #fileOf(pair: Pair): Promise<ChangedFile & { readonly bytes: number }> {
    const { now, old } = pair;
    const only = listedOnly(pair);
    const remark = (text: string) => ({ ...only, remarks: [...only.remarks, text] });
    if (now === null || now.oid === old?.oid) return only;
    if (!isFile(now)) {
      const isUnseen = isFolder(now) && !this.#pushed.held.has(now.oid);
      return isUnseen ? remark(this.#whereElse(now.oid)) : only;
    }
    const after = await this.#content(now.oid);
    if (after === null) return remark(this.#whereElse(now.oid));
    const before = old !== null && isFile(old) ? this.#sent.get(old.oid) : new Uint8Array(0);
    if (before === undefined) return remark('Upstream’s version is too large to be shown here.');
    const bytes = before.byteLength + after.byteLength;
    if (Math.max(before.byteLength, after.byteLength) > MAX_FILE_BYTES) {
      return remark(tooLarge(after.byteLength));
    }
    const [oldText, newText] = [textIn(before), textIn(after)];
    if (oldText === null || newText === null) return remark(`It is not text: ${after.byteLength} bytes.`);
    return { ...only, difference: difference(oldText, newText), bytes };
  }

  /** Null: it is not known to be in the pack, or too much. */
  async #readHeld(oid: Oid): Promise<FileObject | null> {
    const held = this.#pushed.held.get(oid);
    const object = held === undefined ? null : await this.#pushed.objects.at(held.offset);
    return typeof object === 'object' ? object : null;
  }

  /** Null: not in the pack, or too large. */
  async #content(oid: Oid): Promise<Uint8Array | null> {
    const size = this.#pushed.held.get(oid)?.size ?? null;
    if (size === null) return this.#sent.get(oid) ?? null;
    return size > MAX_FILE_BYTES ? null : ((await this.#readHeld(oid))?.content ?? null);
  }

  /** Of something that cannot be shown: why. */
  #whereElse(oid: Oid): string {
    const size = this.#pushed.held.get(oid)?.size ?? null;
    if (size !== null) return tooLarge(size);
    const path = this.#upstreams.get(oid);
    if (path !== undefined) return `It is the same as /${path} upstream.`;
    return this.#pushed.index.isComplete
      ? 'The push does not contain its content: the code host must have it already, in another place or version.'
      : 'It is too large to be shown, or the push does not contain its content.';
  }
}

function listedOnly({ path, now, old, isElsewhere }: Pair): ChangedFile & { readonly bytes: number } {
  const kind = isElsewhere ? 'elsewhere' : old === null ? 'added' : now === null ? 'removed' : 'changed';
  const remarks = [
    ...(now === null ? [] : kindRemarks(now)),
    ...(now !== null && old !== null && now.mode !== old.mode
      ? [`Its mode changes from ${old.mode} to ${now.mode}.`]
      : []),
  ];
  return { path, kind, difference: null, remarks, bytes: 0 };
}

function kindRemarks(entry: TreeEntry): string[] {
  switch (kindOf(entry)) {
    case 'symlink':
      return ['It is a symbolic link to the path that is its content.'];
    case 'submodule':
      return [`It is a submodule, at the commit ${entry.oid}.`];
    case 'file':
      return isExecutable(entry) ? ['It is executable.'] : [];
    case 'folder':
      return [];
  }
}

function rootFolder(oid: Oid): TreeEntry {
  return { mode: FOLDER_MODE, name: new Uint8Array(0), oid };
}

/** Not as text: two names that are not UTF-8 may look the same. */
function keyOf({ name }: TreeEntry): string {
  return Buffer.from(name).toString('latin1');
}

function isExecutable({ mode }: TreeEntry): boolean {
  return (Number.parseInt(mode, 8) & 0o111) !== 0;
}

function isFolder(entry: TreeEntry | null): boolean {
  return entry !== null && kindOf(entry) === 'folder';
}

/** What has a content: a file or a symbolic link. */
function isFile(entry: TreeEntry | null): boolean {
  return entry !== null && ['file', 'symlink'].includes(kindOf(entry));
}

function oldIds(pairs: readonly Pair[]): Oid[] {
  return pairs.flatMap(({ old }) => (old === null ? [] : [old.oid]));
}

function tooLarge(bytes: number): string {
  return `It is too large to be shown: ${bytes.toLocaleString('en')} bytes.`;
}

/** Null: it is no text. */
function textIn(content: Uint8Array): string | null {
  return content.includes(0) ? null : decodeUtf8(content);
}

function textOf(name: Uint8Array): string {
  return new TextDecoder().decode(name);
}
