/**
 * Searches what a pack adds: whole objects, what deltas insert and make, what upstream has already.
 */
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Fault } from '../../../src/git/pack/fsck.ts';
import { EntryWalker } from '../../../src/git/pack/entry-walker.ts';
import { PackedObjects } from '../../../src/git/pack/packed-objects.ts';
import { PackPaths } from '../../../src/git/search/pack-paths.ts';
import { SearchedNames } from '../../../src/git/search/searched-names.ts';
import { commitContent, treeContent } from '../../support/objects.ts';
import {
  copyInstruction,
  deltaSize,
  type Entry,
  insertInstructions,
  makeDelta,
  oidOf,
} from '../../support/pack-builder.ts';
import { blob, linesOf, NAME, searched } from '../../support/pack-searching.ts';
import { LIKELY } from '../../support/made-up-credentials.ts';
import { exifSegment, jpeg, png, tiff } from '../../support/pictures.ts';
import { runs } from '../../support/runs.ts';
import { CountedMemory } from '../../support/counted-memory.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const SEEDS = [['one piece', null] as const, ['pieces', 1] as const, ['other pieces', 77] as const];
const FILLER = 'words that stay as they are, line after line\n'.repeat(4);
const around = (line: string) => Buffer.from(`${FILLER}${line}\n${FILLER}`);

/** A delta of an object of upstream. */
const refDelta = (base: Uint8Array, result: Uint8Array, type: 'blob' | 'tree' = 'blob'): Entry => ({
  type: 'ref-delta',
  base: oidOf(type, base),
  delta: makeDelta(base, result),
});
const ofsDelta = (base: number, before: Uint8Array, result: Uint8Array): Entry => ({
  type: 'ofs-delta',
  base,
  delta: makeDelta(before, result),
});

describe.each(SEEDS)('a pack in %s', (_, seed) => {
  it('is found out by its files, whatever stands around a name', async () => {
    const found = await searched([blob(NAME), blob(`one\nby ${NAME}.\ntwo\n`), blob('nobody\n'), blob('')], {
      seed,
    });
    expect(linesOf(found)).toEqual([NAME, `by ${NAME}.`]);
    expect(found.askedBases).toEqual([]);
  });

  it('is found out by the names of files', async () => {
    const content = treeContent([
      { name: 'a', oid: oidOf('blob', Buffer.from('1')) },
      { name: `by ${NAME}.txt`, oid: oidOf('blob', Buffer.from('')) },
    ]);
    const { hits } = await searched([{ type: 'tree', content }], { seed });
    expect(hits.map(({ kind, excerpt }) => [kind, Buffer.from(excerpt).toString()])).toEqual([
      ['name', `by ${NAME}.txt`],
    ]);
  });

  it('is found out by what a delta inserts, and not by what it copies', async () => {
    const base = around(`by ${NAME}.`);
    const untouched = Buffer.concat([base, Buffer.from('and nobody\n')]);
    const other = Buffer.concat([base, Buffer.from(`and <${NAME}>\n`)]);
    const found = await searched([refDelta(base, untouched), refDelta(base, other)], { seed });
    expect(linesOf(found)).toEqual([`and <${NAME}>`]);
  });

  it('has its commits left to whoever reads messages', async () => {
    const found = await searched([{ type: 'commit', content: commitContent({ message: NAME }) }], { seed });
    expect(found.hits).toEqual([]);
  });
});

const folderWith = (file: Uint8Array) => treeContent([{ name: 'a.c', oid: oidOf('blob', file) }]);
const rootWith = (file: Uint8Array) =>
  Buffer.concat([Buffer.from('40000 src\0'), Buffer.from(oidOf('tree', folderWith(file)), 'hex')]);

