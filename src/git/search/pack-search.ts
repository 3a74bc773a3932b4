/**
 * Searches what a pack would publish for names, addresses and original ids.
 * 1. `PackScan` searches whole objects and the inserts of deltas. A part of a name next to
 * something that is copied is suspect, too.
 * 2. Suspects are resolved (`PackedObjects`), and their content is searched. If that needs
 * upstream's objects, the host is asked for all objects on which the pack is based, or none: a
 * choice would tell what the chosen ones have in common. It is never asked for an object that may
 * be new (`PackIndex`). All this is limited. If an object cannot be resolved, a whole name in it is
 * a finding, and a part counts as not searched.
 * 3. A name that upstream has already is no finding: one that is in one piece in a delta's base, or
 * in the same line of upstream's version of the file.
 */
import { utf8 } from '../bytes.ts';
import type { Memory } from '../memory.ts';
import { hashObject, type Oid } from '../objects/oid.ts';
import { readInserts, readInstructions } from '../pack/delta.ts';
import type { KeptObject } from '../pack/kept-objects.ts';
import { EntryWalker, type StoredPack } from '../pack/entry-walker.ts';
import { type Fault, FolderCheck } from '../pack/fsck.ts';
import { type IndexedObject, MAX_TREE_BYTES, PackIndex } from '../pack/pack-index.ts';
import { type FileObject, type LookUp, type PackedObject, PackedObjects } from '../pack/packed-objects.ts';
import type { Credential } from './credentials.ts';
import { type FoundSpan, linesAt } from './excerpts.ts';
import type { Looks } from './looks.ts';
import { PackPaths } from './pack-paths.ts';
import { type FileKind, type OpaqueFile, PackScan, type Suspect } from './pack-scan.ts';
import { type Choose, chooseAll, type SearchedNames } from './searched-names.ts';

export interface SearchQuestions {
  /**
   * Reads objects of upstream, as far as they are available. Never rejects.
   * @param sizes of the objects by their ids.
   */
  readBases(sizes: ReadonlyMap<Oid, number>): Promise<Iterable<KeptObject>>;
  /**
   * Reads files and folders of upstream by their paths, in the commit on which the push is based.
   * @param paths has '' for the root.
   * @param maxBytes limits all of them together.
   */
  readUpstream(paths: readonly string[], maxBytes: number): Promise<ReadonlyMap<string, FileObject>>;
  /**
   * Judges what hosts would refuse in the folders of a small pack, before upstream is asked for
   * anything. An error that it throws ends the search.
   */
  judgeFolders?(faults: readonly Fault[], paths: PackPaths): void;
}

export interface ContentHit {
  /** The shortened line around it, in the bytes of the file. */
  readonly excerpt: Uint8Array;
  /** The kind of the place. `name` means the name of a file or folder. */
  readonly kind: 'name' | 'content';
  /** The index of the text that was found. */
  readonly text: number;
  readonly credential: Credential | null;
  /**
   * The known paths of the file. The same content may have several, and folders above it may be
   * missing.
   */
  readonly paths: readonly string[];
}

export interface PackFindings {
  readonly hits: readonly ContentHit[];
  /** False if something was not searched that may contain a name. */
  readonly isComplete: boolean;
  /** True if a folder has a submodule. The pack does not show all of them. */
  readonly hasGitlinks: boolean;
  /** Paths of home folders in new content, up to the name, with the path of one file if known. */
  readonly homeFolders: readonly { readonly home: string; readonly path: string | null }[];
  /** Lines of files with a name or login of one word, including those that upstream has. */
  readonly words: readonly string[];
  /** New and changed files of kinds that are not searched, with their paths if these are known. */
  readonly opaque: readonly (Omit<OpaqueFile, 'offset'> & { readonly path: string | null })[];
  /**
   * The known paths of files that the pack has as a whole, or that upstream has under another name.
   * It is null if the pack is too large.
   */
  readonly files: readonly string[] | null;
  /**
   * The known paths of what is in changed folders, including what upstream has, because a renamed
   * file comes without its content.
   */
  readonly paths: readonly string[];
}

