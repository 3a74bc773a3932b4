/**
 * Describes all files that are published with a delayed push: those that its newest commit changes
 * in the upstream commit that it is based on, those that only its earlier commits have, and the
 * rest of its pack. Beyond some limits, a file is listed without its difference, or only counted.
 */
import type { Difference } from './lines.ts';
import { decodeEscaped, decodeUtf8, NO_BYTES } from '../git/bytes.ts';
import type { Memory } from '../git/memory.ts';
import type { PlannedCommits } from '../git/objects/planned-commits.ts';
import type { Oid } from '../git/objects/oid.ts';
import { kindOf, type TreeEntry } from '../git/objects/tree.ts';
import type { ReadObjects } from '../upstream/tree-reader.ts';
import type { ComparedObjects } from './compared-objects.ts';
import { compareTrees, type Comparison, type Pair, type PushedFiles } from './tree-comparison.ts';

/** Maximum size of a pack that is examined. */
export const MAX_PACK_BYTES = 1024 * 1024;
/** Maximum number of files whose difference is shown. */
const MAX_SHOWN = 50;
/** Maximum size of a shown file, in each version. */
const MAX_FILE_BYTES = 64 * 1024;
/** Maximum size of all shown files, in both versions. */
const MAX_COMPARED_BYTES = 512 * 1024;
const MAX_SHOWN_LINES = 5_000;
const MAX_LISTED = 5_000;
/**
 * Maximum length of all paths and names of entries that are listed. Invisible characters take eight
 * times that in a page, and what is compressed well may be twelve megabytes of them.
 */
const MAX_LISTED_LENGTH = 512 * 1024;

export interface ChangedFile {
  /**
   * The path as `decodeEscaped` makes it, with a slash at the end for a folder. For `elsewhere`, it
   * is the object's id.
   */
  readonly path: string;
  /**
   * The kind of the change. `earlier` is a file that only an earlier commit has, `elsewhere` one in
   * no folder that could be compared. Both are published, too.
   */
  readonly kind: 'added' | 'removed' | 'changed' | 'earlier' | 'elsewhere';
  /** The new mode, or null if the file is removed, or the mode is not known. */
  readonly mode: string | null;
  readonly bytes: number | null;
  /** The difference, or null if it is not shown. */
  readonly difference: Difference | null;
  /** Sentences with further facts about the file. */
  readonly remarks: readonly string[];
}

export interface Changes {
  readonly files: readonly ChangedFile[];
  /** Sentences that say what is missing. */
  readonly gaps: readonly string[];
}

type Differ = (before: string, after: string) => Difference;

/**
 * Describes the changes of a push. It rejects as `read` does, and with what `memory` throws.
 * @param read asks upstream for objects.
 */
export function changesOf(
  pushed: PushedFiles,
  read: ReadObjects,
  memory: Memory,
  differ: Differ,
): Promise<Changes> {
  return compareTrees(pushed, boundaryOf(pushed.commits), read, memory, async (comparison, old) => {
    await comparison.compareEarlier(pushed.commits, old);
    return new Descriptions(comparison, differ).all();
  });
}

/**
 * Finds the upstream commit that the newest commit is based on, by the first parents.
 * @returns null if it has a history of its own.
 */
function boundaryOf(commits: PlannedCommits): Oid | null {
  let [parent] = commits.at(commits.length - 1).parents;
  while (typeof parent === 'number') [parent] = commits.at(parent).parents;
  return parent ?? null;
}

class Descriptions {
  readonly #comparison: Comparison;
  readonly #objects: ComparedObjects;
  readonly #differ: Differ;
  #lengthLeft = MAX_LISTED_LENGTH;

  constructor(comparison: Comparison, differ: Differ) {
    this.#comparison = comparison;
    this.#objects = comparison.objects;
    this.#differ = differ;
  }

