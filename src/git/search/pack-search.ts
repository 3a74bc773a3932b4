/**
 * Searches what a pack would publish for names, addresses and original ids.
 *
 * 1. `PackScan` searches every whole object, and all that deltas insert, once. A delta is suspect, too, if a part of a
 *    name stands next to what it copies.
 * 2. Suspects are resolved (`PackedObjects`), and what they make is searched. If upstream's objects are needed for that,
 *    the host is asked for all that the pack stands on, or for none: of a choice it would learn what the chosen have in
 *    common. It is never asked for an object that may be new (`PackIndex`).
 * 3. What upstream has already is no finding: what stands in one piece in a delta's base, or in the same line of
 *    upstream's version of the file.
 *
 * Steps 2 and 3 are bounded. Of what cannot be resolved, a whole name is a finding; a part of one counts as not searched.
 */
import { utf8 } from '../bytes.ts';
import type { Memory } from '../memory.ts';
import { hashObject, type Oid } from '../objects/oid.ts';
import { insertsOf, readInstructions } from '../pack/delta.ts';
import type { KeptObject } from '../pack/kept-objects.ts';
import { PackIndex } from '../pack/pack-index.ts';
import {
  type FileObject,
  type LookUp,
  type PackedObject,
  PackedObjects,
  type StoredPack,
  walk,
} from '../pack/packed-objects.ts';
import { linesAt } from './excerpts.ts';
import { PackPaths } from './pack-paths.ts';
import { PackScan, type Suspect } from './pack-scan.ts';
import type { SearchedNames } from './searched-names.ts';
import type { Span } from './text-search.ts';

export interface SearchQuestions {
  /** Objects of upstream, as far as they can be had. Never rejects. @param sizes by their ids. */
  readBases(sizes: ReadonlyMap<Oid, number>): Promise<Iterable<KeptObject>>;
  /**
   * Upstream's files and folders at these paths, in the commit that the push stands on, as far as there are any and they
   * can be had. Never rejects. @param paths the root folder is ''. @param maxBytes of all together.
   */
  readUpstream(paths: readonly string[], maxBytes: number): Promise<ReadonlyMap<string, FileObject>>;
}

export interface ContentHit {
  /** The line around it, shortened, in the bytes of the file. */
  readonly excerpt: Uint8Array;
  /** `name`: it is itself the name of a file or folder. */
  readonly kind: 'name' | 'content';
  /** The index of the text that was found. */
  readonly text: number;
  /** Of the file, as far as it is known. Folders above it may be missing. */
  readonly path: string | null;
}

export interface PackFindings {
  readonly hits: readonly ContentHit[];
  /** False if something was not searched that may make a name. */
  readonly isComplete: boolean;
  /** Whether a folder holds a submodule; the pack does not show every one. */
  readonly hasGitlinks: boolean;
  /** Paths of home folders in what is new, as far as the name. */
  readonly homeFolders: readonly string[];
  readonly hasBinaries: boolean;
  /** Paths of new files, and of changed ones that the pack has as a whole, as far as they are known; null: too large. */
  readonly files: readonly string[] | null;
}

/** So many are compared with upstream's. */
const MAX_FOUND = 1_000;
/** The host is asked for no more. */
const MAX_ASKED_BASES = 500;
const MAX_ASKED_PATHS = 100;
const MAX_ASKED_BYTES = 2 * 1024 * 1024;
/** Of a pack up to this size, the names of new files are looked up, whether or not anything is found. */
const MAX_INDEXED_BYTES = 1024 * 1024;
const LEAST_ROOM = 64 * 1024;
/** For each byte of a pack, which is compressed. */
const ROOM_FOR_PACK = 4;

/** A hit before it was compared with upstream's version. */
interface Found extends Omit<ContentHit, 'path'> {
  /** Where its object's entry begins, and the id of that, if it is known. */
  readonly offset: number;
  readonly oid: Oid | null;
  /** The whole line, if the pack has the whole file; null: upstream's version cannot dismiss it. */
  readonly line: string | null;
}