/** Maximum number of findings that are compared with upstream's. */
const MAX_FOUND = 1_000;
/** Maximum number of these that only look like a credential. */
const MAX_LIKELY = 100;
/** Maximum number of names that are read in one file of upstream's, each with its line. */
const MAX_OF_UPSTREAM = 10_000;
/** Maximum number of objects that the host is asked for. */
const MAX_ASKED_BASES = 500;
const MAX_ASKED_PATHS = 100;
/** Maximum number of paths of one finding that are looked up in upstream. */
const MAX_COMPARED_PATHS = 20;
const MAX_ASKED_BYTES = 2 * 1024 * 1024;
/** Maximum size of a pack whose new files' names are always looked up. */
const MAX_INDEXED_BYTES = 1024 * 1024;
const LEAST_ROOM = 64 * 1024;
/** Memory for each byte of a pack, which is compressed. */
const ROOM_FOR_PACK = 4;

/**
 * Searches a pack.
 * @param kindOf recognizes a kind by a file's first bytes, or returns null for one that is searched
 * like others.
 * @param maxHits is the number of hits that are returned.
 * @throws RangeError if the texts match in too many ways.
 * @throws ProtocolError `bad-pack`, and what `memory` and `judgeFolders` throw.
 */
export async function searchPack(
  pack: StoredPack,
  names: SearchedNames,
  questions: SearchQuestions,
  kindOf: (first: Uint8Array) => FileKind | null,
  memory: Memory,
  maxHits: number,
): Promise<PackFindings> {
  const scan = new PackScan(names, kindOf);
  const paths = new PackPaths(scan.noted);
  const look = new CloserLook(names);
  const objects = new PackedObjects(pack, memory);
  const room = LEAST_ROOM + ROOM_FOR_PACK * pack.byteLength;
  const search = { pack, names, questions, objects, paths, room, scan, look };
  const isSmall = pack.byteLength <= MAX_INDEXED_BYTES;
  let hits: readonly ContentHit[] = [];
  try {
    if (isSmall) hits = await searchSmall(search);
    else {
      await new EntryWalker(scan, memory).walk(pack, 0);
      if (scan.suspects.length > 0) hits = await searchLarge(search);
    }
  } finally {
    objects.free();
  }
  const files = isSmall ? paths.newFiles() : null;
  const all = paths.allPaths();
  await memory.worked((files ?? []).concat(all).reduce((sum, path) => sum + path.length, 0));
  if (isSmall && paths.isCut) names.looks.end('files that programs leave');
  return {
    hits: hits.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, maxHits),
    isComplete: look.isComplete && !scan.isCut,
    hasGitlinks: scan.hasGitlinks,
    homeFolders: Array.from(scan.homeFolders, ([home, offset]) => ({ home, path: paths.pathAt(offset) })),
    words: [...scan.words],
    opaque: scan.opaque.map(({ offset, kind, tells }) => ({ kind, tells, path: paths.pathAt(offset) })),
    files,
    paths: all,
  };
}

interface Search {
  readonly pack: StoredPack;
  readonly names: SearchedNames;
  readonly questions: SearchQuestions;
  readonly objects: PackedObjects;
  readonly paths: PackPaths;
  /** Memory in bytes for what is made of the pack alone. */
  readonly room: number;
  readonly scan: PackScan;
  readonly look: CloserLook;
}

/** Scans, indexes and checks a pack in one pass, as inflating it may cost most of all. */
async function searchSmall(search: Search): Promise<ContentHit[]> {
  const { pack, questions, objects, paths, room, scan, look } = search;
  const folders = new FolderCheck();
  await objects.makeRoom(room);
  const found = (object: IndexedObject): void => {
    paths.add(object);
    folders.add(object);
  };
  const index = await PackIndex.of(pack, objects, found, { beside: scan });
  const waiting = await examineSuspects(search);
  await index.resolve();
  await folders.readGitmodules(objects);
  questions.judgeFolders?.(folders.faults, paths);
  await examineWaiting(search, waiting, index);
  await readPaths(search, index);
  return newHits(look.found, paths, await readUpstream(search, look.found));
}

