/**
 * Searches what a pack would publish for names, addresses and original ids.
 *
 * 1. Every whole object and all that deltas insert is searched once (`PackScan`). A delta is suspect, too, if a name
 *    may be partly in what it copies.
 * 2. Suspect deltas are resolved, and what they make is searched. If upstream's objects are needed for that, the host is
 *    asked for all that the pack stands on, or for none: of a choice it would learn what the chosen have in common.
 * 3. What upstream has already is no finding: what stands in one piece in a delta's base, or in the same line of
 *    upstream's version of the file.
 *
 * Steps 2 and 3 are bounded. What cannot be resolved is a finding if what is known of it is telling; otherwise it counts
 * as not searched.
 */
import type { Memory } from '../memory.ts';
import { utf8 } from '../bytes.ts';
import { hashObject, type Oid } from '../objects/oid.ts';
import { readInstructions } from '../pack/delta.ts';
import type { KeptObject } from '../pack/kept-objects.ts';
import { insertsOf, type TellingPlace } from './delta-scan.ts';
import { excerptAt, linesAt, MAX_LINE_BYTES, SHOWN_AFTER } from './excerpts.ts';
import {
  type FileObject,
  type LookUp,
  type PackedObject,
  PackedObjects,
  type SearchedPack,
  walk,
} from './packed-objects.ts';
import { namesIn, type PackNames, readAround } from './pack-names.ts';
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

const NOTHING = new Uint8Array(0);
/** So many are compared with upstream's. */
const MAX_FOUND = 1_000;
/** The host is asked for no more. */
const MAX_ASKED_BASES = 500;
const MAX_ASKED_PATHS = 100;
const MAX_ASKED_BYTES = 2 * 1024 * 1024;
/** A pack up to this size is read once more to tell its own objects from upstream's, if need be. */
const MAX_INDEXED_BYTES = 1024 * 1024;
const LEAST_ROOM = 64 * 1024;
/** For each byte of a pack, which is compressed. */
const ROOM_FOR_PACK = 4;

/** A hit before it was compared with upstream's version. */
interface Found extends Omit<ContentHit, 'path'> {
  readonly oid: Oid | null;
  readonly isInDelta: boolean;
  /** Null: too long, or not known. */
  readonly line: string | null;
}

/**
 * @param memory where what is resolved is counted meanwhile. @param maxHits it shows no more.
 * @throws RangeError if the texts match in too many ways, ProtocolError `bad-pack`, what `memory` throws.
 */
export async function searchPack(
  pack: SearchedPack,
  names: SearchedNames,
  questions: SearchQuestions,
  memory: Memory,
  maxHits: number,
): Promise<PackFindings> {
  const scan = new PackScan(names);
  await walk(pack, scan.walker, 0);
  const suspects = [...scan.telling, ...scan.others];
  const noted = {
    hasGitlinks: scan.hasGitlinks,
    hasBinaries: scan.hasBinaries,
    homeFolders: [...scan.homeFolders],
  };
  const isSmall = pack.byteLength <= MAX_INDEXED_BYTES;
  if (suspects.length === 0 && !isSmall) return { hits: [], isComplete: !scan.isCut, files: null, ...noted };
  const asked = new Map([...scan.bases].slice(0, MAX_ASKED_BASES));
  const baseBytes = [...asked.values()].reduce((sum, size) => sum + size, 0);
  const room = LEAST_ROOM + 2 * baseBytes + ROOM_FOR_PACK * pack.byteLength;
  const objects = new PackedObjects(pack, memory);
  try {
    await objects.makeRoom(room);
    const mayAsk = suspects.length > 0 && (await namesOnlyUpstreams(pack, scan, objects));
    const readBases = async (): Promise<void> => {
      let left = mayAsk ? MAX_ASKED_BYTES : 0;
      const sizes = new Map(
        [...asked].filter(([, size]) => size <= left && objects.reserve(size) && (left -= size) >= 0),
      );
      if (sizes.size > 0) objects.add(await questions.readBases(sizes));
    };
    let read: PackNames | null = null;
    const packNames = async (): Promise<PackNames> => (read ??= await namesIn(pack, objects));
    const look = new CloserLook(pack, names, objects, maxHits, packNames);
    await look.resolve(suspects, readBases);
    const hits = await look.newHits(questions);
    const files = isSmall ? filesOf(await packNames()) : null;
    return { hits, isComplete: look.isComplete && !scan.isCut, files, ...noted };
  } finally {
    objects.free();
  }
}

function filesOf({ names, whole }: PackNames): string[] {
  return whole.flatMap(({ type, oid }) => (type === 'blob' ? (names.pathOf(oid) ?? []) : []));
}

/**
 * Whether all that the pack names by ids is upstream's, as far as this can be told. Nobody is to be asked for an object
 * that may be new.
 */
async function namesOnlyUpstreams(
  pack: SearchedPack,
  scan: PackScan,
  objects: PackedObjects,
): Promise<boolean> {
  if (!scan.mayHaveBases) return true;
  if (scan.hasMoreBases || pack.byteLength > MAX_INDEXED_BYTES) return false;
  return !(await objects.findOwn(scan.bases));
}

class CloserLook {
  /** False if something cannot be searched. */
  isComplete = true;
  readonly #pack: SearchedPack;
  readonly #names: SearchedNames;
  readonly #objects: PackedObjects;
  readonly #maxHits: number;
  readonly #packNames: () => Promise<PackNames>;
  readonly #found: Found[] = [];
  /** How many of them nobody can dismiss. */
  #certain = 0;