describe('a hit', () => {
  it('names the path of the file, folders included', async () => {
    const file = Buffer.from(`by ${NAME}\n`);
    const inner = treeContent([{ name: 'a.c', oid: oidOf('blob', file) }]);
    const outer = Buffer.concat([Buffer.from('40000 src\0'), Buffer.from(oidOf('tree', inner), 'hex')]);
    const trees = [outer, inner].map((content): Entry => ({ type: 'tree', content }));
    const { hits } = await searched([...trees, blob(file)]);
    expect(hits.map(({ paths }) => paths[0] ?? null)).toEqual(['src/a.c']);
  });

  it('names the path where folders and file are deltas of upstream', async () => {
    const [before, after] = [around('nobody'), around(`by ${NAME}`)];
    const entries = [
      refDelta(rootWith(before), rootWith(after), 'tree'),
      refDelta(folderWith(before), folderWith(after), 'tree'),
      refDelta(before, after),
    ];
    const { hits } = await searched(entries, { bases: [before, folderWith(before), rootWith(before)] });
    expect(hits.map(({ paths }) => paths[0] ?? null)).toEqual(['src/a.c']);
  });

  it('knows the name of a new file also from a delta of its folder', async () => {
    const file = Buffer.from(`by ${NAME}\n`);
    const before = treeContent(
      Array.from({ length: 9 }, (_, at) => ({ name: `f${at}`, oid: oidOf('blob', Buffer.from([at])) })),
    );
    const entry = Buffer.concat([Buffer.from('100644 zz.c\0'), Buffer.from(oidOf('blob', file), 'hex')]);
    const { hits } = await searched([refDelta(before, Buffer.concat([before, entry]), 'tree'), blob(file)]);
    expect(hits.map(({ paths }) => paths[0] ?? null)).toEqual(['zz.c']);
  });

  it('shows a short part of a long line, wherever the bytes were cut', async () => {
    const text = `${'x'.repeat(5_000)} ${NAME} ${'y'.repeat(5_000)}`;
    await fc.assert(
      fc.asyncProperty(fc.nat(9_999), async (seed) => {
        const [line] = linesOf(await searched([blob(text)], { seed }));
        expect(line).toContain(NAME);
        expect(line?.length).toBeLessThan(160);
      }),
      runs(20),
    );
  });

  it('is one of so many, and no more', async () => {
    const files = Array.from({ length: 30 }, (_, at) => blob(`${at} ${NAME}\n`));
    expect((await searched(files, { maxHits: 7 })).hits).toHaveLength(7);
  });

  it('beyond those that are compared costs nothing more, and this is said', async () => {
    const spansIn = vi.spyOn(SearchedNames.prototype, 'spansIn');
    const files = Array.from({ length: 30 }, (_, at) => blob(`${at}\n${`${NAME}\n`.repeat(500)}`));
    const found = await searched(files);
    expect([found.hits.length, found.isComplete]).toEqual([10, false]);
    expect(spansIn).toHaveBeenCalledTimes(2);
    spansIn.mockRestore();
  });

  it('in a file that is too large to be kept is shown, with its path', async () => {
    const file = Buffer.concat([Buffer.alloc(5_000_000, 'x\n'), Buffer.from(`by ${NAME}`)]);
    const tree: Entry = { type: 'tree', content: treeContent([{ name: 'big', oid: oidOf('blob', file) }]) };
    const found = await searched([tree, blob(file)]);
    expect(linesOf(found)).toEqual([`by ${NAME}`]);
    expect(found.hits[0]?.paths[0]).toBe('big');
  });
});

it('counts what it inflates, piece by piece, so that others may go on', async () => {
  const memory = new CountedMemory();
  const steps: number[] = [];
  memory.worked = async (bytes) => void steps.push(bytes);
  const zeros = Buffer.alloc(9_000_000);
  await searched([blob(zeros), { type: 'tree', content: folderWith(zeros) }], { memory });
  const sum = steps.reduce((all, bytes) => all + bytes, 0);
  // Once, to be searched and for its id.
  expect(sum).toBeGreaterThan(zeros.length);
  expect(sum).toBeLessThan(1.1 * zeros.length);
  expect(Math.max(...steps)).toBeLessThan(5_000_000);
});

it('counts each object besides its bytes, because thousands of them may be empty', async () => {
  const memory = new CountedMemory();
  const empty = Array.from({ length: 4_000 }, () => blob(''));
  await searched(empty, { memory });
  expect(memory.workedBytes).toBeGreaterThan(256 * empty.length);
});

