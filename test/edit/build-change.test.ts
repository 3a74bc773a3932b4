/**
 * The commit of a change: Git's own order in folders, and objects that another implementation
 * reads.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildChange, type FileChange } from '../../src/edit/build-change.ts';
import { isProse, MAX_FOLDERS, parsePath } from '../../src/edit/path.ts';
import { utf8 } from '../../src/git/bytes.ts';
import { hashObject } from '../../src/git/objects/oid.ts';
import {
  encodeTree,
  entryNamed,
  kindOf,
  parseTree,
  type TreeEntry,
  withEntry,
} from '../../src/git/objects/tree.ts';
import { readPack } from '../support/isomorphic-reader.ts';
import { runs } from '../support/runs.ts';
import { scan } from '../support/scan.ts';

const OID = 'a'.repeat(40);
const entry = (mode: string, name: string, oid = OID): TreeEntry => ({
  mode,
  name: Buffer.from(name, 'latin1'),
  oid,
});
const names = (entries: readonly TreeEntry[]) =>
  entries.map(({ name }) => Buffer.from(name).toString('latin1'));

/** The bytes that Git sorts by. */
const key = (one: TreeEntry) => Buffer.concat([one.name, Buffer.from(kindOf(one) === 'folder' ? '/' : '')]);

const sorted = (entries: readonly TreeEntry[]) =>
  entries.toSorted((one, other) => Buffer.compare(key(one), key(other)));

describe('a folder', () => {
  const name = fc.constantFrom('a', 'a.b', 'a-b', 'a0', 'ab', 'b', '\u00e9', 'B');
  const mode = fc.constantFrom('40000', '100644', '100755', '120000', '160000', '100664');

  it('is the same again when it is read and written', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(mode, name)), (pairs) => {
        const content = encodeTree(pairs.map(([one, other]) => entry(one, other)));
        expect(encodeTree(parseTree(content))).toEqual(content);
      }),
      runs(100),
    );
  });

  it('is in the order of Git after each change', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(mode, name)), (pairs) => {
        let entries: TreeEntry[] = [];
        for (const [one, other] of pairs) entries = withEntry(entries, entry(one, other));
        expect(names(entries)).toEqual(names(sorted(entries)));
        expect(new Set(names(entries)).size).toBe(entries.length);
      }),
      runs(100),
    );
  });

  it.each([
    ['without an id', '100644 a\0'],
    ['without a name', '100644'],
    ['with a mode that is no number', `1006x4 a\0${'x'.repeat(20)}`],
    ['with an endless name', `100644 ${'a'.repeat(50)}`],
  ])('%s is refused', (_, content) => {
    expect(() => parseTree(Buffer.from(content))).toThrow(/malformed folder/);
  });
});

const content = utf8('new\n');
const buildAll = (files: readonly FileChange[]) =>
  buildChange({
    files,
    parent: OID,
    message: 'Title\n\nWhy\n',
    committedAt: 1_700_000_000,
    identity: { name: 'anonymous', email: 'anon@veil.invalid' },
  });

const build = (path: string, folders: TreeEntry[][]) =>
  buildAll([{ folders, path: path.split('/'), content }]);

/** The content of the pack, the folders as lists of names and modes. */
const unpacked = ({ pack, tip }: ReturnType<typeof build>) => {
  const { kept } = scan([pack], undefined, 'everything');
  expect(kept[0]?.oid).toBe(tip);
  const folders = kept.filter(({ type }) => type === 'tree').map((tree) => parseTree(tree.content));
  return { kept, folders, commit: Buffer.from(kept[0]?.content ?? []).toString() };
};