  constructor(
    pack: SearchedPack,
    names: SearchedNames,
    objects: PackedObjects,
    maxHits: number,
    packNames: () => Promise<PackNames>,
  ) {
    this.#maxHits = maxHits;
    this.#packNames = packNames;
    this.#pack = pack;
    this.#names = names;
    this.#objects = objects;
  }

  /** @param readBases is called once, if a base is missing. */
  async resolve(suspects: readonly Suspect[], readBases: () => Promise<void>): Promise<void> {
    const waiting: Suspect[] = [];
    for (const suspect of suspects) {
      const object = await this.#objects.at(suspect.offset);
      if (object === 'no-base') waiting.push(suspect);
      else await this.#examine(suspect, object);
    }
    if (waiting.length > 0) await readBases();
    for (const suspect of waiting) await this.#examine(suspect, await this.#objects.at(suspect.offset));
  }

  /** What upstream does not have. Only after `resolve`. */
  async newHits(questions: SearchQuestions): Promise<readonly ContentHit[]> {
    if (this.#found.length === 0) return [];
    const packNames = await this.#packNames();
    const pathOf = ({ oid }: Found): string | null =>
      oid === null ? null : (packNames.names.pathOf(oid) ?? null);
    const upstreams = await this.#readUpstream(packNames, questions);
    const isUpstreams = (found: Found): boolean => {
      // A folder without a name is the root folder.
      const path = pathOf(found) ?? (found.kind === 'name' ? '' : null);
      return path !== null && found.line !== null && upstreams.get(path)?.has(found.line) === true;
    };
    const hits = this.#found.filter((found) => !isUpstreams(found)).slice(0, this.#maxHits);
    return hits.map((found) => {
      const { excerpt, kind, text } = found;
      return { excerpt, kind, text, path: pathOf(found) };
    });
  }

  /** Of what the pack has as a whole: the lines in upstream's version that name somebody, by paths. */
  async #readUpstream(
    { names, whole }: PackNames,
    questions: SearchQuestions,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const lines = new Map<string, ReadonlySet<string>>();
    if (!this.#found.some(({ isInDelta, line }) => !isInDelta && line !== null)) return lines;
    // All of them, for the same reason as with bases. And a path may be a name itself.
    const paths = new Set(whole.flatMap(({ type, oid }) => names.pathOf(oid) ?? (type === 'tree' ? '' : [])));
    const harmless = [...paths].filter((path) => this.#names.spansIn(utf8(path)).length === 0);
    if (harmless.length === 0) return lines;
    await this.#objects.makeRoom(MAX_ASKED_BYTES);
    if (!this.#objects.reserve(MAX_ASKED_BYTES)) return lines;
    const files = await questions.readUpstream(harmless.slice(0, MAX_ASKED_PATHS), MAX_ASKED_BYTES);
    for (const [path, file] of files) {
      const named = linesAt(file, this.#names.spansIn(file.content));
      lines.set(path, new Set(named.flatMap(({ line }) => line ?? [])));
    }
    return lines;
  }

  async #examine(suspect: Suspect, object: LookUp): Promise<void> {
    if (typeof object === 'object') this.#searchWhole(object);
    // Each takes another look at the pack, and more are not shown.
    else if (this.#certain >= this.#maxHits) return;
    else if (suspect.isWhole) await this.#addLarge(suspect);
    else if (suspect.telling.length > 0) await this.#addTelling(suspect);
    else this.isComplete = false;
  }

  #searchWhole(object: PackedObject): void {
    const { type, content, delta } = object;
    const spans = this.#names.spansIn(content);
    const added = delta === null ? spans : spans.filter(notCopied(spans, delta));
    if (added.length === 0) return;
    const oid = hashObject(type, content);
    const kind = type === 'tree' ? 'name' : 'content';
    for (const [index, { excerpt, line }] of linesAt(object, added.slice(0, MAX_FOUND)).entries()) {
      const { text } = added[index] as Span;
      this.#add({ excerpt, kind, text, oid, isInDelta: delta !== null, line });
    }
    if (added.length > MAX_FOUND) this.isComplete = false;
  }

  /** Only its first place. */
  async #addLarge({ offset, telling: [place] }: Suspect): Promise<void> {
    const { end, text } = place as TellingPlace;
    const start = Math.max(0, end - MAX_LINE_BYTES);
    const { oid, bytes } = await readAround(this.#pack, offset, start, end + SHOWN_AFTER);
    const excerpt = excerptAt(bytes, end - start - 1);
    this.#add({ excerpt, kind: 'content', text, oid, isInDelta: false, line: null });
  }

  async #addTelling({ offset, telling }: Suspect): Promise<void> {
    const delta = await this.#objects.deltaAt(offset, false);
    const inserts = delta === null ? [] : insertsOf(delta);
    for (const { insert, end, text } of telling) {
      const excerpt = excerptAt(inserts[insert] ?? NOTHING, end);
      this.#add({ excerpt, kind: 'content', text, oid: null, isInDelta: true, line: null });
    }
  }

  #add(found: Found): void {
    if (found.line === null) this.#certain += 1;
    if (this.#found.length < MAX_FOUND) this.#found.push(found);
    else this.isComplete = false;
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