it('names that no file system takes are not remembered', async () => {
  const [file, other] = [Buffer.from(`1 ${NAME}`), Buffer.from(`2 ${NAME}`)];
  const content = treeContent([
    { name: 'a'.repeat(60_000), oid: oidOf('blob', file) },
    { name: 'short', oid: oidOf('blob', other) },
  ]);
  const { hits } = await searched([{ type: 'tree', content }, blob(file), blob(other)]);
  expect(hits.map(({ paths }) => paths[0] ?? null)).toEqual([null, 'short']);
});

describe('a submodule', () => {
  const tree = Buffer.concat([Buffer.from('160000 lib\0'), Buffer.alloc(20, 7)]);
  const before = treeContent([{ name: 'a', oid: oidOf('blob', Buffer.from('1')) }]);

  it.each<[where: string, entry: Entry, isSeen: boolean]>([
    ['in a folder', { type: 'tree', content: tree }, true],
    ['in a new entry of a folder', refDelta(before, Buffer.concat([before, tree]), 'tree'), true],
    ['not in a file', blob('160000 lib\0 is how a folder names it'), false],
  ])('is seen %s', async (_, entry, isSeen) => {
    const { hasGitlinks, hits, isComplete } = await searched([entry]);
    expect({ hasGitlinks, hits, isComplete }).toEqual({ hasGitlinks: isSeen, hits: [], isComplete: true });
  });

  it('that is one of the push’s own commits is found', async () => {
    const id = '07'.repeat(20);
    const { hits } = await searched([{ type: 'tree', content: tree }], { originalIds: [id] });
    expect(hits.map(({ kind }) => kind)).toEqual(['name']);
  });
});

describe('what a delta inserts', () => {
  const WHITE = { author: 'Paul White <paul@x.example>' };
  const [black, white] = [around('color: black;'), around('color: white;')];

  it('counts only as a part of the whole file, where that is known', async () => {
    const found = await searched([refDelta(black, white)], { ...WHITE, bases: [black] });
    expect([found.hits, found.isComplete]).toEqual([[], true]);
    expect(found.askedBases).toEqual([new Map([[oidOf('blob', black), black.length]])]);
  });

  it('counts as it is where the host does not send the file, if it is a whole name', async () => {
    const named = around('by Paul White;');
    const found = await searched([refDelta(around(''), named), refDelta(black, white)], WHITE);
    expect([linesOf(found), found.isComplete]).toEqual([['by Paul White;'], false]);
  });

  it('counts where the whole file has the name', async () => {
    const [before, after] = [around('by Paul Black;'), around('by Paul White;')];
    const found = await searched([refDelta(before, after)], { ...WHITE, bases: [before] });
    expect(linesOf(found)).toEqual(['by Paul White;']);
  });

  it('is not searched, and this is said, where little of a name is new and the host does not send the file', async () => {
    const [before, after] = [around('by Paul Whit;'), around('by Paul White;')];
    const unknown = await searched([refDelta(before, after)], WHITE);
    expect([unknown.hits, unknown.isComplete]).toEqual([[], false]);
    const known = await searched([refDelta(before, after)], { ...WHITE, bases: [before] });
    expect([linesOf(known), known.isComplete]).toEqual([['by Paul White;'], true]);
  });

  it('keeps nobody from searching whole files', async () => {
    const base = around('');
    const parts = Array.from({ length: 30 }, (_, at) => refDelta(base, around(`${at} Paul White`)));
    const found = await searched([...parts, blob('by Paul White')], { ...WHITE, maxHits: 100 });
    expect(linesOf(found)).toHaveLength(31);
    expect(linesOf(found)).toContain('by Paul White');
  });
});

it('a small change of a large file waits for memory, and gives it back', async () => {
  const long = 'x'.repeat(200_000);
  const [before, after] = [around(`${long} by Ada Lovelac`), around(`${long} by Ada Lovelace`)];
  const memory = new CountedMemory((bytes, isNow) => {
    if (isNow) throw new Error(`no room for ${bytes}`);
  });
  const found = await searched([refDelta(before, after)], { bases: [before], memory });
  expect(found.hits).toHaveLength(1);
  expect(memory.mostBytes).toBeGreaterThan(2 * before.length);
  expect(memory.bytes).toBe(0);
});

const foundIn = async (before: string, after: string) => {
  const [base, result] = [Buffer.from(before), Buffer.from(after)];
  return linesOf(await searched([blob(base), ofsDelta(0, base, result)]));
};

