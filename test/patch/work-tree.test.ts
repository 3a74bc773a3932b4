/** The folders that a patch changes: many files of one, many folders, and files in their place. */
import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/git/bytes.ts';
import { UNCOUNTED } from '../../src/git/memory.ts';
import { hashObject, type Oid } from '../../src/git/objects/oid.ts';
import { encodeTree, FILE_MODE, FOLDER_MODE } from '../../src/git/objects/tree.ts';
import { WorkTree } from '../../src/patch/work-tree.ts';
import type { ReadObjects } from '../../src/upstream/tree-reader.ts';

const FILE = { mode: FILE_MODE, oid: '1'.repeat(40), content: null };

/** Folders at a code host, which counts those that are asked for. */
class Host {
  asked = 0;
  readonly #folders = new Map<Oid, Uint8Array>();
  readonly read: ReadObjects = async ({ wants }) => {
    this.asked += wants.length;
    return new Map(
      wants.map((oid) => [
        oid,
        { oid, type: 'tree' as const, content: this.#folders.get(oid) as Uint8Array },
      ]),
    );
  };

  folder(entries: Readonly<Record<string, { readonly mode: string; readonly oid: Oid }>>) {
    const content = encodeTree(
      Object.entries(entries).map(([name, { mode, oid }]) => ({ mode, name: utf8(name), oid })),
    );
    const oid = hashObject('tree', content);
    this.#folders.set(oid, content);
    return { mode: FOLDER_MODE, oid };
  }
}

const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `f${String(index).padStart(5, '0')}`);
const filesOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, FILE]));

describe('a work tree', () => {
  it('reads a folder once, however many of its files change', async () => {
    const host = new Host();
    const names = numbered(5_000);
    const { oid } = host.folder({ dir: host.folder(filesOf(names)) });
    const paths = names.map((name) => `dir/${name}`);
    const tree = await WorkTree.of(host.read, oid, paths, UNCOUNTED);
    expect([host.asked, paths.every((path) => tree.at(path) !== null)]).toEqual([2, true]);
  });

  it('takes ten thousand files that are twenty folders deep', async () => {
    const host = new Host();
    const names = numbered(10_000);
    let folder = host.folder(filesOf(names));
    for (let depth = 0; depth < 20; depth++) folder = host.folder({ d: folder });
    const paths = names.map((name) => `${'d/'.repeat(20)}${name}`);
    const tree = await WorkTree.of(host.read, folder.oid, paths, UNCOUNTED);
    for (const path of paths) tree.put(path, null);
    expect([host.asked, tree.at('d'), tree.isBlocked('d/x')]).toEqual([21, null, false]);
  });

  it('keeps equal folders apart', async () => {
    const host = new Host();
    const same = host.folder({ x: FILE });
    const { oid } = host.folder({ a: same, b: same });
    const tree = await WorkTree.of(host.read, oid, ['a/x', 'b/x'], UNCOUNTED);
    tree.put('a/x', null);
    expect([tree.at('a'), tree.at('b'), tree.at('a/x'), tree.at('b/x')]).toEqual([
      null,
      'folder',
      null,
      FILE,
    ]);
  });

  it('knows where a file stands in the place of a folder', async () => {
    const host = new Host();
    const { oid } = host.folder({ a: FILE });
    const tree = await WorkTree.of(host.read, oid, ['a/b/c', 'n/x'], UNCOUNTED);
    expect([tree.isBlocked('a/b/c'), tree.isBlocked('n/x'), tree.isBlocked('a')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('refuses folders that are too large', async () => {
    await expect(WorkTree.of(async () => null, FILE.oid, ['x'], UNCOUNTED)).rejects.toThrow('too large');
  });
});