/** Indexes a scanned pack only if something needs it. */
async function searchLarge(search: Search): Promise<ContentHit[]> {
  const { pack, objects, paths, room, look } = search;
  await objects.makeRoom(room);
  const waiting = await examineSuspects(search);
  if (waiting.length + look.found.length > 0) {
    const index = await PackIndex.of(pack, objects, (object) => paths.add(object));
    await examineWaiting(search, waiting, index);
    if (look.found.length > 0) await readPaths(search, index);
  }
  return newHits(look.found, paths, await readUpstream(search, look.found));
}

/**
 * Examines suspects whose objects the pack has completely.
 * @returns deltas on other objects.
 */
async function examineSuspects({ objects, scan, look }: Search): Promise<Suspect[]> {
  const waiting: Suspect[] = [];
  for (const suspect of scan.suspects) {
    const object = await objects.at(suspect.offset);
    if (object === 'no-base') waiting.push(suspect);
    else await look.examine(suspect, object, objects.memory);
  }
  return waiting;
}

async function examineWaiting(search: Search, waiting: readonly Suspect[], index: PackIndex): Promise<void> {
  const { objects, scan, look } = search;
  if (waiting.length > 0) await readBases(search, index, scan.usesOffsets);
  for (const suspect of waiting)
    await look.examine(suspect, await objects.at(suspect.offset), objects.memory);
}

interface Found extends Omit<ContentHit, 'paths'> {
  /** The offset of its object, and its id if that is known. */
  readonly offset: number;
  readonly oid: Oid | null;
  /** The whole line, or null if it is too long or not known. */
  readonly line: string | null;
  /** True if the pack has the whole file, and no delta whose base shows what upstream has. */
  readonly isWhole: boolean;
}

class CloserLook {
  readonly found: Found[] = [];
  /** False if something was not searched. */
  isComplete = true;
  readonly #looks: Looks;
  readonly #names: SearchedNames;
  #likelyLeft = MAX_LIKELY;

  constructor(names: SearchedNames) {
    this.#names = names;
    this.#looks = names.looks.beside();
  }

  async examine(
    { offset, sightings, mayHaveMore }: Suspect,
    object: LookUp,
    memory: Pick<Memory, 'worked'>,
  ): Promise<void> {
    if (this.found.length === MAX_FOUND) {
      this.isComplete = false;
      return;
    }
    if (typeof object === 'object') {
      this.#search(object, offset);
      return memory.worked(object.content.length);
    }
    if (mayHaveMore) this.isComplete = false;
    const unknown = { kind: 'content', oid: null, line: null, isWhole: false } as const;
    for (const seen of sightings) this.#add({ ...seen, ...unknown, offset });
  }

  #search(object: PackedObject, offset: number): void {
    const { type, content, delta } = object;
    const choose = delta === null ? chooseAll : notCopied(delta);
    const news = this.#names.spansIn(content, { looks: this.#looks, choose, most: MAX_FOUND });
    if (news.length === 0) return;
    // Folders are read in order. In a file, a likely credential must not take the place of a name.
    const added = type === 'tree' ? news : news.toSorted((a, b) => rankOf(a) - rankOf(b));
    const oid = hashObject(type, content);
    const kind = type === 'tree' ? 'name' : 'content';
    for (const line of linesAt(object, added.slice(0, MAX_FOUND))) {
      this.#add({ ...line, kind, offset, oid, isWhole: delta === null });
    }
    if (added.length > MAX_FOUND) this.isComplete = false;
  }

  #add(found: Found): void {
    if (found.credential?.isProven === false && --this.#likelyLeft < 0) return;
    if (this.found.length < MAX_FOUND) this.found.push(found);
    else this.isComplete = false;
  }
}

/** Reads the bases of deltas that the pack does not have. */
async function readBases(
  { questions, objects, room }: Search,
  index: PackIndex,
  usesOffsets: boolean,
): Promise<void> {
  // An object that may be new must not be requested.
  if (!usesOffsets) await index.resolve();
  if (index.namesOwn || (index.mayNameOwn && !usesOffsets)) return;
  const bases = [...index.missingBases].slice(0, MAX_ASKED_BASES);
  await objects.makeRoom(room + 2 * bases.reduce((sum, [, size]) => sum + size, 0));
  let left = MAX_ASKED_BYTES;
  const sizes = new Map(
    bases.filter(([, size]) => size <= left && objects.reserve(size) && (left -= size) >= 0),
  );
  if (sizes.size > 0) index.add(await questions.readBases(sizes));
}

