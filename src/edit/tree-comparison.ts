/**
 * Compares the folders of a push with those of the upstream commits that it is based on. The host
 * is asked only for objects of those commits' folders, so it learns no id of the push.
 * Proved by test/edit/changes.test.ts and test/push/judge/rules/changes.test.ts.
 */
import { decodeEscaped, latin1, NO_BYTES } from '../git/bytes.ts';
import type { Memory } from '../git/memory.ts';
import type { PlannedCommits } from '../git/objects/planned-commits.ts';
import type { Oid } from '../git/objects/oid.ts';
import { FILE_MODE, FOLDER_MODE, kindOf, type TreeEntry } from '../git/objects/tree.ts';
import { type IndexedObject, PackIndex } from '../git/pack/pack-index.ts';
import type { StoredPack } from '../git/pack/entry-walker.ts';
import { PackedObjects } from '../git/pack/packed-objects.ts';
import { readCommit, type ReadObjects } from '../upstream/tree-reader.ts';
import { ComparedObjects } from './compared-objects.ts';

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
/** Maximum size of an answer with folders, and of one with files. */
const MAX_FOLDERS_BYTES = 512 * 1024;
const MAX_FILES_BYTES = 1024 * 1024;

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
    const compared = new ComparedObjects({ objects, index, held }, read, claim);
    const comparison = new Comparison(compared, memory, isWanted);
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
  readonly objects: ComparedObjects;
  readonly #memory: Pick<Memory, 'worked'>;
  readonly #isWanted: (folder: string) => boolean;
  readonly #changed: Pair[] = [];
  /** Entries that were compared or noted, by path and id. */
  readonly #seen = new Set<string>();
  #foldersLeft = MAX_FOLDERS;
  #costLeft = MAX_COST;
  /** Sentences that say what could not be compared. */
  readonly gaps = new Set<string>();

  constructor(
    objects: ComparedObjects,
    memory: Pick<Memory, 'worked'>,
    isWanted: (folder: string) => boolean = () => true,
  ) {
    this.objects = objects;
    this.#memory = memory;
    this.#isWanted = isWanted;
  }

  /**
   * Notes another commit that the push is based on.
   * @param root is its folder.
   */
  merges(root: Oid): void {
    this.objects.noteUpstream(root, '');
    this.gaps.add(
      'It merges several upstream commits, but is compared with only one, so the changes of the others are listed, too.',
    );
  }

  /**
   * Compares the folders of the newest commit.
   * @param old is null if there is nothing to compare with.
   */
  async compareFolders(now: Oid, old: Oid | null): Promise<void> {
    if (old !== null) this.objects.noteUpstream(old, '');
    await this.#compareLevels([rootPair(now, old, null)]);
  }

  /** Compares the folders that only other commits of the push have. */
  async compareEarlier(commits: PlannedCommits, old: Oid | null): Promise<void> {
    const roots = new Set<Oid>();
    for (const { tree } of commits) if (this.objects.isPushed(tree)) roots.add(tree);
    await this.#compareLevels([...roots].map((root) => rootPair(root, old, 'earlier')));
  }

  /** Compares level by level. The folders of a level are asked for together, if they are small. */
  async #compareLevels(roots: readonly Pair[]): Promise<void> {
    let level = roots.filter((pair) => this.#isNew(pair));
    while (level.length > 0) {
      if (level.length > this.#foldersLeft) this.gaps.add(TOO_MANY);
      const compared = level.slice(0, this.#foldersLeft);
      this.#foldersLeft -= compared.length;
      await this.objects.ask('folder', oldIds(compared), MAX_FOLDERS_BYTES);
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

  /** Asks upstream for its versions of files. */
  async askForFiles(pairs: readonly Pair[]): Promise<void> {
    await this.objects.ask('file', oldIds(pairs), MAX_FILES_BYTES);
  }

  /** Returns the objects of the pack that are in no folder that was compared. */
  #others(): Pair[] {
    const shown = new Set<Oid>();
    // The id of a submodule's commit is no id of a file.
    for (const { now } of this.#changed) if (now !== null && kindOf(now) !== 'submodule') shown.add(now.oid);
    const others = this.objects.unlisted().filter(({ oid }) => !shown.has(oid));
    return others.map(({ oid, type }) => {
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
    const nowEntries = now === null ? [] : await this.objects.folder(now.oid);
    const oldEntries = old === null ? [] : this.objects.sentFolder(old.oid);
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
      if (oldEntries !== null || this.objects.isPushed(entry.oid))
        names.set(latin1(entry.name), [entry, null]);
    }
    for (const entry of oldEntries ?? []) {
      if (this.objects.pathUpstream(entry.oid) === undefined && kindOf(entry) !== 'submodule') {
        if (!(await this.#spend(path.length))) return [];
        this.objects.noteUpstream(entry.oid, below(entry.name) + (isFolder(entry) ? '/' : ''));
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
}

function rootPair(now: Oid, old: Oid | null, kind: Pair['kind']): Pair {
  return { path: '', now: rootFolder(now), old: old === null ? null : rootFolder(old), kind };
}

/** Makes a key by which entries of the newest commit come first. */
const orderOf = ({ kind, path }: Pair): string => `${kind ?? ''} ${path}`;

function rootFolder(oid: Oid): TreeEntry {
  return { mode: FOLDER_MODE, name: NO_BYTES, oid };
}

function isFolder(entry: TreeEntry | null): boolean {
  return entry !== null && kindOf(entry) === 'folder';
}

function oldIds(pairs: readonly Pair[]): Oid[] {
  return pairs.flatMap(({ old }) => (old === null ? [] : [old.oid]));
}