describe('a search of what deltas make', () => {
  it.each([
    ['in a text that is new', FILLER, `${FILLER}by ${NAME}\n`],
    ['of which one letter is new', `${FILLER}Ada Lov lace`, `${FILLER}Ada Lovelace`],
    ['at the end of a file', FILLER, `${FILLER}${NAME}`],
  ])('finds a name %s', async (_, before, after) => {
    expect(await foundIn(before, after)).toHaveLength(1);
  });

  it('finds a name that is put together from what is there', async () => {
    const base = Buffer.from(`Lovelace\n${FILLER}by Ada `);
    const delta = Buffer.concat([
      deltaSize(base.length),
      deltaSize(15),
      copyInstruction(base.length - 7, 7),
      copyInstruction(0, 8),
    ]);
    const own = await searched([blob(base), { type: 'ofs-delta', base: 0, delta }]);
    expect(linesOf(own)).toEqual([`by ${NAME}`]);
    const thin: Entry[] = [{ type: 'ref-delta', base: oidOf('blob', base), delta }];
    expect(linesOf(await searched(thin, { bases: [base] }))).toEqual([`by ${NAME}`]);
  });

  it.each([
    ['that was there', `${FILLER}by ${NAME}\n`, `${FILLER}by ${NAME}\nmore\n`],
    ['behind which something else follows', `${FILLER}by ${NAME}\n`, `${FILLER}by ${NAME}, Bob\n`],
  ])('does not find a name %s', async (_, before, after) => {
    const [line] = await foundIn(before, after);
    // Only in the whole file, not once more in the delta.
    expect([line, (await foundIn(before, after)).length]).toEqual([`by ${NAME}`, 1]);
  });
});

const step = (base: Uint8Array) => Buffer.concat([base, Buffer.from('quiet\n')]);
const wanted = (base: Uint8Array) => Buffer.concat([base, Buffer.from('lace\n')]);

describe('bases', () => {
  const [one, two] = [Buffer.from('the first file, Ada Love'), around('the second file')];

  it('are asked for all together if one delta needs them, so that nobody learns which, and not otherwise', async () => {
    const quiet = [refDelta(one, step(one)), refDelta(two, step(two))];
    expect((await searched(quiet)).askedBases).toEqual([]);
    const result = wanted(step(one));
    const { askedBases } = await searched([...quiet, ofsDelta(0, step(one), result)]);
    expect(askedBases).toEqual([
      new Map([
        [oidOf('blob', one), one.length],
        [oidOf('blob', two), two.length],
      ]),
    ]);
  });

  it('are not asked for where the pack has them', async () => {
    const { askedBases, isComplete } = await searched([blob(two), ofsDelta(0, two, wanted(two))]);
    expect([askedBases, isComplete]).toEqual([[], true]);
  });

  it('are left out where they are too large', async () => {
    const large = Buffer.alloc(3_000_000, 'x');
    const entries = [refDelta(large, wanted(large)), refDelta(two, wanted(two))];
    const { askedBases, isComplete } = await searched(entries, { bases: [large, two] });
    expect(askedBases).toEqual([new Map([[oidOf('blob', two), two.length]])]);
    expect(isComplete).toBe(false);
  });

  it('are never new objects of a client that names its own by ids', async () => {
    const more = step(two);
    const entries = [
      refDelta(one, wanted(one)),
      refDelta(more, wanted(more)),
      refDelta(two, more),
      blob(two),
    ];
    const { askedBases, isComplete } = await searched(entries);
    expect([askedBases, isComplete]).toEqual([[], false]);
  });

  it('are never new objects that stand on upstream’s, of a client that names its own by ids', async () => {
    const more = step(two);
    const entries = [refDelta(one, wanted(one)), refDelta(two, more), refDelta(more, wanted(more))];
    for (const order of [entries, entries.toReversed()]) {
      const { askedBases, isComplete } = await searched(order, { bases: [one, two] });
      expect([askedBases, isComplete]).toEqual([[], false]);
    }
  });

  it('are found by their ids in the pack, in any order, through any number of deltas', async () => {
    const versions = [around('by Ada'), around('by Ada Love'), around('by Ada Lovela'), around(`by ${NAME}`)];
    const deltas = versions.slice(1).map((version, at) => refDelta(versions[at] as Buffer, version));
    const entries = [...deltas, blob(versions[0] as Buffer)];
    for (const order of [entries, entries.toReversed()]) {
      const found = await searched(order);
      expect([linesOf(found), found.isComplete]).toEqual([[`by ${NAME}`], true]);
    }
  });

  it('that do not fit their delta are a damaged pack', async () => {
    const entries: Entry[] = [blob('short'), ofsDelta(0, two, wanted(two))];
    await expect(searched(entries)).rejects.toThrow('malformed delta');
  });
});

