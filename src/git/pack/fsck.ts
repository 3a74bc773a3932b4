/**
 * Finds what Git's own check of new objects refuses in folders and in `.gitmodules` (Git's
 * documentation, fsck-msgids). Hosts run it on what they receive (`transfer.fsckObjects`), and then
 * its warnings count as errors. GitHub is known to refuse `fullPathname` (saltstack/salt#45693),
 * `duplicateEntries` (Behat/Behat#341), `hasDotgit` (CVE-2014-9390), `.gitmodules` (CVE-2018-11235,
 * CVE-2018-17456). Only what is certain is found, in these spellings.
 */
import { decodeUtf8, latin1 } from '../bytes.ts';
import { type Oid, ZERO_OID } from '../objects/oid.ts';
import { kindOf, parseTree, sortKey, type TreeEntry } from '../objects/tree.ts';
import { ProtocolError } from '../wire/protocol-error.ts';
import type { IndexedObject } from './pack-index.ts';
import type { PackedObjects } from './packed-objects.ts';

/** The faults, as the end of a sentence that begins with the name of the folder or file. */
const SAYS = {
  treeNotSorted: 'its entries are not in Git’s order',
  duplicateEntries: 'it has two entries of the same name',
  fullPathname: 'it has an entry with a slash in its name',
  largePathname: 'it has an entry whose name is too long',
  hasDot: 'it has an entry named "."',
  hasDotdot: 'it has an entry named ".."',
  hasDotgit: 'it has an entry named ".git"',
  nullSha1: 'it has an entry whose id is zero',
  zeroPaddedFilemode: 'it has a mode in an old form, which begins with 0',
  gitmodulesBlob: 'its ".gitmodules" is not a file',
  gitmodulesSymlink: 'its ".gitmodules" is a symbolic link',
  gitmodulesName: 'the name of a submodule leads out of it with ".."',
  gitmodulesUrl: 'the address of a submodule is not one',
  halfUrl: 'the address of a submodule has a colon where a slash should be',
  gitmodulesPath: 'the path of a submodule begins with "-"',
  gitmodulesUpdate: 'a submodule is updated by a command',
} as const;

type FsckId = keyof typeof SAYS;

/**
 * Tells if some hosts accept a fault. GitHub accepts old modes, and GitLab does not
 * (ASKBOT/askbot-devel#390, h5bp/html5-boilerplate#2160). Public repositories have half an SSH
 * address behind `https://`, and Git 2.44 refuses it (ThrowTheSwitch/CMock#496).
 */
export const isTakenBySome = (id: FsckId): boolean => id === 'zeroPaddedFilemode' || id === 'halfUrl';

const MAX_NAME_BYTES = 4_096;

export const sayFsck = (id: FsckId): string => `${SAYS[id]} (${id === 'halfUrl' ? 'gitmodulesUrl' : id})`;

/** Finds the faults of a folder, each at most once. */
export function faultsOfTree(entries: readonly TreeEntry[]): ReadonlySet<FsckId> {
  const faults = new Set<FsckId>();
  const names = new Set<string>();
  let before: Uint8Array | null = null;
  for (const entry of entries) {
    const name = latin1(entry.name);
    for (const id of faultsOfEntry(entry, name)) faults.add(id);
    const key = sortKey(entry);
    if (names.has(name)) faults.add('duplicateEntries');
    else if (before !== null && Buffer.compare(before, key) > 0) faults.add('treeNotSorted');
    names.add(name);
    before = key;
  }
  return faults;
}

function* faultsOfEntry(entry: TreeEntry, name: string): Generator<FsckId> {
  if (name === '.') yield 'hasDot';
  if (name === '..') yield 'hasDotdot';
  if (name.toLowerCase() === '.git') yield 'hasDotgit';
  if (name.includes('/')) yield 'fullPathname';
  if (name.length > MAX_NAME_BYTES) yield 'largePathname';
  if (entry.oid === ZERO_OID) yield 'nullSha1';
  if (entry.mode.startsWith('0')) yield 'zeroPaddedFilemode';
  if (!isGitmodules(entry)) return;
  const kind = kindOf(entry);
  if (kind === 'symlink') yield 'gitmodulesSymlink';
  else if (kind !== 'file') yield 'gitmodulesBlob';
}

const isGitmodules = ({ name }: Pick<TreeEntry, 'name'>): boolean =>
  latin1(name).toLowerCase() === '.gitmodules';

/**
 * Matches the beginning of a submodule's section, and a line that sets a value. What spans lines or
 * is escaped is left to the host.
 */
