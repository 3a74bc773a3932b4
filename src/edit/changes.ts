/**
 * All files that leave with a delayed push: what its newest commit changes in the upstream commit
 * that it stands on, what only its earlier commits have, and the rest of its pack. The host is
 * asked only for what is in folders of that commit, so it learns no id of the push. Beyond a bound,
 * a file is listed without its difference, or only counted.
 */
import type { Difference } from './lines.ts';
import { decodeEscaped, decodeUtf8, latin1 } from '../git/bytes.ts';
import type { Memory, MemoryClaim } from '../git/memory.ts';
import type { PlannedCommits } from '../git/objects/planned-commits.ts';
import type { Oid } from '../git/objects/oid.ts';
import { canonical, FILE_MODE, FOLDER_MODE, kindOf, parseTree, type TreeEntry } from '../git/objects/tree.ts';
import { type IndexedObject, PackIndex } from '../git/pack/pack-index.ts';
import type { StoredPack } from '../git/pack/entry-walker.ts';
import { type FileObject, PackedObjects } from '../git/pack/packed-objects.ts';
import { readCommit, type ReadObjects } from '../upstream/tree-reader.ts';

/** Of a pack that is looked into. */
export const MAX_PACK_BYTES = 1024 * 1024;
/**
 * Files whose difference is shown: how many, of what size in each version, and what all of it may
 * take.
 */
const MAX_SHOWN = 50;
const MAX_FILE_BYTES = 64 * 1024;
const MAX_COMPARED_BYTES = 512 * 1024;
const MAX_SHOWN_LINES = 5_000;
const MAX_LISTED = 5_000;
/** Folders that are compared, of all commits together. */
const MAX_FOLDERS = 500;
/**
 * Commits of upstream, besides the one that it is compared with, that are read for what deltas
 * stand on.
 */
const MAX_MERGED = 4;
/** Objects that the host is asked for at once; and, if they are too large together, one by one. */
const MAX_WANTS = 500;
const MAX_SINGLE_WANTS = 20;
/** Of one answer of the host, and of all that it answers. */
const MAX_FOLDERS_BYTES = 512 * 1024;
const MAX_FILES_BYTES = 1024 * 1024;
const MAX_READ_BYTES = 3 * 1024 * 1024;

