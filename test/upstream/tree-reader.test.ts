/** The way to a file: what is asked of the host for it, and what is found. */
import { describe, expect, it } from 'vitest';
import { findPath, readBlob, type ReadObjects } from '../../src/upstream/tree-reader.ts';
import { utf8 } from '../../src/git/bytes.ts';
import { hashObject, type Oid } from '../../src/git/objects/oid.ts';
import type { KeptObject } from '../../src/git/pack/kept-objects.ts';
import { encodeTree, kindOf, parseTree, type TreeEntry } from '../../src/git/objects/tree.ts';

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
      if (object === undefined) return;
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

  it('ends where the folders together are too large, however deep it is', async () => {
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