/**
 * @param memory where what is resolved is counted meanwhile. @param maxHits it shows no more.
 * @throws RangeError if the texts match in too many ways, ProtocolError `bad-pack`, what `memory` throws.
 */
export async function searchPack(
  pack: StoredPack,
  names: SearchedNames,
  questions: SearchQuestions,
  memory: Memory,
  maxHits: number,
): Promise<PackFindings> {
  const scan = new PackScan(names);
  await walk(pack, scan.walker, 0);
  const { hasGitlinks, hasBinaries, isCut } = scan;
  const noted = { hasGitlinks, hasBinaries, homeFolders: [...scan.homeFolders] };
  const isSmall = pack.byteLength <= MAX_INDEXED_BYTES;
  if (scan.suspects.length === 0 && !isSmall) return { hits: [], isComplete: !isCut, files: null, ...noted };
  const objects = new PackedObjects(pack, memory);
  try {
    const look = new CloserLook(pack, names, scan, objects, questions);
    await look.examineSuspects();
    if (look.hasFound || isSmall) await look.readPaths();
    const hits = await look.newHits(maxHits);
    return { hits, isComplete: look.isComplete && !isCut, files: isSmall ? look.newFiles() : null, ...noted };
  } finally {
    objects.free();
  }
}

class CloserLook {
  /** False if something cannot be searched. */
  isComplete = true;
  readonly #pack: StoredPack;
  readonly #names: SearchedNames;
  readonly #scan: PackScan;
  readonly #objects: PackedObjects;
  readonly #questions: SearchQuestions;
  readonly #paths: PackPaths;
  #index: PackIndex | null = null;
  readonly #found: Found[] = [];

  constructor(
    pack: StoredPack,
    names: SearchedNames,
    scan: PackScan,
    objects: PackedObjects,
    questions: SearchQuestions,
  ) {
    [this.#pack, this.#names, this.#scan] = [pack, names, scan];
    [this.#objects, this.#questions] = [objects, questions];
    this.#paths = new PackPaths(scan.suspects.map(({ offset }) => offset));
  }

  get hasFound(): boolean {
    return this.#found.length > 0;
  }

  async examineSuspects(): Promise<void> {
    await this.#objects.makeRoom(LEAST_ROOM + ROOM_FOR_PACK * this.#pack.byteLength);
    const waiting: Suspect[] = [];
    for (const suspect of this.#scan.suspects) {
      const object = await this.#objects.at(suspect.offset);
      if (object === 'no-base') waiting.push(suspect);
      else this.#examine(suspect, object);
    }
    if (waiting.length > 0) await this.#readBases();
    for (const suspect of waiting) this.#examine(suspect, await this.#objects.at(suspect.offset));
  }

  /** Only for what is shown: the files and folders that the objects of the pack are. */
  async readPaths(): Promise<void> {
    const index = await this.#indexed();
    await index.resolve();
    for (const offset of index.unresolved) {
      const delta = await this.#objects.deltaAt(offset);
      for (const text of delta === null ? [] : insertsOf(delta)) this.#paths.addInsert(text);
    }
  }

  /** What upstream does not have. Only after `readPaths`. */
  async newHits(maxHits: number): Promise<readonly ContentHit[]> {
    const upstreams = await this.#readUpstream();
    const hits = this.#found.map(({ excerpt, kind, text, ...found }) => {
      const oid = found.oid ?? this.#paths.oidAt(found.offset);
      const path = oid === null ? null : this.#paths.pathOf(oid);
      // A folder without a name is the root folder.
      const place = path ?? (kind === 'name' ? '' : null);
      const isUpstreams =
        place !== null && found.line !== null && upstreams.get(place)?.has(found.line) === true;
      return isUpstreams ? null : { excerpt, kind, text, path };
    });
    return hits.filter((hit) => hit !== null).slice(0, maxHits);
  }