export interface ChangedFile {
  /** As `decodeEscaped` has it; a folder's ends with a slash. Of one that is elsewhere, its id. */
  readonly path: string;
  /**
   * `earlier`: only an earlier commit has it. `elsewhere`: in no folder that could be compared.
   * Both leave, too.
   */
  readonly kind: 'added' | 'removed' | 'changed' | 'earlier' | 'elsewhere';
  /** Null: it is removed, or not known. */
  readonly mode: string | null;
  readonly bytes: number | null;
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

interface PushedFiles {
  readonly commits: PlannedCommits;
  /** The upstream commits that they stand on. */
  readonly boundary: readonly Oid[];
  readonly pack: StoredPack;
}

type Differ = (before: string, after: string) => Difference;

/** @param read asks upstream. Rejects as `read` does, and with what `memory` throws. */
export function changesOf(
  pushed: PushedFiles,
  read: ReadObjects,
  memory: Memory,
  differ: Differ,
): Promise<Changes> {
  return compare(pushed, boundaryOf(pushed.commits), read, memory, async (comparison, old) => {
    await comparison.compareEarlier(pushed.commits, old);
    return comparison.compareFiles(differ);
  });
}

/**
 * The upstream commit that the newest one stands on, always by the first parent; null: it has a
 * history of its own.
 */
function boundaryOf(commits: PlannedCommits): Oid | null {
  let [parent] = commits.at(commits.length - 1).parents;
  while (typeof parent === 'number') [parent] = commits.at(parent).parents;
  return parent ?? null;
}

export interface ChangedEntry {
  readonly path: string;
  /** Of a submodule, the commit of its own repository; null: it is removed. */
  readonly oid: Oid | null;
  readonly isSubmodule: boolean;
}

/**
 * The entries that the newest commit changes: that none of the upstream commits that it stands on
 * has so. Null: not everything can be compared. Rejects as `changesOf` does.
 * @property pushed.boundary without what another of them contains, whose entries may be long
 * outdated.
 * @param isWanted by its path, which ends with a slash, whether a folder is compared.
 */
export async function changedEntries(
  pushed: PushedFiles,
  read: ReadObjects,
  memory: Memory,
  isWanted: (folder: string) => boolean,
): Promise<readonly ChangedEntry[] | null> {
  const { boundary } = pushed;
  if (boundary.length > 1 + MAX_MERGED) return null;
  let changed: readonly ChangedEntry[] | null = null;
  for (const oid of boundary.length === 0 ? [null] : boundary) {
    const alone = { ...pushed, boundary: [] };
    const found = await compare(alone, oid, read, memory, async ({ entries }) => entries, isWanted);
    if (found === null) return null;
    const isFound = new Set(found.map((entry) => `${entry.oid} ${entry.path}`));
    changed = (changed ?? found).filter((entry) => isFound.has(`${entry.oid} ${entry.path}`));
  }
  return changed;
}

/**
 * @param first what to compare with; null: nothing.
 * @param use makes something of it.
 * @param isWanted default: all.
 */
async function compare<T>(
  { commits, boundary, pack }: PushedFiles,
  first: Oid | null,
  read: ReadObjects,
  memory: Memory,
  use: (comparison: Comparison, old: Oid | null) => Promise<T>,
  isWanted?: (folder: string) => boolean,
): Promise<T> {
  const objects = new PackedObjects(pack, memory);
  const claim = memory.claim();
  try {
    const held = new Map<Oid, IndexedObject>();
    // Without its tree, whose bytes nobody would count.
    const found = (object: IndexedObject) => held.set(object.oid, { ...object, tree: null });
    const index = await PackIndex.of(pack, objects, found, { isOfFolders: !!isWanted });
    await index.resolve();
    const comparison = new Comparison(objects, index, held, read, claim, isWanted);
    for (const oid of boundary.filter((other) => other !== first).slice(0, MAX_MERGED)) {
      comparison.merges((await readCommit(read, oid)).tree);
    }
    const old = first === null ? null : (await readCommit(read, first)).tree;
    await comparison.compareFolders(commits.at(commits.length - 1).tree, old);
    return await use(comparison, old);
  } finally {
    claim.setNow(0);
    objects.free();
  }
}

/** An entry on each side; null: there is none. */
interface Pair {
  readonly path: string;
  readonly now: TreeEntry | null;
  readonly old: TreeEntry | null;
  /** Null: it is of the newest commit. */
  readonly kind: 'earlier' | 'elsewhere' | null;
}

class Comparison {
  readonly #objects: PackedObjects;
  readonly #index: PackIndex;
  /** What is known to be in the pack. It grows as the index does. */
  readonly #held: ReadonlyMap<Oid, IndexedObject>;
  readonly #read: ReadObjects;
  readonly #claim: MemoryClaim;
  readonly #isWanted: (folder: string) => boolean;
  /**
   * Where upstream has an object. Ask for nothing else. A folder's path ends with a slash, but for
   * the root's.
   */
  readonly #upstreams = new Map<Oid, string>();
  /** What the host has sent. */
  readonly #sent = new Map<Oid, Uint8Array>();
  #sentBytes = 0;
  /** What it need not be asked for again. */
  readonly #asked = new Set<Oid>();
  readonly #changed: Pair[] = [];
  /** What was compared, or noted, by path and id. */
  readonly #seen = new Set<string>();
  /** Folders of the push whose names are shown. */
  readonly #seenFolders = new Set<Oid>();
  #foldersLeft = MAX_FOLDERS;
  readonly #gaps = new Set<string>();

  constructor(
    objects: PackedObjects,
    index: PackIndex,
    held: ReadonlyMap<Oid, IndexedObject>,
    read: ReadObjects,
    claim: MemoryClaim,
    isWanted: (folder: string) => boolean = () => true,
  ) {
    this.#objects = objects;
    this.#index = index;
    this.#held = held;
    this.#read = read;
    this.#claim = claim;
    this.#isWanted = isWanted;
  }

  /** @param root of another commit that the push stands on. */
  merges(root: Oid): void {
    this.#upstreams.set(root, '');
    this.#gaps.add(
      'It merges several upstream commits, but is compared with only one, so the changes of the others are listed, too.',
    );
  }

  /** The newest commit's. @param old null: upstream has nothing. */
  async compareFolders(now: Oid, old: Oid | null): Promise<void> {
    if (old !== null) this.#upstreams.set(old, '');
    await this.#compareLevels([rootPair(now, old, null)]);
  }