  async all(): Promise<Changes> {
    const { gaps, pairs } = this.#comparison;
    const listed = this.#withinLength(pairs.slice(0, MAX_LISTED), ({ path }) => path.length);
    const unlisted = pairs.length - listed.length;
    if (unlisted > 0) gaps.add(`${unlisted.toLocaleString('en')} files more are not even listed.`);
    const shown = listed.slice(0, MAX_SHOWN);
    await this.#comparison.askForFiles(shown.filter(({ now, old }) => isFile(now) && isFile(old)));
    const files: ChangedFile[] = [];
    let bytesLeft = MAX_COMPARED_BYTES;
    let linesLeft = MAX_SHOWN_LINES;
    for (const pair of listed) {
      const isRoom = files.length < MAX_SHOWN && bytesLeft > 0 && linesLeft > 0;
      if (!isRoom) gaps.add('There is too much to show everything: the last files are only listed.');
      const file = isRoom ? await this.#fileOf(pair) : await this.#listedOnly(pair);
      if (file.difference !== null)
        bytesLeft -= (file.bytes ?? 0) + (pair.old === null ? 0 : (this.#sizeOf(pair.old.oid) ?? 0));
      linesLeft -= (file.difference?.hunks ?? []).reduce((sum, lines) => sum + lines.length, 0);
      files.push(file);
    }
    if (this.#objects.unreadCount > 0) {
      const count = this.#objects.unreadCount.toLocaleString('en');
      gaps.add(`At least ${count} of its files, or versions of them, could not be read.`);
    }
    return { files, gaps: [...gaps] };
  }

  async #fileOf(pair: Pair): Promise<ChangedFile> {
    const { now, old } = pair;
    const only = await this.#listedOnly(pair);
    const remark = (text: string) => ({ ...only, remarks: [...only.remarks, text] });
    if (now === null || now.oid === old?.oid || !isFile(now)) return only;
    const after = await this.#objects.content(now.oid, MAX_FILE_BYTES);
    if (after === null) return remark(this.#whereElse(now.oid));
    const before = old !== null && isFile(old) ? this.#objects.sentContent(old.oid) : NO_BYTES;
    if (before === undefined) return remark('Upstream’s version is too large to be shown here.');
    if (Math.max(before.byteLength, after.byteLength) > MAX_FILE_BYTES) {
      return remark(tooLarge(after.byteLength));
    }
    if (before.includes(0) || after.includes(0)) return remark('It is not text.');
    const shown = decodeUtf8(after) === null ? remark('It is not UTF-8: some bytes are written out.') : only;
    return { ...shown, difference: this.#differ(decodeEscaped(before), decodeEscaped(after)) };
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
      bytes: isFile(now) ? this.#sizeOf(now.oid) : null,
      difference: null,
      remarks,
    };
  }

  async #kindRemarks(entry: TreeEntry, isElsewhere: boolean): Promise<string[]> {
    switch (kindOf(entry)) {
      case 'symlink':
        return ['It is a symbolic link to the path that is its content.'];
      case 'submodule': {
        const isPushed = this.#objects.isPushed(entry.oid);
        const also = isPushed ? ' That is the id of a file, or a folder, of the push.' : '';
        return [`It is a submodule, at the commit ${entry.oid}.${also}`];
      }
      case 'file':
        return (Number.parseInt(entry.mode, 8) & 0o111) === 0 ? [] : ['It is executable.'];
      case 'folder': {
        const entries = isElsewhere ? await this.#objects.folder(entry.oid) : null;
        if (entries === null) return [this.#whereElse(entry.oid)];
        return [`It is a folder with: ${this.#namesOf(entries)}`];
      }
    }
  }

  #namesOf(entries: readonly TreeEntry[]): string {
    const listed = this.#withinLength(entries, ({ name }) => name.byteLength);
    const names = listed.map(({ name }) => decodeEscaped(name));
    const more = entries.length - listed.length;
    return [...names, ...(more > 0 ? [`and ${more.toLocaleString('en')} more`] : [])].join(', ');
  }

  /** Takes the first ones, as many as there is room for. */
  #withinLength<T>(all: readonly T[], lengthOf: (one: T) => number): readonly T[] {
    const cut = all.findIndex((one) => (this.#lengthLeft -= lengthOf(one)) < 0);
    return cut < 0 ? all : all.slice(0, cut);
  }

  /** Returns the size of an object in bytes, or null if it is not known. */
  #sizeOf(oid: Oid): number | null {
    return this.#objects.pushedSize(oid) ?? this.#objects.sentContent(oid)?.byteLength ?? null;
  }

  /** Says why something is not shown. */
  #whereElse(oid: Oid): string {
    const size = this.#objects.pushedSize(oid);
    if (size !== null) return tooLarge(size);
    const path = this.#objects.pathUpstream(oid);
    if (path !== undefined) return `It is the same as /${path} upstream.`;
    return this.#objects.unreadCount === 0
      ? 'The push does not contain its content: the code host must have it already, in another place or version.'
      : 'It is too large to be shown, or the push does not contain its content.';
  }
}

/** Tells if an entry has a content: a file or a symbolic link. */
function isFile(entry: TreeEntry | null): entry is TreeEntry {
  return entry !== null && ['file', 'symlink'].includes(kindOf(entry));
}

function tooLarge(bytes: number): string {
  return `It is too large to be shown: ${bytes.toLocaleString('en')} bytes.`;
}