const SECTION = /^\s*\[submodule\s+"([^"\\\n]*)"\]\s*$/;
const SETTING = /^\s*([a-z][a-z\d-]*)\s*=\s*([^\s"\\#;][^"\\#;]*)$/i;
const LEADS_OUT = /(?:^|[/\\])\.\.(?:[/\\]|$)/;

/** Finds the faults of a `.gitmodules` file, each at most once. */
export function faultsOfGitmodules(content: Uint8Array): ReadonlySet<FsckId> {
  const faults = new Set<FsckId>();
  let isInSubmodule = false;
  let leadsOut = false;
  for (const line of (decodeUtf8(content) ?? '').split('\n')) {
    if (line.trimStart().startsWith('[')) {
      const submodule = SECTION.exec(line)?.[1] ?? null;
      isInSubmodule = submodule !== null;
      // Test the name only here, because it may be long, and many settings may follow.
      leadsOut = submodule !== null && LEADS_OUT.test(submodule);
    }
    const [, key, value = ''] = SETTING.exec(line) ?? [];
    if (!isInSubmodule || key === undefined) continue;
    if (leadsOut) faults.add('gitmodulesName');
    const fault = faultOfSetting(key.toLowerCase(), value.trimEnd());
    if (fault !== null) faults.add(fault);
  }
  return faults;
}

function faultOfSetting(key: string, value: string): FsckId | null {
  if (key === 'path') return value.startsWith('-') ? 'gitmodulesPath' : null;
  if (key === 'update') return value.startsWith('!') ? 'gitmodulesUpdate' : null;
  return key === 'url' ? faultOfUrl(value) : null;
}

function faultOfUrl(url: string): FsckId | null {
  if (url.startsWith('-')) return 'gitmodulesUrl';
  if (!/^https?:\/\//i.test(url)) return null;
  if (/%0a/i.test(url)) return 'gitmodulesUrl';
  // A name such as `https://host:owner/name` has no number as its port.
  const [, , authority = ''] = url.split('/', 3);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  return /^[^:[]*:.*\D/.test(host) ? 'halfUrl' : null;
}

export type Fault = readonly [id: FsckId, oid: Oid];

/**
 * Maximum size of all inflated folders. What is compressed well may be a thousand times as much.
 */
const MAX_FOLDER_BYTES = 1024 * 1024;
/**
 * Maximum size of all `.gitmodules`, whose lines cost patterns: a mebibyte of line feeds is a
 * million lines. Larger ones are left to the host.
 */
const MAX_GITMODULES_BYTES = 128 * 1024;

/**
 * Maximum number of files that are remembered until it is known which are a `.gitmodules`. More are
 * left to the host.
 */
const MAX_FILES = 4_000;

/** Checks the folders of a pack, and the `.gitmodules` in them, as they are found. */
export class FolderCheck {
  readonly faults: Fault[] = [];
  readonly #files = new Map<Oid, number>();
  readonly #gitmodules = new Set<Oid>();
  #bytesLeft = MAX_FOLDER_BYTES;

  add({ oid, type, offset, size, tree }: IndexedObject): void {
    if (type === 'blob' && size <= MAX_GITMODULES_BYTES && this.#files.size < MAX_FILES)
      this.#files.set(oid, offset);
    if (tree === null || (this.#bytesLeft -= tree.byteLength) < 0) return;
    const entries = entriesOf(tree);
    this.#note(faultsOfTree(entries), oid);
    for (const entry of entries) {
      if (isGitmodules(entry) && kindOf(entry) === 'file') this.#gitmodules.add(entry.oid);
    }
  }

  /** Reads the `.gitmodules`, after all objects of the pack were added. */
  async readGitmodules(objects: PackedObjects): Promise<void> {
    let bytesLeft = MAX_GITMODULES_BYTES;
    for (const oid of this.#gitmodules) {
      const offset = this.#files.get(oid);
      const file = offset === undefined ? null : await objects.at(offset);
      if (typeof file !== 'object' || file === null) continue;
      bytesLeft -= file.content.length;
      if (bytesLeft >= 0) this.#note(faultsOfGitmodules(file.content), oid);
    }
  }

  #note(found: Iterable<FsckId>, oid: Oid): void {
    for (const id of found) this.faults.push([id, oid]);
  }
}

/** Returns the entries of a folder, or none if it is damaged: Git itself cannot send one. */
function entriesOf(tree: Uint8Array): TreeEntry[] {
  try {
    return parseTree(tree);
  } catch (error) {
    if (error instanceof ProtocolError) return [];
    throw error;
  }
}
