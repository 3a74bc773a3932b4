/**
 * Compares the folders of a push with those of the upstream commits that it is based on. The host
 * is asked only for objects of those commits' folders, so it learns no id of the push.
 * Proved by test/edit/changes.test.ts and test/push/judge/rules/changes.test.ts.
 */
import { decodeEscaped, latin1 } from '../git/bytes.ts';
import type { Memory, MemoryClaim } from '../git/memory.ts';
import type { PlannedCommits } from '../git/objects/planned-commits.ts';
import type { Oid } from '../git/objects/oid.ts';
import { canonical, FILE_MODE, FOLDER_MODE, kindOf, parseTree, type TreeEntry } from '../git/objects/tree.ts';
import { type IndexedObject, PackIndex } from '../git/pack/pack-index.ts';
import type { StoredPack } from '../git/pack/entry-walker.ts';
import { type FileObject, PackedObjects } from '../git/pack/packed-objects.ts';
import { readCommit, type ReadObjects } from '../upstream/tree-reader.ts';

/** Maximum number of folders of the push that are compared with one upstream commit. */
const MAX_FOLDERS = 500;
/**
 * Maximum cost of all entries, because a folder that stands at many places is sent once and
 * compared at each. It is enough for 45,000 entries that differ, with paths of usual length.
 */
const MAX_COST = 6_400_000;
/** Cost of an entry that is only read, and of one that differs, besides its path. */
const READ_COST = 16;
const DIFFERENT_COST = 64;
/** Bytes whose search takes as long as a unit of cost. */
const COST_WORK = 4;
const TOO_MANY = 'It changes too many folders to compare all of them.';
/**
 * Maximum number of upstream commits, besides the one that is compared, that are read because
 * deltas may be based on their objects.
 */
const MAX_MERGED = 4;
/** Maximum number of objects in one request to the host. */
const MAX_WANTS = 500;
/** Maximum number of requests for single objects, if they are too large together. */
const MAX_SINGLE_WANTS = 20;
/** Maximum size of an answer with folders, and of one with files. */
const MAX_FOLDERS_BYTES = 512 * 1024;
const MAX_FILES_BYTES = 1024 * 1024;
/** Maximum size of all answers of the host. */
const MAX_READ_BYTES = 3 * 1024 * 1024;

export interface PushedFiles {
  readonly commits: PlannedCommits;
  /** The upstream commits that the push is based on. */
  readonly boundary: readonly Oid[];
  readonly pack: StoredPack;
}

export interface ChangedEntry {
  readonly path: string;
  /**
   * The new object, which for a submodule is a commit of its own repository; null if the entry is
   * removed.
   */
  readonly oid: Oid | null;
  readonly isSubmodule: boolean;
}

/**
 * Finds the entries of the newest commit that differ from those of each upstream commit that it is
 * based on. It rejects as `read` does, and with what `memory` throws.
 * @param pushed has a boundary without commits that another of them contains, because their entries
 * may be long outdated.
 * @param isWanted tells, by its path with a slash at the end, if a folder is compared.
 * @returns null if not everything can be compared.
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
    const found = await compareTrees(alone, oid, read, memory, async ({ entries }) => entries, isWanted);
    if (found === null) return null;
    const isFound = new Set(found.map((entry) => `${entry.oid} ${entry.path}`));
    changed = (changed ?? found).filter((entry) => isFound.has(`${entry.oid} ${entry.path}`));
  }
  return changed;
}

/**
 * Compares a push with one upstream commit.
 * @param first is that commit, or null to compare with nothing.
 * @param use makes the result from the comparison.
 * @param isWanted tells if a folder is compared. By default, all are.
 */