describe('a change', () => {
  it('replaces one file, and keeps its mode and all that stands beside it', () => {
    const lib = [entry('100664', 'caf\u00e9'), entry('100755', 'run.sh'), entry('120000', 'z')];
    const root = [entry('100644', 'lib.txt'), entry('40000', 'lib')];
    const built = build('lib/run.sh', [root, lib]);
    const { kept, folders, commit } = unpacked(built);
    const blob = hashObject('blob', content);
    const newLib = withEntry(lib, entry('100755', 'run.sh', blob));
    const tree = hashObject('tree', encodeTree(newLib));
    expect(kept.map(({ type }) => type)).toEqual(['commit', 'tree', 'tree', 'blob']);
    expect(folders[1]).toEqual(parseTree(encodeTree(newLib)));
    expect(entryNamed(folders[0] ?? [], utf8('lib'))?.oid).toBe(tree);
    // Git compares `lib/` with `lib.txt`.
    expect(names(folders[0] ?? [])).toEqual(['lib.txt', 'lib']);
    expect(commit).toBe(
      `tree ${hashObject('tree', encodeTree(folders[0] ?? []))}\nparent ${OID}\n` +
        'author anonymous <anon@veil.invalid> 1700000000 +0000\n' +
        'committer anonymous <anon@veil.invalid> 1700000000 +0000\n\nTitle\n\nWhy\n',
    );
  });

  it('writes the modes beside it as hosts accept them', () => {
    const root = [entry('040000', 'lib'), entry('0100644', 'old.txt')];
    const { folders } = unpacked(build('new.txt', [root]));
    expect(folders[0]?.map(({ mode }) => mode)).toEqual(['40000', '100644', '100644']);
  });

  it('writes those of what it replaces so, too', () => {
    const { folders } = unpacked(build('lib/a.txt', [[entry('040000', 'lib')], [entry('0100755', 'a.txt')]]));
    expect(folders.map((each) => each.map(({ mode }) => mode))).toEqual([['40000'], ['100755']]);
  });

  it('sets and removes several files, and leaves no empty folder', () => {
    const lib = [entry('100644', 'a.txt'), entry('100755', 'b.sh')];
    const old = [entry('100644', 'only.txt')];
    const root = [entry('100644', 'README'), entry('40000', 'lib'), entry('40000', 'old')];
    const { folders, kept } = unpacked(
      buildAll([
        { folders: [root, lib], path: ['lib', 'b.sh'], content },
        { folders: [root, old], path: ['old', 'only.txt'], content: null },
        { folders: [root, lib], path: ['lib', 'new', 'c.txt'], content: utf8('other\n') },
        { folders: [root, lib], path: ['lib', 'a.txt'], content: null },
      ]),
    );
    expect(folders.map(names)).toEqual([['README', 'lib'], ['b.sh', 'new'], ['c.txt']]);
    expect(folders[1]?.map(({ mode }) => mode)).toEqual(['100755', '40000']);
    expect(kept.map(({ type }) => type)).toEqual(['commit', 'tree', 'tree', 'tree', 'blob', 'blob']);
  });

  it('that removes all files leaves the empty tree', () => {
    const { folders } = unpacked(
      buildAll([{ folders: [[entry('100644', 'a')]], path: ['a'], content: null }]),
    );
    expect(folders).toEqual([[]]);
  });

  it('adds folders that do not exist, and is the same each time', async () => {
    const built = build('a/b/c.txt', [[entry('100644', 'a.txt')]]);
    // Another implementation reads the same objects.
    const { count, objects } = await readPack(Buffer.from(built.pack));
    expect([count, objects.get(built.tip)?.type]).toEqual([5, 'commit']);
    expect(objects.get(hashObject('blob', content))?.content).toEqual(Buffer.from(content));
    const { folders } = unpacked(built);
    expect(folders.map(names)).toEqual([['a.txt', 'a'], ['b'], ['c.txt']]);
    expect(folders[0]?.map(({ mode }) => mode)).toEqual(['100644', '40000']);
    expect(folders[2]?.[0]?.mode).toBe('100644');
    expect(build('a/b/c.txt', [[entry('100644', 'a.txt')]])).toEqual(built);
  });
});

describe('a file', () => {
  it('is prose by its ending, or its name in capitals', () => {
    for (const path of ['docs/guide.md', 'a.txt', 'README', 'docs/LICENSE', 'x.rst', 'CODE_OF_CONDUCT'])
      expect([path, isProse(path)]).toEqual([path, true]);
    for (const path of ['src/a.ts', 'Makefile', 'md', 'docs.md/a', 'A', '.md/x.py', 'README.py', 'x.json'])
      expect([path, isProse(path)]).toEqual([path, false]);
  });
});

describe('a path', () => {
  it.each(['', 'a', 'a/b', '.github/x', '.gitignore', 'a b/ü/😀', `${'a/'.repeat(MAX_FOLDERS)}b`])(
    'may be %j',
    (path) => {
      expect(parsePath(path)).toEqual({ kind: 'path', parts: path === '' ? [] : path.split('/') });
    },
  );

  it.each([
    '/',
    'a/',
    '.',
    'a/./b',
    '..',
    '.git',
    '.Git/x',
    '.g\u200cit',
    '.git ',
    '.git...',
    'git~1',
    '.git::$INDEX',
    'a\0b',
    '\ud800',
    'a\u0085',
    `${'a/'.repeat(MAX_FOLDERS + 1)}b`,
    '/'.repeat(5_000),
  ])('must not be %j', (path) => {
    expect(parsePath(path).kind).toBe('invalid');
  });
});