it('a chain of thousands of deltas ends, and says what it did not search', async () => {
  const base = Buffer.alloc(20_000, 'x\n');
  const entries: Entry[] = [blob(base)];
  for (let at = 0; at < 3_000; at++) entries.push(ofsDelta(at, base, base));
  const last = Buffer.concat([base, Buffer.from('e')]);
  entries.push(ofsDelta(3_000, base, last));
  expect((await searched(entries)).isComplete).toBe(false);
});

it.each<[what: string, base: Entry, most: number]>([
  ['a missing object', refDelta(Buffer.from('unknown'), Buffer.from('same')), 3_000],
  ['one that is too large', blob(Buffer.alloc(5_000_000, 'x\n')), 24_000],
])('a chain of deltas on %s is not read for each one that needs it', async (_, base, most) => {
  const copied = Buffer.from('same');
  const entries = [base];
  for (let at = 0; at < 500; at++) entries.push(ofsDelta(at, copied, copied));
  for (let at = 0; at < 200; at++) entries.push(ofsDelta(500, copied, Buffer.from('samee')));
  const walk = vi.spyOn(EntryWalker.prototype, 'walk');
  const { isComplete } = await searched(entries);
  expect(walk.mock.calls.length).toBeLessThan(most);
  expect(isComplete).toBe(false);
  walk.mockRestore();
});

it('a pack that cannot be read often is searched as far as it can be, and what is surely there is found', async () => {
  const [before, after] = [around('by Ada Lov lace'), around(`by ${NAME}`)];
  const entries = [blob(before), ...Array.from({ length: 9 }, () => ofsDelta(0, before, after))];
  expect((await searched(entries, { maxReads: 10 })).hits).toHaveLength(9);
  const cut = await searched([...entries, blob(`see ${NAME}`)], { maxReads: 5 });
  expect(cut.isComplete).toBe(false);
  expect(linesOf(cut)).toContain(`see ${NAME}`);
});

it('packs of millions of tiny inserts are searched in one go', exhaustive, async () => {
  const base = Buffer.alloc(1_000, 'x');
  const copy = Buffer.from([0x90, 1]);
  const delta = Buffer.concat([
    Buffer.from(makeDelta(base, Buffer.alloc(500_000, 'q'))).subarray(0, 5),
    ...Array.from({ length: 250_000 }, () => Buffer.concat([Buffer.from([1, 0x61]), copy])),
  ]);
  // Looking again from the beginning for each of them would take minutes.
  const found = await searched([{ type: 'ref-delta', base: oidOf('blob', base), delta }]);
  expect(found.isComplete).toBe(false);
});

describe('names in deltas of unknown objects', () => {
  const base = oidOf('blob', Buffer.from('unknown'));
  const inserting = (bytes: number, ...instructions: readonly Uint8Array[]): Entry => {
    const sizes = Buffer.concat([deltaSize(7), deltaSize(bytes)]);
    return { type: 'ref-delta', base, delta: Buffer.concat([sizes, ...instructions]) };
  };

  it('are read only where the delta is no larger than a folder', async () => {
    const addEntries = vi.spyOn(PackPaths.prototype, 'addEntries');
    const tiny = Buffer.alloc(600_000, Buffer.from([0x80, 1, 0x41]));
    await searched([inserting(1, tiny)]);
    expect(addEntries).not.toHaveBeenCalled();
    addEntries.mockRestore();
  });

  it('are read until there are enough', async () => {
    const deltaAt = vi.spyOn(PackedObjects.prototype, 'deltaAt');
    const names = Array.from({ length: 4_100 }, (_, at) =>
      insertInstructions(Buffer.concat([Buffer.from(`100644 ${at}\0`), Buffer.alloc(20, `${at}`)])),
    );
    const { files } = await searched([
      inserting(1, ...names),
      ...Array.from({ length: 9 }, (_, at) => inserting(at, insertInstructions(Buffer.from('x')))),
    ]);
    expect(files).toHaveLength(4_000);
    expect(deltaAt).toHaveBeenCalledTimes(1);
    deltaAt.mockRestore();
  });
});