export async function compareTrees<T>(
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
    // Drop the tree, because nobody would count its bytes.
    const found = (object: IndexedObject) => held.set(object.oid, { ...object, tree: null });
    const index = await PackIndex.of(pack, objects, found, { isOfFolders: !!isWanted });
    await index.resolve();
    const comparison = new Comparison(objects, index, held, read, { memory, claim }, isWanted);
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

/** An entry of the push and the one of upstream at the same path; null if there is none. */
export interface Pair {
  readonly path: string;
  readonly now: TreeEntry | null;
  readonly old: TreeEntry | null;
  /** The kind, as in `ChangedFile`. It is null for an entry of the newest commit. */
  readonly kind: 'earlier' | 'elsewhere' | null;
}

export class Comparison {
  readonly #objects: PackedObjects;
  readonly #index: PackIndex;
  /** Objects that are known to be in the pack. It grows as the index does. */
  readonly #held: ReadonlyMap<Oid, IndexedObject>;
  readonly #read: ReadObjects;
  readonly #memory: Memory;
  readonly #claim: MemoryClaim;
  readonly #isWanted: (folder: string) => boolean;
  /**
   * The path at which upstream has an object. The host is asked for no other objects. A folder's
   * path ends with a slash, but the root's is empty.
   */
  readonly #upstreams = new Map<Oid, string>();
  /** Contents that the host has sent. */
  readonly #sent = new Map<Oid, Uint8Array>();
  #sentBytes = 0;
  /** Objects that the host need not be asked for again. */
  readonly #asked = new Set<Oid>();
  readonly #changed: Pair[] = [];
  /** Entries that were compared or noted, by path and id. */
  readonly #seen = new Set<string>();
  /** Folders of the push that were read. */
  readonly #seenFolders = new Set<Oid>();
  #foldersLeft = MAX_FOLDERS;
  #costLeft = MAX_COST;
  /** Sentences that say what could not be compared. */
  readonly gaps = new Set<string>();

  constructor(
    objects: PackedObjects,
    index: PackIndex,
    held: ReadonlyMap<Oid, IndexedObject>,
    read: ReadObjects,
    { memory, claim }: { readonly memory: Memory; readonly claim: MemoryClaim },
    isWanted: (folder: string) => boolean = () => true,
  ) {
    this.#objects = objects;
    this.#index = index;
    this.#held = held;
    this.#read = read;
    this.#memory = memory;
    this.#claim = claim;
    this.#isWanted = isWanted;
  }

  /**
   * Notes another commit that the push is based on.
   * @param root is its folder.
   */
  merges(root: Oid): void {
    this.#upstreams.set(root, '');
    this.gaps.add(
      'It merges several upstream commits, but is compared with only one, so the changes of the others are listed, too.',
    );
  }

  /**
   * Compares the folders of the newest commit.
   * @param old is null if there is nothing to compare with.
   */
  async compareFolders(now: Oid, old: Oid | null): Promise<void> {
    if (old !== null) this.#upstreams.set(old, '');
    await this.#compareLevels([rootPair(now, old, null)]);
  }

  /** Compares the folders that only other commits of the push have. */
  async compareEarlier(commits: PlannedCommits, old: Oid | null): Promise<void> {
    const roots = new Set<Oid>();
    for (const { tree } of commits) if (this.#held.has(tree)) roots.add(tree);
    await this.#compareLevels([...roots].map((root) => rootPair(root, old, 'earlier')));
  }

  /** Compares level by level. The folders of a level are asked for together, if they are small. */
  async #compareLevels(roots: readonly Pair[]): Promise<void> {
    let level = roots.filter((pair) => this.#isNew(pair));
    while (level.length > 0) {
      if (level.length > this.#foldersLeft) this.gaps.add(TOO_MANY);
      const compared = level.slice(0, this.#foldersLeft);
      this.#foldersLeft -= compared.length;
      await this.#ask('folder', oldIds(compared), MAX_FOLDERS_BYTES);
      const next: Pair[] = [];
      for (const pair of compared) next.push(...(await this.#foldersBelow(pair)));
      level = next.filter((pair) => this.#isWanted(pair.path) && this.#isNew(pair));
    }
  }

  /** Tells if an entry was not compared or noted before. */
  #isNew({ path, now }: Pair): boolean {
    const key = `${path} ${now?.mode} ${now?.oid}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  /**
   * Notes a difference. An entry that an earlier commit has removed is not published, so it does
   * not count.
   */
  #note(pair: Pair): void {
    if ((pair.kind === null || pair.now !== null) && this.#isNew(pair)) this.#changed.push(pair);
  }

  /** Returns the changed entries, or null if not all folders could be compared. */
  get entries(): readonly ChangedEntry[] | null {
    if (this.gaps.size > 0 || this.#changed.some(({ now }) => isFolder(now))) return null;
    return this.#changed.map(({ path, now }) => ({
      path,
      oid: now?.oid ?? null,
      isSubmodule: now !== null && kindOf(now) === 'submodule',
    }));
  }

  /** Returns all that differs or was not compared. The newest commit's entries come first. */
  get pairs(): readonly Pair[] {
    const changed = this.#changed.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    return [...changed, ...this.#others()];
  }

  /** Returns at least how many objects of the pack could not be read. */
  get unreadCount(): number {
    const { isComplete, unresolved } = this.#index;
    return isComplete ? 0 : Math.max(1, unresolved.length);
  }

  /** Asks upstream for its versions of files. */
  async askForFiles(pairs: readonly Pair[]): Promise<void> {
    await this.#ask('file', oldIds(pairs), MAX_FILES_BYTES);
  }

  /** Returns the objects of the pack that are in no folder that was compared. */
  #others(): Pair[] {
    const shown = new Set(this.#seenFolders);
    // The id of a submodule's commit is no id of a file.
    for (const { now } of this.#changed) if (now !== null && kindOf(now) !== 'submodule') shown.add(now.oid);
    const others = [...this.#held].filter(([oid]) => !this.#upstreams.has(oid) && !shown.has(oid));
    return others.map(([oid, { type }]) => {
      const isTree = type === 'tree';
      const now = { ...rootFolder(oid), mode: isTree ? FOLDER_MODE : FILE_MODE };
      return { path: isTree ? `${oid}/` : oid, now, old: null, kind: 'elsewhere' };
    });
  }

  /**
   * Compares two folders, and notes files that differ.
   * @returns the folders in them that differ.
   */
  async #foldersBelow({ path, now, old, kind }: Pair): Promise<Pair[]> {
    if (this.#costLeft <= 0) return [];
    const nowEntries = now === null ? [] : await this.folder(now.oid);
    const oldEntries = old === null ? [] : this.#sentFolder(old.oid);
    const note = (pair: Omit<Pair, 'kind'>): void => this.#note({ ...pair, kind });
    if (nowEntries === null) {
      this.#changed.push({ path, now, old, kind });
      return [];
    }
    if (oldEntries === null)
      this.gaps.add(
        `Upstream’s folder /${path} is too large to be compared. Only new content is shown of it.`,
      );
    if (!(await this.#spend(READ_COST * (nowEntries.length + (oldEntries?.length ?? 0))))) return [];
    const below = (name: Uint8Array): string => path + decodeEscaped(name);
    // Keep names as bytes: two that are not UTF-8 may look the same as text.
    const names = new Map<string, [TreeEntry | null, TreeEntry | null]>();
    for (const entry of nowEntries) {
      if (oldEntries !== null || this.#held.has(entry.oid)) names.set(latin1(entry.name), [entry, null]);
    }
    for (const entry of oldEntries ?? []) {
      if (!this.#upstreams.has(entry.oid) && kindOf(entry) !== 'submodule') {
        if (!(await this.#spend(path.length))) return [];
        this.#upstreams.set(entry.oid, below(entry.name) + (isFolder(entry) ? '/' : ''));
      }
      const name = latin1(entry.name);
      names.set(name, [names.get(name)?.[0] ?? null, entry]);
    }
    const folders: Pair[] = [];
    for (const [after, before] of names.values()) {
      if (after?.oid === before?.oid && after?.mode === before?.mode) continue;
      const bytes = (after ?? before)!.name;
      if (!(await this.#spend(DIFFERENT_COST + path.length + bytes.byteLength))) break;
      const name = below(bytes);
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

  /** Counts what is compared, and tells if it may be. */
  async #spend(cost: number): Promise<boolean> {
    this.#costLeft -= cost;
    if (this.#costLeft <= 0) this.gaps.add(TOO_MANY);
    else await this.#memory.worked(COST_WORK * cost);
    return this.#costLeft > 0;
  }

  /**
   * Reads a folder of the push or of upstream.
   * @returns null if it is not available, or too large.
   */
  async folder(oid: Oid): Promise<readonly TreeEntry[] | null> {
    const object = await this.#readHeld(oid);
    if (object?.type !== 'tree') return this.#sentFolder(oid);
    this.#seenFolders.add(oid);
    return parseTree(object.content).map(canonical);
  }

  #sentFolder(oid: Oid): readonly TreeEntry[] | null {
    const content = this.#sent.get(oid);
    return content === undefined ? null : parseTree(content).map(canonical);
  }

  /**
   * Asks upstream for objects, and for those of the same kind on which the pack's deltas are based.
   */
  async #ask(kind: 'file' | 'folder', oids: readonly Oid[], maxBytes: number): Promise<void> {
    const isOfKind = (oid: Oid): boolean =>
      /(?:^|\/)$/.test(this.#upstreams.get(oid) ?? 'none') === (kind === 'folder');
    const bases = this.#index.missingBases;
    const wants = [...new Set([...oids, ...bases.keys()])]
      .filter((oid) => this.#upstreams.has(oid) && !this.#asked.has(oid) && isOfKind(oid))
      // A large file is not shown anyway.
      .filter((oid) => (bases.get(oid) ?? 0) <= maxBytes / 2)
      .slice(0, MAX_WANTS);
    for (const oid of wants) this.#asked.add(oid);
    if (wants.length === 0) return;
    if (await this.#take(wants, maxBytes)) return;
    // Together they are too large, but most of them are not.
    for (const oid of wants.slice(0, MAX_SINGLE_WANTS)) await this.#take([oid], maxBytes / 2);
  }

  /**
   * Requests objects, unless the host has sent too much already.
   * @returns false if they are too large.
   */
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

  /** Returns the path at which upstream has an object. */
  pathUpstream(oid: Oid): string | undefined {
    return this.#upstreams.get(oid);
  }

  /** Returns a file's content if the host has sent it. */
  sentContent(oid: Oid): Uint8Array | undefined {
    return this.#sent.get(oid);
  }

  /** Returns the size of an object in the pack in bytes, or null if it is not known to be there. */
  pushedSize(oid: Oid): number | null {
    return this.#held.get(oid)?.size ?? null;
  }

  /**
   * Returns the content of a file.
   * @param maxBytes limits a file of the pack. One of upstream is returned whatever its size.
   * @returns null if it is not available, or larger.
   */
  async content(oid: Oid, maxBytes: number): Promise<Uint8Array | null> {
    const size = this.pushedSize(oid);
    if (size === null) return this.#sent.get(oid) ?? null;
    return size > maxBytes ? null : ((await this.#readHeld(oid))?.content ?? null);
  }

  /**
   * Reads an object of the pack.
   * @returns null if it is not known to be there, or too large.
   */
  async #readHeld(oid: Oid): Promise<FileObject | null> {
    const held = this.#held.get(oid);
    const object = held === undefined ? null : await this.#objects.at(held.offset);
    return typeof object === 'object' ? object : null;
  }
}

function rootPair(now: Oid, old: Oid | null, kind: Pair['kind']): Pair {
  return { path: '', now: rootFolder(now), old: old === null ? null : rootFolder(old), kind };
}

/** Makes a key by which entries of the newest commit come first. */
const orderOf = ({ kind, path }: Pair): string => `${kind ?? ''} ${path}`;

function rootFolder(oid: Oid): TreeEntry {
  return { mode: FOLDER_MODE, name: new Uint8Array(0), oid };
}

function isFolder(entry: TreeEntry | null): boolean {
  return entry !== null && kindOf(entry) === 'folder';
}

function oldIds(pairs: readonly Pair[]): Oid[] {
  return pairs.flatMap(({ old }) => (old === null ? [] : [old.oid]));
}
