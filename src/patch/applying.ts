/**
 * Applies the changes of a commit to the tree before it. A new file is written at once, and stays
 * in memory only if a later commit changes it again.
 * Proved by test/patch/series.test.ts and test/e2e/push/patch-oracle.test.ts.
 */
import { freeBytes, NO_BYTES } from '../git/bytes.ts';
import type { Memory, MemoryClaim } from '../git/memory.ts';
import { hashObject, type Oid } from '../git/objects/oid.ts';
import { kindOf } from '../git/objects/tree.ts';
import { MAX_OBJECT_BYTES } from '../git/pack/memory-limits.ts';
import { applyHunks, bytesToPlace, newBudget, placeHunks } from './apply.ts';
import { applyBinary } from './binary.ts';
import type { FileDiff, Hunk } from './diff.ts';
import type { NewEntries } from './new-entries.ts';
import { doesNotApply, malformed, shownPath, tooMuch } from './patch-error.ts';
import type { FileEntry, WorkTree } from './work-tree.ts';

const EMPTY_BLOB = hashObject('blob', NO_BYTES);
/**
 * Bytes in memory at once: the patch, what was read for it, files that later commits change again,
 * and the one that is being made.
 */
const MOST_BYTES = 40 * 1024 * 1024;

interface Changed {
  readonly tree: WorkTree;
  readonly patch: Uint8Array;
  /** Files of upstream by their ids. */
  readonly sources: ReadonlyMap<Oid, Uint8Array>;
  /** Changes whose result a later commit reads. */
  readonly kept: ReadonlySet<FileDiff>;
}

export class Applying {
  readonly #of: Changed;
  readonly #entries: NewEntries;
  readonly #memory: Memory;
  readonly #claim: MemoryClaim;
  readonly #budget = newBudget();
  /** Bytes that others count: the patch, and what was read. */
  readonly #givenBytes: number;
  /** Bytes of files that later commits change again. */
  #keptBytes = 0;

  constructor(of: Changed, entries: NewEntries, memory: Memory) {
    this.#of = of;
    this.#entries = entries;
    this.#memory = memory;
    this.#claim = memory.claim();
    const { patch, sources, tree } = of;
    this.#givenBytes = patch.byteLength + tree.heldBytes;
    for (const { byteLength } of sources.values()) this.#givenBytes += byteLength;
  }

  /** Applies the changes of one commit, which all begin with the files before it. */
  async apply(files: readonly FileDiff[]): Promise<void> {
    const { tree } = this.#of;
    const written = [];
    for (const file of files) {
      const entry = await this.#changed(file);
      // What is only renamed counts already.
      if (entry?.content !== this.#keptAt(file.from)) this.#keptBytes += entry?.content?.byteLength ?? 0;
      written.push({ file, entry });
    }
    const held = new Set(written.map(({ entry }) => entry?.content));
    for (const { from, isCopy } of files) {
      if (from === null || isCopy) continue;
      const removed = this.#keptAt(from);
      tree.put(from, null);
      if (removed === null || held.has(removed)) continue;
      this.#keptBytes -= removed.byteLength;
      freeBytes(removed);
    }
    await this.#claim.set(this.#keptBytes);
    for (const { file, entry } of written) {
      if (file.to === null || entry === null) continue;
      const there = tree.at(file.to);
      if (there !== null || tree.isBlocked(file.to))
        throw doesNotApply(
          `${shownPath(file.to)} is there already upstream${there === 'folder' ? ', as a folder' : ''}.`,
        );
      tree.put(file.to, entry);
    }
  }

  /** The content of a file that is kept in memory; null: none is. */
  #keptAt(path: string | null): Uint8Array | null {
    const entry = path === null ? null : this.#of.tree.at(path);
    return entry === null || entry === 'folder' ? null : entry.content;
  }