const treeEntry = (mode: string, name: string, oid: string) =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]);

it('paths of many names below many long ones are made up to a limit, and only once for each file', async () => {
  const file = Buffer.from(`by ${NAME}\n`.repeat(20));
  const names = Array.from({ length: 3_000 }, (_, at) => treeEntry('100644', `${at}`, oidOf('blob', file)));
  const folders = [Buffer.concat(names)];
  for (let depth = 0; depth < 48; depth++)
    folders.push(
      treeEntry('40000', `${depth}`.padEnd(255, 'x'), oidOf('tree', folders[depth] ?? Buffer.alloc(0))),
    );
  const pathsOf = vi.spyOn(PackPaths.prototype, 'pathsOf');
  const memory = new CountedMemory();
  const found = await searched(
    [blob(file), ...folders.map((content): Entry => ({ type: 'tree', content }))],
    {
      memory,
    },
  );
  const paths = [...(found.files ?? []), ...found.paths];
  expect(linesOf(found)).toHaveLength(10);
  expect(paths.join('').length).toBeLessThan(3 * 1024 * 1024);
  expect(paths.join('').length).toBeGreaterThan(100_000);
  expect(memory.workedBytes).toBeGreaterThan(paths.join('').length);
  // Once for all hits, for new files and for all paths.
  expect(pathsOf.mock.calls.filter(([oid]) => oid === oidOf('blob', file))).toHaveLength(3);
  pathsOf.mockRestore();
});

const folder = (path: string, file: Uint8Array): Entry => ({
  type: 'tree',
  content: treeContent([
    { name: path, oid: oidOf('blob', file) },
    { name: 'new', oid: oidOf('blob', Buffer.from('new\n')) },
  ]),
});

const LICENSED = `(c) 2025 ${NAME} and others`;
const pushed = (text: string): Entry[] => [folder('LICENSE', Buffer.from(text)), blob(text), blob('new\n')];

describe('a client that sends whole files', () => {
  it('publishes no line that upstream’s version of the file has, be it with other blanks around', async () => {
    const found = await searched(pushed(`  ${LICENSED}\r\nmore\n`), {
      upstream: { LICENSE: `${LICENSED}\n` },
    });
    expect([found.hits, found.isComplete]).toEqual([[], true]);
  });

  it.each<[what: string, upstream: Readonly<Record<string, string>>]>([
    ['that another file has', { COPYING: LICENSED }],
    ['that upstream has in other words', { LICENSE: LICENSED.replace('2025', '2024') }],
    ['that upstream has no file for', {}],
  ])('does publish one %s', async (_, upstream) => {
    expect(linesOf(await searched(pushed(`${LICENSED}\n`), { upstream }))).toEqual([LICENSED]);
  });

  it('is told of the new line among many that upstream has', async () => {
    const lines = Array.from({ length: 50 }, (_, at) => `${at} by ${NAME}`);
    const found = await searched(pushed([...lines, `new by ${NAME}`].join('\n')), {
      upstream: { LICENSE: lines.join('\n') },
    });
    expect(linesOf(found)).toEqual([`new by ${NAME}`]);
  });

  it('has upstream asked for all its files, and for no path that names somebody', async () => {
    const named = Buffer.from(`by ${NAME}\n`);
    const { askedPaths } = await searched([
      ...pushed('nobody\n'),
      folder('ada-lovelace.txt', named),
      blob(named),
    ]);
    expect(askedPaths).toEqual([['', 'LICENSE', 'new']]);
  });

  it('has upstream asked for nothing where nothing is found', async () => {
    const { askedPaths, askedBases } = await searched(pushed('nobody\n'));
    expect([askedPaths, askedBases]).toEqual([[], []]);
  });

  it('publishes no name of a file that upstream has, but new ones, and the id of its own commit', async () => {
    const id = '0123abcdef0123abcdef0123abcdef0123abcdef';
    const [old, other] = [oidOf('blob', Buffer.from('1')), oidOf('blob', Buffer.from('2'))];
    const content = treeContent([
      { name: `${NAME}.md`, oid: old },
      { name: `${NAME}.txt`, oid: other },
      { name: 'nested', oid: id },
    ]);
    const before = treeContent([
      { name: `${NAME}.md`, oid: other },
      { name: 'nested', oid: old },
    ]);
    const found = await searched([{ type: 'tree', content }], {
      originalIds: [id],
      upstreamFolders: { '': before },
    });
    expect(linesOf(found)).toEqual([`${NAME}.txt`, 'nested']);
  });
});

