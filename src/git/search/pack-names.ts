/** Where objects of a pack belong: read once more, and only if something was found. */
import type { Hash } from 'node:crypto';
import { hashObject, type Oid } from '../objects/oid.ts';
import { OBJ_BLOB, OBJ_TREE } from '../pack/entry-header.ts';
import { EntryWalker } from '../pack/entry-walker.ts';
import { ProtocolError } from '../wire/protocol-error.ts';
import { insertsOf } from './delta-scan.ts';
import { beginHash, type PackedObjects, type SearchedPack, walk } from './packed-objects.ts';
import { TreeNames } from './tree-names.ts';

/** What larger folders hold has no names. */
const MAX_TREE_BYTES = 256 * 1024;
/** More are not looked at. */
const MAX_DELTAS = 2_000;
/** More are not remembered: as much as anybody asks for. */
const MAX_WHOLE = 1_000;

export interface PackNames {
  readonly names: TreeNames;
  /** Files and folders of which the pack has all, in its order. */
  readonly whole: readonly { readonly type: 'tree' | 'blob'; readonly oid: Oid }[];
}

/** Cost: the pack is inflated, and its deltas are resolved as far as they can be. */
export async function namesIn(pack: SearchedPack, objects: PackedObjects): Promise<PackNames> {
  const names = new TreeNames();
  const whole: { type: 'tree' | 'blob'; oid: Oid }[] = [];
  const deltas: number[] = [];
  let hash: Hash | null = null;
  let kind: 'tree' | 'blob' = 'blob';
  let tree: Uint8Array[] | null = null;
  const walker = new EntryWalker({
    begin: (type, size, offset) => {
      const isWhole = type === OBJ_TREE || type === OBJ_BLOB;
      hash = isWhole ? beginHash(type, size) : null;
      kind = type === OBJ_TREE ? 'tree' : 'blob';
      tree = type === OBJ_TREE && size <= MAX_TREE_BYTES ? [] : null;
      if (!isWhole && deltas.length < MAX_DELTAS) deltas.push(offset);
      return isWhole;
    },
    content: (bytes) => {
      hash?.update(bytes);
      tree?.push(bytes.slice());
    },
    end: () => {
      const oid = hash?.digest('hex') ?? '';
      if (whole.length < MAX_WHOLE) whole.push({ type: kind, oid });
      if (tree !== null) names.add(Buffer.concat(tree), oid);
    },
  });
  await walk(pack, walker, 0);
  for (const offset of deltas) {
    try {
      await addDelta(names, objects, offset);
    } catch (error) {
      // The host refuses a damaged delta.
      if (!(error instanceof ProtocolError)) throw error;
    }
  }
  return { names, whole };
}

async function addDelta(names: TreeNames, objects: PackedObjects, offset: number): Promise<void> {
  const object = await objects.at(offset);
  if (typeof object === 'object') {
    if (object.type === 'tree') names.add(object.content, hashObject('tree', object.content));
    return;
  }
  // Often an entry of a new file as a whole.
  const delta = await objects.deltaAt(offset, true);
  for (const text of delta === null ? [] : insertsOf(delta)) names.add(text, null);
}

/** Of an object that is too large to be kept: its id, and what stands around a place. */
export async function readAround(
  pack: SearchedPack,
  offset: number,
  start: number,
  end: number,
): Promise<{ readonly oid: Oid; readonly bytes: Uint8Array }> {
  const kept: Uint8Array[] = [];
  let hash: Hash | null = null;
  let read = 0;
  const walker: EntryWalker = new EntryWalker({
    begin: (type, size) => {
      hash = beginHash(type === OBJ_TREE ? OBJ_TREE : OBJ_BLOB, size);
      return true;
    },
    content: (bytes) => {
      hash?.update(bytes);
      if (read < end && read + bytes.length > start)
        kept.push(bytes.slice(Math.max(0, start - read), end - read));
      read += bytes.length;
    },
    end: () => walker.stop(),
  });
  await walk(pack, walker, offset);
  return { oid: (hash as Hash | null)?.digest('hex') ?? '', bytes: Buffer.concat(kept) };
}
