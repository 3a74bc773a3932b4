/** The way to a file: what is asked of the host for it, and what is found. */
import { describe, expect, it } from 'vitest';
import { findPath, listFiles, readBlob, type ReadObjects } from '../../src/upstream/tree-reader.ts';
import { utf8 } from '../../src/git/bytes.ts';
import { hashObject, type Oid } from '../../src/git/objects/oid.ts';
import type { KeptObject } from '../../src/git/pack/kept-objects.ts';
import { encodeTree, kindOf, parseTree, type TreeEntry } from '../../src/git/objects/tree.ts';
import { exhaustive } from '../support/exhaustive.ts';

/** A host with objects, that notes what it was asked for. */
class FakeHost {
  readonly #objects = new Map<Oid, KeptObject>();
  /** The number of objects that each call has sent; -1: too large. */
  readonly calls: number[] = [];

  add(type: 'blob' | 'tree', content: Uint8Array): Oid {
    const oid = hashObject(type, content);
    this.#objects.set(oid, { type, oid, content });
    return oid;
  }

  /** Folders in each other, with so many other folders beside each; answers the first one. */
  nest(parts: readonly string[], beside: number): Oid {
    let entry: TreeEntry = {
      mode: '100644',
      name: utf8(parts.at(-1) ?? ''),
      oid: this.add('blob', utf8('text')),
    };
    for (let depth = parts.length - 1; depth >= 0; depth--) {
      const crowd = Array.from({ length: beside }, (_, index) => {
        const content = encodeTree([
          { mode: '100644', name: utf8(`${depth}-${index}-${beside}`), oid: entry.oid },
        ]);
        return { mode: '40000', name: utf8(`x${index}`), oid: this.add('tree', content) };
      });
      const oid = this.add('tree', encodeTree([entry, ...crowd]));
      if (depth === 0) return oid;
      entry = { mode: '40000', name: utf8(parts[depth - 1] ?? ''), oid };
    }
    return entry.oid;
  }

  readonly read: ReadObjects = async ({ wants, withFolders }, maxBytes) => {
    const sent = new Map<Oid, KeptObject>();
    const send = (oid: Oid): void => {
      const object = this.#objects.get(oid);
      if (object === undefined || sent.has(oid)) return;
      sent.set(oid, object);
      if (withFolders !== true || object.type !== 'tree') return;
      for (const entry of parseTree(object.content)) if (kindOf(entry) === 'folder') send(entry.oid);
    };
    wants.forEach(send);
    const bytes = [...sent.values()].reduce((sum, { content }) => sum + content.byteLength, 0);
    this.calls.push(bytes > maxBytes ? -1 : sent.size);
    return bytes > maxBytes ? null : sent;
  };
}

const parts = (word: string, folders: number) => [
  ...Array.from({ length: folders }, (_, index) => `${word}${index}`),
  'file.txt',
];