  /** What other commits of the push have besides. */
  async compareEarlier(commits: PlannedCommits, old: Oid | null): Promise<void> {
    const roots = new Set<Oid>();
    for (const { tree } of commits) if (this.#held.has(tree)) roots.add(tree);
    await this.#compareLevels([...roots].map((root) => rootPair(root, old, 'earlier')));
  }

  /** Level by level, with one question for each. */
  async #compareLevels(roots: readonly Pair[]): Promise<void> {
    let level = roots.filter((pair) => this.#isNew(pair));
    while (level.length > 0) {
      if (level.length > this.#foldersLeft)
        this.#gaps.add('It changes too many folders to compare all of them.');
      const compared = level.slice(0, this.#foldersLeft);
      this.#foldersLeft -= compared.length;
      await this.#ask('folder', oldIds(compared), MAX_FOLDERS_BYTES);
      const next: Pair[] = [];
      for (const pair of compared) next.push(...(await this.#foldersBelow(pair)));
      level = next.filter((pair) => this.#isWanted(pair.path) && this.#isNew(pair));
    }
  }

  /** Whether nothing is known to be the same there. */
  #isNew({ path, now }: Pair): boolean {
    const key = `${path} ${now?.mode} ${now?.oid}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  /** What an earlier commit has removed leaves nothing. */
  #note(pair: Pair): void {
    if ((pair.kind === null || pair.now !== null) && this.#isNew(pair)) this.#changed.push(pair);
  }

  /** Null: not all folders could be compared. */
  get entries(): readonly ChangedEntry[] | null {
    if (this.#gaps.size > 0 || this.#changed.some(({ now }) => isFolder(now))) return null;
    return this.#changed.map(({ path, now }) => ({
      path,
      oid: now?.oid ?? null,
      isSubmodule: now !== null && kindOf(now) === 'submodule',
    }));
  }

  async compareFiles(differ: Differ): Promise<Changes> {
    const changed = this.#changed.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    const sorted = [...changed, ...this.#others()];
    const unlisted = sorted.length - MAX_LISTED;
    if (unlisted > 0) this.#gaps.add(`${unlisted.toLocaleString('en')} files more are not even listed.`);
    const listed = sorted.slice(0, MAX_LISTED);
    const old = oldIds(listed.slice(0, MAX_SHOWN).filter((pair) => isFile(pair.now) && isFile(pair.old)));
    await this.#ask('file', old, MAX_FILES_BYTES);
    const files: ChangedFile[] = [];
    let bytesLeft = MAX_COMPARED_BYTES;
    let linesLeft = MAX_SHOWN_LINES;
    for (const pair of listed) {
      const isRoom = files.length < MAX_SHOWN && bytesLeft > 0 && linesLeft > 0;
      if (!isRoom) this.#gaps.add('There is too much to show everything: the last files are only listed.');
      const file = isRoom ? await this.#fileOf(pair, differ) : await this.#listedOnly(pair);
      if (file.difference !== null)
        bytesLeft -= (file.bytes ?? 0) + (pair.old === null ? 0 : (this.#sizeOf(pair.old.oid) ?? 0));
      linesLeft -= (file.difference?.hunks ?? []).reduce((sum, lines) => sum + lines.length, 0);
      files.push(file);
    }
    const { isComplete, unresolved } = this.#index;
    if (!isComplete) {
      const count = Math.max(1, unresolved.length).toLocaleString('en');
      this.#gaps.add(`At least ${count} of its files, or versions of them, could not be read.`);
    }
    return { files, gaps: [...this.#gaps] };
  }

  /** What is in the pack, and in no folder that was compared. */
  #others(): Pair[] {
    const shown = new Set(this.#seenFolders);
    // What a submodule has is no id of a file, whatever stands there.
    for (const { now } of this.#changed) if (now !== null && kindOf(now) !== 'submodule') shown.add(now.oid);
    const others = [...this.#held].filter(([oid]) => !this.#upstreams.has(oid) && !shown.has(oid));
    return others.map(([oid, { type }]) => {
      const isTree = type === 'tree';
      const now = { ...rootFolder(oid), mode: isTree ? FOLDER_MODE : FILE_MODE };
      return { path: isTree ? `${oid}/` : oid, now, old: null, kind: 'elsewhere' };
    });
  }

  /** The folders in it that differ. Files are noted. */
  async #foldersBelow({ path, now, old, kind }: Pair): Promise<Pair[]> {
    const nowEntries = now === null ? [] : await this.#folder(now.oid);
    const oldEntries = old === null ? [] : this.#sentFolder(old.oid);
    const note = (pair: Omit<Pair, 'kind'>): void => this.#note({ ...pair, kind });
    if (nowEntries === null) {
      this.#changed.push({ path, now, old, kind });
      return [];
    }
    if (oldEntries === null)
      this.#gaps.add(
        `Upstream’s folder /${path} is too large to be compared. Only new content is shown of it.`,
      );
    const below = (name: Uint8Array): string => path + decodeEscaped(name);
    // Not by their text: two names that are not UTF-8 may look the same.
    const names = new Map<string, [TreeEntry | null, TreeEntry | null]>();
    for (const entry of nowEntries) {
      if (oldEntries !== null || this.#held.has(entry.oid)) names.set(latin1(entry.name), [entry, null]);
    }
    for (const entry of oldEntries ?? []) {
      if (!this.#upstreams.has(entry.oid) && kindOf(entry) !== 'submodule')
        this.#upstreams.set(entry.oid, below(entry.name) + (isFolder(entry) ? '/' : ''));
      const name = latin1(entry.name);
      names.set(name, [names.get(name)?.[0] ?? null, entry]);
    }
    const folders: Pair[] = [];
    for (const [after, before] of names.values()) {
      if (after?.oid === before?.oid && after?.mode === before?.mode) continue;
      const name = below((after ?? before)!.name);
      if (isFolder(after)) {
        folders.push({ path: `${name}/`, now: after, old: isFolder(before) ? before : null, kind });
        if (before !== null && !isFolder(before)) note({ path: name, now: null, old: before });
      } else if (isFolder(before)) {
        note({ path: `${name}/`, now: null, old: before });
        if (after !== null) note({ path: name, now: after, old: null });
      } else {
        note({ path: name, now: after, old: before });
      }
    }
    return folders;
  }

  /** Null: it is not there, or too large. */
  async #folder(oid: Oid): Promise<readonly TreeEntry[] | null> {
    const object = await this.#readHeld(oid);
    if (object?.type !== 'tree') return this.#sentFolder(oid);
    this.#seenFolders.add(oid);
    return parseTree(object.content).map(canonical);
  }

  #sentFolder(oid: Oid): readonly TreeEntry[] | null {
    const content = this.#sent.get(oid);
    return content === undefined ? null : parseTree(content).map(canonical);
  }

  /** Asks upstream for these, and for what the pack's deltas of the same kind stand on. */
  async #ask(kind: 'file' | 'folder', oids: readonly Oid[], maxBytes: number): Promise<void> {
    const isOfKind = (oid: Oid): boolean =>
      /(?:^|\/)$/.test(this.#upstreams.get(oid) ?? 'none') === (kind === 'folder');
    const bases = this.#index.missingBases;
    const wants = [...new Set([...oids, ...bases.keys()])]
      .filter((oid) => this.#upstreams.has(oid) && !this.#asked.has(oid) && isOfKind(oid))
      // One that is known to be large is not shown anyway.
      .filter((oid) => (bases.get(oid) ?? 0) <= maxBytes / 2)
      .slice(0, MAX_WANTS);
    for (const oid of wants) this.#asked.add(oid);
    if (wants.length === 0) return;
    if (await this.#take(wants, maxBytes)) return;
    // Together they are too large. Most of them are not.
    for (const oid of wants.slice(0, MAX_SINGLE_WANTS)) await this.#take([oid], maxBytes / 2);
  }

  /** False: they are too large. */
  async #take(wants: readonly Oid[], maxBytes: number): Promise<boolean> {
    const most = Math.min(maxBytes, MAX_READ_BYTES - this.#sentBytes);
    if (most <= 0) return true;
    const found = await this.#read({ wants }, most);
    if (found === null) return false;
    const objects = [...found.values()];
    this.#sentBytes += objects.reduce((sum, { content }) => sum + content.byteLength, 0);
    await this.#claim.set(this.#sentBytes);
    for (const { oid, content } of objects) this.#sent.set(oid, content);
    this.#index.add(objects);
    await this.#index.resolve();
    return true;
  }

  async #fileOf(pair: Pair, differ: Differ): Promise<ChangedFile> {
    const { now, old } = pair;
    const only = await this.#listedOnly(pair);
    const remark = (text: string) => ({ ...only, remarks: [...only.remarks, text] });
    if (now === null || now.oid === old?.oid || !isFile(now)) return only;
    const after = await this.#content(now.oid);
    if (after === null) return remark(this.#whereElse(now.oid));
    const before = old !== null && isFile(old) ? this.#sent.get(old.oid) : new Uint8Array(0);
    if (before === undefined) return remark('Upstream’s version is too large to be shown here.');
    if (Math.max(before.byteLength, after.byteLength) > MAX_FILE_BYTES) {
      return remark(tooLarge(after.byteLength));
    }
    if (before.includes(0) || after.includes(0)) return remark('It is not text.');
    const shown = decodeUtf8(after) === null ? remark('It is not UTF-8: some bytes are written out.') : only;
    return { ...shown, difference: differ(decodeEscaped(before), decodeEscaped(after)) };
  }

  async #listedOnly({ path, now, old, kind }: Pair): Promise<ChangedFile> {
    const isModeChanged = now !== null && old !== null && now.mode !== old.mode;
    const remarks = [
      ...(now === null ? [] : await this.#kindRemarks(now, kind === 'elsewhere')),
      ...(isModeChanged ? [`Its mode changes from ${old.mode} to ${now.mode}.`] : []),
    ];
    return {
      path,
      kind: kind ?? (old === null ? 'added' : now === null ? 'removed' : 'changed'),
      mode: kind === 'elsewhere' ? null : (now?.mode ?? null),
      bytes: isFile(now) ? this.#sizeOf(now!.oid) : null,
      difference: null,
      remarks,
    };
  }

  async #kindRemarks(entry: TreeEntry, isElsewhere: boolean): Promise<string[]> {
    switch (kindOf(entry)) {
      case 'symlink':
        return ['It is a symbolic link to the path that is its content.'];
      case 'submodule': {
        const also = this.#held.has(entry.oid) ? ' That is the id of a file, or a folder, of the push.' : '';
        return [`It is a submodule, at the commit ${entry.oid}.${also}`];
      }
      case 'file':
        return (Number.parseInt(entry.mode, 8) & 0o111) === 0 ? [] : ['It is executable.'];
      case 'folder': {
        const entries = isElsewhere ? await this.#folder(entry.oid) : null;
        if (entries === null) return [this.#whereElse(entry.oid)];
        return [`It is a folder with: ${entries.map(({ name }) => decodeEscaped(name)).join(', ')}`];
      }
    }
  }

  /** In bytes; null: it is not known. */
  #sizeOf(oid: Oid): number | null {
    return this.#held.get(oid)?.size ?? this.#sent.get(oid)?.byteLength ?? null;
  }

  /** Null: it is not known to be in the pack, or too much. */
  async #readHeld(oid: Oid): Promise<FileObject | null> {
    const held = this.#held.get(oid);
    const object = held === undefined ? null : await this.#objects.at(held.offset);
    return typeof object === 'object' ? object : null;
  }

  /** Null: not here, or too large. */
  async #content(oid: Oid): Promise<Uint8Array | null> {
    const size = this.#held.get(oid)?.size ?? null;
    if (size === null) return this.#sent.get(oid) ?? null;
    return size > MAX_FILE_BYTES ? null : ((await this.#readHeld(oid))?.content ?? null);
  }

  /** Of something that cannot be shown: why. */
  #whereElse(oid: Oid): string {
    const size = this.#held.get(oid)?.size ?? null;
    if (size !== null) return tooLarge(size);
    const path = this.#upstreams.get(oid);
    if (path !== undefined) return `It is the same as /${path} upstream.`;
    return this.#index.isComplete
      ? 'The push does not contain its content: the code host must have it already, in another place or version.'
      : 'It is too large to be shown, or the push does not contain its content.';
  }
}

function rootPair(now: Oid, old: Oid | null, kind: Pair['kind']): Pair {
  return { path: '', now: rootFolder(now), old: old === null ? null : rootFolder(old), kind };
}

/** What the newest commit has comes first. */
const orderOf = ({ kind, path }: Pair): string => `${kind ?? ''} ${path}`;

function rootFolder(oid: Oid): TreeEntry {
  return { mode: FOLDER_MODE, name: new Uint8Array(0), oid };
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