describe('what is noted on the way', () => {
  const HOME = 'built in /home/ada/src';

  it('are home folders, in files and in what deltas insert, without a question', async () => {
    const base = around('nothing');
    const found = await searched([blob(around(HOME)), refDelta(base, around('now C:\\Users\\ada\\x'))]);
    expect(found.homeFolders.map(({ home }) => home)).toEqual(['/home/ada', 'C:\\Users\\ada']);
    expect([found.hits, found.isComplete, found.askedBases]).toEqual([[], true, []]);
    const copied = await searched([refDelta(around(HOME), around(`${HOME}\nand more`))], {
      bases: [around(HOME)],
    });
    expect([copied.homeFolders, copied.hits, copied.isComplete]).toEqual([[], [], true]);
  });

  it('are looked at up to a limit, so that a pack full of them costs little', async () => {
    const many = Array.from({ length: 5_000 }, (_, at) => `/home/p${at}/\n`).join('');
    const found = await searched([blob(many), blob(NAME)]);
    expect([found.homeFolders.length, linesOf(found)]).toEqual([1_000, [NAME]]);
  });

  it('are the paths of new files, and not of the others in their folders', async () => {
    const files = ['one', 'two'].map((text) => Buffer.from(text));
    const sub = treeContent(files.map((content, at) => ({ name: `${at}.png`, oid: oidOf('blob', content) })));
    const root = treeContent([
      { name: 'img', oid: oidOf('tree', sub) },
      { name: 'old.png', oid: oidOf('blob', Buffer.from('old')) },
    ]);
    const entries = [root, sub].map((content): Entry => ({ type: 'tree', content }));
    const { files: paths } = await searched([...entries, ...files.map((content) => blob(content))]);
    expect(paths).toEqual(['img/0.png', 'img/1.png']);
  });

  it('are all names of a content, also if upstream has it under another one', async () => {
    const [old, copy] = [Buffer.from('old'), Buffer.from('new')];
    const root = treeContent([
      { name: '.DS_Store', oid: oidOf('blob', old) },
      { name: 'a.txt', oid: oidOf('blob', copy) },
      { name: 'b.txt', oid: oidOf('blob', copy) },
      { name: 'kept.txt', oid: oidOf('blob', Buffer.from('kept')) },
      { name: 'readme', oid: oidOf('blob', old) },
    ]);
    const { files } = await searched([{ type: 'tree', content: root }, blob(copy)]);
    expect(files).toEqual(['a.txt', 'b.txt', '.DS_Store', 'readme']);
  });

  it('are names that a delta inserts, also if it copies the id', async () => {
    const before = treeContent(
      ['a', 'b', 'c'].map((name) => ({ name, oid: oidOf('blob', Buffer.from(name)) })),
    );
    const id = before.indexOf(oidOf('blob', Buffer.from('a')), 0, 'hex');
    const name = Buffer.from('100644 d.swp\0');
    const delta = Buffer.concat([
      deltaSize(before.length),
      deltaSize(before.length + name.length + 20),
      copyInstruction(0, before.length),
      Buffer.from([name.length]),
      name,
      copyInstruction(id, 20),
    ]);
    const { files } = await searched([{ type: 'ref-delta', base: oidOf('tree', before), delta }]);
    expect(files).toEqual(['d.swp']);
  });

  it('are pictures in a large pack, too, whose paths are not known', exhaustive, async () => {
    const noise = Buffer.concat(Array.from({ length: 20 }, () => randomBytes(60_000)));
    const text = Buffer.from(noise.map((byte: number) => byte | 1));
    const picture = Buffer.concat([png(), Buffer.from(noise)]);
    const found = { files: null, opaque: [{ kind: 'PNG picture', path: null, tells: [] }] };
    expect(await searched([blob(picture)])).toMatchObject(found);
    expect(await searched([blob(text)])).toMatchObject({ files: null, opaque: [] });
  });
});