  /** Paths of files of which the pack has all. Only after `readPaths`. */
  newFiles(): string[] {
    return this.#paths.whole.flatMap(({ type, oid }) =>
      type === 'blob' ? (this.#paths.pathOf(oid) ?? []) : [],
    );
  }

  async #indexed(): Promise<PackIndex> {
    this.#index ??= await PackIndex.of(this.#pack, this.#objects, (object) => this.#paths.add(object));
    return this.#index;
  }

  async #readBases(): Promise<void> {
    const { usesOffsets } = this.#scan;
    const index = await this.#indexed();
    if (!usesOffsets) await index.resolve();
    if (index.namesOwn || (index.isCut && !usesOffsets)) return;
    const bases = [...index.missingBases].slice(0, MAX_ASKED_BASES);
    await this.#objects.makeRoom(LEAST_ROOM + 2 * bases.reduce((sum, [, size]) => sum + size, 0));
    let left = MAX_ASKED_BYTES;
    const sizes = new Map(
      bases.filter(([, size]) => size <= left && this.#objects.reserve(size) && (left -= size) >= 0),
    );
    if (sizes.size > 0) index.add(await this.#questions.readBases(sizes));
  }

  #examine({ offset, sightings, mayHaveMore }: Suspect, object: LookUp): void {
    if (typeof object === 'object') return this.#search(object, offset);
    if (mayHaveMore) this.isComplete = false;
    for (const seen of sightings) this.#add({ ...seen, kind: 'content', offset, oid: null, line: null });
  }

  #search(object: PackedObject, offset: number): void {
    const { type, content, delta } = object;
    const spans = this.#names.spansIn(content);
    const added = delta === null ? spans : spans.filter(notCopied(spans, delta));
    if (added.length === 0) return;
    const oid = hashObject(type, content);
    const kind = type === 'tree' ? 'name' : 'content';
    for (const [index, { excerpt, line }] of linesAt(object, added.slice(0, MAX_FOUND)).entries()) {
      const { text } = added[index] as Span;
      this.#add({ excerpt, kind, text, offset, oid, line: delta === null ? line : null });
    }
    if (added.length > MAX_FOUND) this.isComplete = false;
  }

  #add(found: Found): void {
    if (this.#found.length < MAX_FOUND) this.#found.push(found);
    else this.isComplete = false;
  }

  /** Of what the pack has as a whole: the lines in upstream's version that name somebody, by paths. */
  async #readUpstream(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const lines = new Map<string, ReadonlySet<string>>();
    if (!this.#found.some(({ line }) => line !== null)) return lines;
    const paths = new Set(
      this.#paths.whole.flatMap(({ type, oid }) => this.#paths.pathOf(oid) ?? (type === 'tree' ? '' : [])),
    );
    // All of them, for the same reason as with bases. And a path may be a name itself.
    const harmless = [...paths].filter((path) => this.#names.spansIn(utf8(path)).length === 0);
    if (harmless.length === 0) return lines;
    await this.#objects.makeRoom(MAX_ASKED_BYTES);
    if (!this.#objects.reserve(MAX_ASKED_BYTES)) return lines;
    const files = await this.#questions.readUpstream(harmless.slice(0, MAX_ASKED_PATHS), MAX_ASKED_BYTES);
    for (const [path, file] of files) {
      const named = linesAt(file, this.#names.spansIn(file.content));
      lines.set(path, new Set(named.flatMap(({ line }) => line ?? [])));
    }
    return lines;
  }
}

/** Whether no single copy has all letters of it: upstream's words stay upstream's, whatever stands around them now. */
function notCopied(spans: readonly Span[], delta: Uint8Array): (span: Span) => boolean {
  const copied = new Set<Span>();
  let next = 0;
  let filled = 0;
  readInstructions(delta, (isCopy, _, length) => {
    const start = filled;
    filled += length;
    for (let span = spans[next]; span !== undefined && span.end <= filled; span = spans[++next]) {
      if (isCopy && span.start >= start) copied.add(span);
    }
  });
  return (span) => !copied.has(span);
}