  /** The file that a change leaves; null: none. */
  async #changed(file: FileDiff): Promise<FileEntry | null> {
    const { from, to, oldMode, newMode } = file;
    const name = shownPath(to ?? from ?? '');
    const old = from === null ? null : this.#of.tree.at(from);
    if (from !== null && (old === null || old === 'folder'))
      throw doesNotApply(`${shownPath(from)} is no file upstream.`);
    const source = old === 'folder' ? null : old;
    if (source !== null && oldMode !== null && kindOf(source) !== kindOf({ mode: oldMode }))
      throw doesNotApply(`${name} is of another type upstream: a file, a symbolic link or a submodule.`);
    const content = await this.#contentOf(file, source, name);
    if (to === null) {
      if (content !== null && content.byteLength > 0)
        throw doesNotApply(`${name} has more in it upstream than is deleted.`);
      return null;
    }
    const mode = newMode ?? source?.mode ?? '';
    if (source !== null && kindOf(source) !== kindOf({ mode }))
      throw malformed(`It changes the type of ${name}.`);
    if (content === null && source !== null)
      return { ...source, mode, content: await this.#carried(file, source) };
    return this.#written(file, mode, content ?? NO_BYTES);
  }

  /** The content with which a file goes on that stays the same; null: nobody reads it. */
  async #carried(file: FileDiff, { content }: FileEntry): Promise<Uint8Array | null> {
    if (content === null || !file.isCopy) return content;
    if (!this.#of.kept.has(file)) return null;
    await this.#hold(content.byteLength);
    // Two files must not share what is freed with one of them.
    return content.slice();
  }

  async #written(file: FileDiff, mode: string, content: Uint8Array): Promise<FileEntry> {
    const oid = await this.#entries.add('blob', content);
    await this.#memory.worked(content.byteLength);
    if (this.#of.kept.has(file)) return { mode, oid, content };
    freeBytes(content);
    return { mode, oid, content: null };
  }

  /** The content that a change leaves; null: it stays. */
  async #contentOf(file: FileDiff, source: FileEntry | null, name: string): Promise<Uint8Array | null> {
    const { hunks, binary, ids, to } = file;
    if (binary === null && hunks.length === 0) return to === null ? refuseContent(source, name) : null;
    if (binary !== null && source !== null && source.oid !== ids?.[0])
      throw doesNotApply(`${name} is a binary file that has changed upstream.`);
    const isNeeded = source !== null && binary?.method !== 'literal';
    const before = isNeeded ? (source.content ?? this.#of.sources.get(source.oid)) : NO_BYTES;
    if (before === undefined) throw doesNotApply(`The code host did not send ${name}.`);
    if (binary === null) return this.#patched(before, hunks, name);
    const claim = (bytes: number) => this.#hold(bytes);
    const after = await applyBinary(before, this.#of.patch, binary, this.#mostBytes, name, claim);
    if (to !== null && hashObject('blob', after) !== ids?.[1])
      throw malformed(`The binary patch of ${name} is broken.`);
    return after;
  }

  async #patched(before: Uint8Array, hunks: readonly Hunk[], name: string): Promise<Uint8Array> {
    const placesBytes = bytesToPlace(before, name);
    await this.#hold(placesBytes);
    const { bytes } = this.#budget;
    const placed = placeHunks(before, this.#of.patch, hunks, name, this.#budget);
    await this.#memory.worked(bytes - this.#budget.bytes);
    if (placed.byteLength > this.#mostBytes) throw tooMuch(`${name} is too large.`);
    await this.#hold(placesBytes + placed.byteLength);
    return applyHunks(placed);
  }

  /** The largest file that may be made now. A push takes no larger one. */
  get #mostBytes(): number {
    return Math.min(MAX_OBJECT_BYTES, this.#entries.bytesLeft);
  }

  /** @param bytes that the next file needs while it is made. */
  async #hold(bytes: number): Promise<void> {
    if (this.#givenBytes + this.#keptBytes + bytes > MOST_BYTES)
      throw tooMuch('It and the files that it changes are too large together.');
    await this.#claim.set(this.#keptBytes + bytes);
  }
}

/** Refuses to delete a file that is not empty, without its lines. */
function refuseContent(source: FileEntry | null, name: string): null {
  if (source?.oid !== EMPTY_BLOB) throw doesNotApply(`${name} has more in it upstream than is deleted.`);
  return null;
}
