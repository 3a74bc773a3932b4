/**
 * Searches a pack on its way out: whole files and folders, and what deltas insert. Of a pack that is in memory as a
 * whole, also the files that the deltas make.
 *
 * A delta copies what a new line shares with its neighbours, a part of a name, too. And what it inserts may look like a
 * part of a name, and be an ordinary word. So it counts only where the file that it makes is not known.
 */
import type { Memory } from '../../git/memory.ts';
import type { Oid } from '../../git/oid.ts';
import { EntryWalker } from '../../git/pack/entry-walker.ts';
import type { KeptObject } from '../../git/pack/kept-objects.ts';
import { PackedDeltas } from '../../git/pack/packed-deltas.ts';
import { ByteSearch, mostBytesToBuild } from '../../git/search/byte-search.ts';
import { type ContentHit, ContentSearch } from '../../git/search/content-search.ts';
import { mayHideName, searchDeltaResults } from '../../git/search/delta-search.ts';
import type { IdentityPatterns } from '../../git/search/identity-patterns.ts';
import type { TreeNames } from '../../git/search/tree-names.ts';

/** For files and folders that deltas make, and what they are made of. */
export const MAX_RESOLVED_BYTES = 2 * 1024 * 1024;

/** Answers objects of upstream, as far as they can be had. @param sizes of the objects by their ids. */
export type ReadBases = (sizes: ReadonlyMap<Oid, number>) => Promise<Iterable<KeptObject>>;

export class PackSearch {
  readonly #search: ByteSearch;
  readonly #partial: () => IdentityPatterns;
  readonly #maxHits: number;
  readonly #contents: ContentSearch;
  readonly #walker: EntryWalker;
  /** In files that deltas make, and the deltas of which this is known. */
  #resultHits: readonly ContentHit[] = [];
  #resolved: ReadonlySet<number> = new Set();
  /** Whether the files that deltas make are searched later, so that what they insert proves nothing yet. */
  #awaitsDeltas = false;

  /** @param partial what a delta may insert of a name. @param maxHits of each kind; it stops after that many. */
  constructor(search: ByteSearch, partial: () => IdentityPatterns, maxHits: number) {
    this.#search = search;
    this.#partial = partial;
    this.#maxHits = maxHits;
    this.#contents = new ContentSearch(search, maxHits);
    this.#walker = new EntryWalker(this.#contents);
  }

  /** @param pieces of the pack, in order, beginning with its header. @param isWhole `searchDeltas` follows. */
  take(pieces: readonly Uint8Array[], isWhole: boolean): void {
    this.#awaitsDeltas = isWhole;
    for (const piece of pieces) this.#walker.walk(piece);
  }

  /**
   * Searches whole files, where upstream's part of them can be read. Only after `take`.
   * @param pack all its pieces. @param memory where its files are counted while they are searched.
   * @throws what `memory` throws.
   */
  async searchDeltas(pack: readonly Uint8Array[], memory: Memory, readBases: ReadBases): Promise<void> {
    let usedBytes = 0;
    const use = (bytes: number): void => {
      memory.use(bytes);
      usedBytes += bytes;
    };
    const free = (bytes: number): void => {
      memory.free(bytes);
      usedBytes -= bytes;
    };
    try {
      const deltas = new PackedDeltas(pack, MAX_RESOLVED_BYTES, { use, free });
      if (deltas.waitingBytes > 0) {
        const { patterns, isComplete } = this.#partial();
        await memory.makeRoom(mostBytesToBuild(patterns) + deltas.waitingBytes);
        use(mostBytesToBuild(patterns));
        // Most pushes hide nothing, and cost no request.
        const missing = deltas.missingBases(isComplete ? hidingTest(patterns) : () => true);
        if (missing.size > 0) deltas.add(await readBases(missing));
      }
      const trees = deltas.results.filter(({ type }) => type === 'tree');
      for (const { oid, content } of trees) this.#contents.names.add(content, oid);
      this.#resultHits = searchDeltaResults(this.#search, deltas.results, this.#maxHits);
      this.#resolved = new Set(deltas.results.map(({ offset }) => offset));
    } finally {
      memory.free(usedBytes);
      this.#awaitsDeltas = false;
    }
  }

  get hits(): readonly ContentHit[] {
    const { hits, deltaHits } = this.#contents;
    if (this.#awaitsDeltas) return hits;
    return [...hits, ...this.#resultHits, ...deltaHits.filter(({ offset }) => !this.#resolved.has(offset))];
  }

  get names(): TreeNames {
    return this.#contents.names;
  }
}

/** Which deltas to search as a whole: all, if nobody can tell. */
function hidingTest(patterns: IdentityPatterns['patterns']): (delta: Uint8Array) => boolean {
  if (patterns.length === 0) return () => false;
  try {
    const partial = new ByteSearch(patterns);
    return (delta) => mayHideName(partial, delta);
  } catch (error) {
    if (error instanceof RangeError) return () => true;
    throw error;
  }
}
