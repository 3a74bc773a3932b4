/** Faults that Git's own check refuses; that Git agrees is proved in test/e2e/push/fsck.test.ts. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import { FolderCheck, faultsOfGitmodules, faultsOfTree } from '../../../src/git/pack/fsck.ts';
import { PackIndex } from '../../../src/git/pack/pack-index.ts';
import { PackedObjects } from '../../../src/git/pack/packed-objects.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { treeContent } from '../../support/objects.ts';
import { buildPack, type Entry, oidOf } from '../../support/pack-builder.ts';
import { filesOnly } from '../../support/stored-pack.ts';
import { workOf } from '../../support/work-meter.ts';
import { runs } from '../../support/runs.ts';

const gitmodules = (url: string): string[] => [
  ...faultsOfGitmodules(Buffer.from(`[submodule "a"]\n\tpath = a\n\turl = ${url}\n`)),
];

describe('the address of a submodule', () => {
  it.each([
    ['https://github.com:owner/name.git', 'halfUrl'],
    ['https://me@github.com:owner/name.git', 'halfUrl'],
    ['-u./payload', 'gitmodulesUrl'],
    ['https://git.example/a%0ahost=x', 'gitmodulesUrl'],
  ])('%s is none', (url, fault) => {
    expect(gitmodules(url)).toEqual([fault]);
  });

  it.each([
    '../a',
    './a/../b',
    'git@github.com:owner/name.git',
    'ssh://git@github.com:22/owner/name',
    'https://git.example:8443/a',
    'https://user:secret@git.example/a',
    'https://[2001:db8::1]:8443/a',
    'file:///srv/a',
  ])('%s is one', (url) => {
    expect(gitmodules(url)).toEqual([]);
  });
});

it('leaves to the host what Git reads otherwise, and looks into no other section', () => {
  for (const line of ['url = "-a"', 'url = a\\\n-b', '; url = -a', '# path = -a', '[other]\npath = -a'])
    expect([...faultsOfGitmodules(Buffer.from(`[submodule "a"]\n${line}\n`))]).toEqual([]);
  expect([...faultsOfGitmodules(Buffer.from('[submodule "../a"]\n'))]).toEqual([]);
});

it('reads any bytes, and a megabyte of them at once', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void faultsOfGitmodules(bytes)),
    runs(100),
  );
  const piece = fc.constantFrom(
    '[submodule "',
    '"]\n',
    'url = ',
    'https://',
    ':',
    '@',
    ' ',
    '\n',
    '%0a',
    '..',
    '/',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(3), (pieces, at) => {
      const many = (pieces[at] ?? ' ').repeat(100_000);
      const text = [...pieces.slice(0, at), many, ...pieces.slice(at)].join('');
      faultsOfGitmodules(Buffer.from(text));
    }),
    runs(30),
  );
});

it('finds each fault of a folder once', () => {
  const oid = 'ab'.repeat(20);
  const entry = (name: string) => ({ mode: '100644', name: Buffer.from(name), oid });
  const names = ['b', 'a', 'a', '.git', '.Git', 'x/y', 'n'.repeat(4_097)];
  expect([...faultsOfTree(names.map(entry))]).toEqual([
    'treeNotSorted',
    'duplicateEntries',
    'hasDotgit',
    'fullPathname',
    'largePathname',
  ]);
});

/** Each kind of line that a pattern reads, and lines without end. */
const LINES = [
  '\n',
  '[',
  '[\n',
  '[submodule "a"]\n',
  '[submodule "a"]\nurl=https://a:b\n',
  'url = https://a:b\n',
  'path=-a\n',
  'a=b\n',
  '=',
  ' ',
  'a',
];

function describeGitmodulesOf(bytes: number): void {
  it.each(LINES)('is looked at a bounded number of times if it is full of %j', async (line) => {
    const files = Array.from({ length: 3 }, (_, at) =>
      Buffer.from(`[submodule "${at}"]\n${line.repeat(bytes)}`),
    );
    const entries = files.flatMap((whole): Entry[] => {
      const content = whole.subarray(0, bytes);
      const folder = treeContent([{ name: '.gitmodules', oid: oidOf('blob', content) }]);
      return [
        { type: 'tree', content: folder },
        { type: 'blob', content },
      ];
    });
    const pack = filesOnly(buildPack(entries).bytes);
    const objects = new PackedObjects(pack, UNCOUNTED);
    const { looks, bytes: decoded } = await workOf(async () => {
      const folders = new FolderCheck();
      const index = await PackIndex.of(pack, objects, (object) => folders.add(object));
      await index.resolve();
      await folders.readGitmodules(objects);
    });
    expect(looks).toBeLessThan(1_000_000);
    expect(decoded).toBeLessThan(1_000_000);
  });
}

it('reads the name of a submodule once, however many settings it has', async () => {
  for (const name of ['x'.repeat(64_000), `../${'x'.repeat(64_000)}`]) {
    const text = `[submodule "${name}"]\n${'a=b\n'.repeat(15_000)}`;
    const { characters } = await workOf(() => faultsOfGitmodules(Buffer.from(text)));
    expect(characters).toBeLessThan(10 * text.length);
  }
});

describe('a file of submodules of 100,000 bytes', () => describeGitmodulesOf(100_000));
describe('a file of submodules of four megabytes', exhaustive, () => describeGitmodulesOf(4_000_000));