/** Reads the paths for what is shown, so it comes last. */
async function readPaths({ objects, paths }: Search, index: PackIndex): Promise<void> {
  await index.resolve();
  for (const offset of index.unresolved) {
    if (paths.isFull) return;
    const delta = await objects.deltaAt(offset);
    // A larger one is hardly of a folder.
    if (delta === null || delta.length > MAX_TREE_BYTES) continue;
    readInserts(delta, (text) => paths.addEntries(text, null));
  }
}

/**
 * Reads the lines that name somebody in upstream's versions of files that the pack has as a whole,
 * by their paths.
 */
async function readUpstream(
  { names, questions, objects, paths }: Search,
  found: readonly Found[],
): Promise<ReadonlyMap<string, ReadonlySet<string | null>>> {
  if (!found.some(({ line, isWhole }) => isWhole && line !== null)) return new Map();
  const looks = names.looks.beside();
  // All of them are requested, for the same reason as with bases. A path may be a name itself.
  const harmless: string[] = [];
  for (const path of paths.newPaths()) {
    if (names.spansIn(utf8(path), { looks }).length === 0) harmless.push(path);
    await objects.memory.worked(path.length);
  }
  if (harmless.length === 0) return new Map();
  await objects.makeRoom(MAX_ASKED_BYTES);
  if (!objects.reserve(MAX_ASKED_BYTES)) return new Map();
  const files = await questions.readUpstream(harmless.slice(0, MAX_ASKED_PATHS), MAX_ASKED_BYTES);
  const linesOf = (file: FileObject): ReadonlySet<string | null> => {
    const lines = new Set<string | null>();
    const spans = names.spansIn(file.content, { looks, most: MAX_OF_UPSTREAM });
    for (const { line } of linesAt(file, spans)) lines.add(line);
    return lines;
  };
  return new Map(Array.from(files, ([path, file]) => [path, linesOf(file)]));
}

function newHits(
  found: readonly Found[],
  paths: PackPaths,
  upstreams: ReadonlyMap<string, ReadonlySet<string | null>>,
): ContentHit[] {
  const pathsByOid = new Map<Oid, readonly string[]>();
  const pathsOf = (oid: Oid): readonly string[] => {
    const known = pathsByOid.get(oid) ?? paths.pathsOf(oid);
    pathsByOid.set(oid, known);
    return known;
  };
  return found.flatMap(({ excerpt, kind, text, credential, line, oid, offset }) => {
    const known = oid === null ? [paths.pathAt(offset) ?? []].flat() : pathsOf(oid);
    // Only the root folder has no name.
    const places = known.length === 0 && kind === 'name' ? [''] : known.slice(0, MAX_COMPARED_PATHS);
    const isUpstreams = line !== null && places.some((place) => upstreams.get(place)?.has(line));
    return isUpstreams ? [] : { excerpt, kind, text, credential, paths: known };
  });
}

/** Ranks findings: names and ids, then proven credentials, then what only looks like one. */
const rankOf = ({ credential }: Pick<FoundSpan, 'credential'>): number =>
  credential === null ? 0 : credential.isProven ? 1 : 2;

/**
 * Selects spans of which no single copy has all letters. Upstream's words stay upstream's, whatever
 * is around them now.
 */
function notCopied(delta: Uint8Array): Choose {
  return (spans, use) => {
    const rest = spans[Symbol.iterator]();
    let next = rest.next();
    if (next.done) return;
    let filled = 0;
    const pass = (length: number, isCopy: boolean): void => {
      const start = filled;
      filled += length;
      while (!next.done && next.value.end <= filled) {
        const isCopied = isCopy && next.value.start >= start;
        if (!isCopied && !use(next.value)) rest.return?.();
        next = rest.next();
      }
    };
    readInstructions(delta, {
      inserted: ({ length }) => pass(length, false),
      copied: (_, length) => pass(length, true),
    });
  };
}