describe('the way to a file', () => {
  it('takes a call for each folder, as long as there are few', async () => {
    const host = new FakeHost();
    const path = parts('few', 4);
    const found = await findPath(host.read, host.nest(path, 30), path);
    expect(found).toMatchObject({ kind: 'file', blob: hashObject('blob', utf8('text')) });
    expect(host.calls).toEqual([1, 1, 1, 1, 1]);
  });

  it('takes all that is left with the fifth call, if it is not much', async () => {
    const host = new FakeHost();
    const path = parts('deep', 12);
    const found = await findPath(host.read, host.nest(path, 3), path);
    expect(found.kind).toBe('file');
    expect(host.calls).toEqual([1, 1, 1, 1, 9 + 9 * 3]);
  });

  it('goes on folder by folder otherwise', async () => {
    const host = new FakeHost();
    const path = parts('wide', 7);
    const found = await findPath(host.read, host.nest(path, 400), path);
    expect(found.kind).toBe('file');
    expect(host.calls).toEqual([1, 1, 1, 1, -1, 1, 1, 1, 1]);
  });

  it('ends where the folders together are too large, however deep it is', exhaustive, async () => {
    const host = new FakeHost();
    // Each is small enough to be remembered.
    const crowd = Array.from({ length: 1_900 }, (_, index) => ({
      mode: '100644',
      name: utf8(`f${index}`),
      oid: 'a'.repeat(40),
    }));
    let root = host.add('tree', encodeTree(crowd));
    for (let depth = 0; depth < 20; depth++) {
      const inner = { mode: '40000', name: utf8('d'), oid: root };
      root = host.add('tree', encodeTree([inner, ...crowd]));
    }
    const path = Array.from({ length: 20 }, () => 'd');
    for (let time = 1; time <= 2; time++) {
      expect(await findPath(host.read, root, path)).toEqual({ kind: 'too-large' });
      expect((await findPath(host.read, root, path.slice(0, 10))).kind).toBe('folder');
    }
  });

  it('is known the second time', async () => {
    const host = new FakeHost();
    const path = parts('known', 3);
    const root = host.nest(path, 2);
    await findPath(host.read, root, path);
    host.calls.length = 0;
    expect((await findPath(host.read, root, path)).kind).toBe('file');
    expect(host.calls).toEqual([]);
  });

  it('ends at a folder that is too large, and fails in words if the host does not send one', async () => {
    const host = new FakeHost();
    const crowd = Array.from({ length: 40_000 }, (_, index) => ({
      mode: '100644',
      name: utf8(`f${index}`),
      oid: 'a'.repeat(40),
    }));
    expect(await findPath(host.read, host.add('tree', encodeTree(crowd)), ['f1'])).toEqual({
      kind: 'too-large',
    });
    await expect(findPath(host.read, 'b'.repeat(40), ['f1'])).rejects.toThrow(/did not send the folder/);
    await expect(readBlob(host.read, 'b'.repeat(40), 9)).rejects.toThrow(/did not send the file/);
    expect(await readBlob(host.read, host.add('blob', utf8('ten bytes!')), 9)).toBeNull();
  });
});

const entry = (mode: string, name: string | Uint8Array, oid: Oid): TreeEntry => ({
  mode,
  name: typeof name === 'string' ? utf8(name) : name,
  oid,
});
const BLOB = 'a'.repeat(40);

describe('the list of files', () => {
  it('has every file that can be changed, with its path, in one call', async () => {
    const host = new FakeHost();
    const odd = entry('100644', Uint8Array.of(0x63, 0xe9), BLOB);
    const inner = host.add('tree', encodeTree([entry('100755', 'run.sh', BLOB), odd]));
    const others = [
      entry('120000', 'link', BLOB),
      entry('160000', 'module', BLOB),
      entry('40000', 'lib', inner),
    ];
    const root = host.add('tree', encodeTree([entry('100644', 'a.txt', BLOB), ...others]));
    expect(await listFiles(host.read, root)).toEqual(['a.txt', 'lib/run.sh']);
    expect(host.calls).toEqual([2]);
  });

  it('is none where the folders are too large, or are the same ones over and over', exhaustive, async () => {
    const host = new FakeHost();
    const crowd = Array.from({ length: 40_000 }, (_, index) => entry('100644', `f${index}`, BLOB));
    expect(await listFiles(host.read, host.add('tree', encodeTree(crowd)))).toBeNull();
    let bomb = host.add('tree', encodeTree([]));
    for (let depth = 0; depth < 10; depth++) {
      const copies = Array.from({ length: 10 }, (_, index) => entry('40000', `d${index}`, bomb));
      bomb = host.add('tree', encodeTree(copies));
    }
    expect(await listFiles(host.read, bomb)).toBeNull();
  });

  it('is none where the paths together are too long for the memory', async () => {
    const host = new FakeHost();
    const files = Array.from({ length: 2_000 }, (_, index) => entry('100644', `f${index}`, BLOB));
    let deep = host.add('tree', encodeTree(files));
    for (let depth = 0; depth < 15; depth++)
      deep = host.add('tree', encodeTree([entry('40000', 'd'.repeat(250), deep)]));
    expect(await listFiles(host.read, deep)).toBeNull();
  });

  it('follows folders as deep as a path may be, and no deeper', async () => {
    const host = new FakeHost();
    let deep = host.add('tree', encodeTree([entry('100644', 'f', BLOB)]));
    for (let depth = 0; depth < 2_500; depth++)
      deep = host.add('tree', encodeTree([entry('40000', 'd', deep)]));
    expect(await listFiles(host.read, deep)).toEqual([]);
  });
});