const likely = (count: number) => `${LIKELY['in an address']?.()}\n`.repeat(count);

describe('what only looks like a credential', () => {
  it('leaves room for a name, however much of it there is', async () => {
    const { hits } = await searched([blob(likely(50)), blob(`${likely(20)}by ${NAME}\n`)]);
    expect(hits.map(({ credential }) => credential === null)).toEqual([
      true,
      ...Array.from({ length: 9 }, () => false),
    ]);
  });

  it('leaves room for a name in what cannot be resolved, too', async () => {
    const base = around('nobody');
    const { hits } = await searched([
      refDelta(base, Buffer.concat([base, Buffer.from(`${likely(9)}by ${NAME}.\n`)])),
    ]);
    expect(hits.some(({ credential }) => credential === null)).toBe(true);
  });
});

describe('files that a search of bytes does not read', () => {
  const photo = jpeg(exifSegment(tiff({ 0x013b: 'Ada Lovelace' })));

  it('are told by their first bytes, whatever they are called and in whatever pieces they come', async () => {
    const tree = treeContent([{ name: 'notes.txt', oid: oidOf('blob', photo) }]);
    for (const seed of [null, 1, 77]) {
      const { opaque } = await searched([{ type: 'tree', content: tree }, blob(photo)], { seed });
      expect(opaque).toEqual([
        {
          kind: 'JPEG picture',
          path: 'notes.txt',
          tells: ['has Exif data, perhaps a place', 'author Ada Lovelace'],
        },
      ]);
    }
  });

  it('are told if they are changed, too, also where their name is not known', async () => {
    const [before, after] = [folderWith(Buffer.from('old')), folderWith(photo)];
    const { opaque } = await searched([refDelta(before, after, 'tree'), blob(photo)]);
    expect(opaque).toEqual([
      { kind: 'JPEG picture', path: null, tells: ['has Exif data, perhaps a place', 'author Ada Lovelace'] },
    ]);
  });

  it('are remembered up to a hundred', async () => {
    const { opaque } = await searched(
      Array.from({ length: 300 }, (_, at) => blob(Buffer.concat([png(), Buffer.from([at])]))),
    );
    expect(opaque).toHaveLength(100);
  });
});

function refuseAll(faults: readonly Fault[]): never {
  throw new Error(faults.map(([id]) => id).join());
}

it('has its folders judged before upstream is asked for anything', async () => {
  const base = around('nobody');
  const entries: Entry[] = [
    refDelta(base, around(`by ${NAME}`)),
    { type: 'tree', content: treeContent([{ name: '.git', oid: oidOf('blob', base) }]) },
  ];
  const memory = new CountedMemory();
  const onBases = vi.fn();
  await expect(searched(entries, { judgeFolders: refuseAll, onBases, memory })).rejects.toThrow(
    /^hasDotgit$/,
  );
  expect(onBases).not.toHaveBeenCalled();
  await searched(entries, { onBases });
  expect(onBases).toHaveBeenCalled();
  expect(memory.bytes).toBe(0);
});

it('tells that new files are missing where their names are longer than are remembered', () => {
  const paths = new PackPaths(new Set());
  const offset = 12;
  const add = (name: string) => {
    const tree = treeEntry('100644', name, oidOf('blob', Buffer.from(name)));
    paths.add({ type: 'tree', oid: oidOf('tree', tree), offset, size: tree.length, isWhole: true, tree });
  };
  for (let at = 0; at < 900; at++) add(`${at}`.padEnd(200, 'x'));
  expect(paths.isCut).toBe(false);
  for (let at = 900; at < 999; at++) add(`${at}`.padEnd(200, 'x'));
  expect(paths.isCut).toBe(true);
});
