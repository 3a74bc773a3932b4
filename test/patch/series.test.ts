/** Files of upstream that a series of mails reads, and memory that it claims before it is used. */
import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/git/bytes.ts';
import type { Memory } from '../../src/git/memory.ts';
import { hashObject, type Oid, type ObjectType } from '../../src/git/objects/oid.ts';
import { encodeTree, FILE_MODE } from '../../src/git/objects/tree.ts';
import { readMails } from '../../src/patch/mails.ts';
import { seriesOn } from '../../src/patch/series.ts';
import type { ReadObjects } from '../../src/upstream/tree-reader.ts';

const CHANGE = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n';
const mail = (diff: string) => `From: A <a@home.example>\nSubject: x\n\n---\n\n${diff}`;
const series = (...diffs: string[]): string =>
  diffs.map((diff) => `From ${'a'.repeat(40)} Mon Sep 17 00:00:00 2001\n${mail(diff)}`).join('');

const lineChange = (name: string, old: string) =>
  `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${old}\n+z\n`;

/** Applies a patch to files. Answers which of them were read, and all claims. */
async function run(patch: string, files: Readonly<Record<string, string>>) {
  const objects = new Map<Oid, { type: ObjectType; content: Uint8Array }>();
  const names = new Map<Oid, string>();
  const entries = Object.entries(files).map(([name, text]) => {
    const oid = hashObject('blob', utf8(text));
    names.set(oid, name);
    objects.set(oid, { type: 'blob', content: utf8(text) });
    return { mode: FILE_MODE, name: utf8(name), oid };
  });
  const tree = hashObject('tree', encodeTree(entries));
  objects.set(tree, { type: 'tree', content: encodeTree(entries) });
  const asked: Oid[] = [];
  const read: ReadObjects = async ({ wants }) => {
    asked.push(...wants);
    return new Map(wants.map((oid) => [oid, { oid, ...objects.get(oid)! }]));
  };
  const claims: number[] = [];
  const set = async (bytes: number) => void claims.push(bytes);
  const memory: Memory = {
    claim: () => ({ bytes: 0, set, setNow: (bytes) => void claims.push(bytes) }),
    isShort: false,
    worked: async () => {},
  };
  const ports = { read, memory, write: async () => {} };
  const bytes = utf8(patch);
  await seriesOn({ tip: '1'.repeat(40), tree, committedAt: 1 }, bytes, readMails(bytes), ports);
  return { read: asked.flatMap((oid) => names.get(oid) ?? []), claims };
}

describe('a series', () => {
  it('claims what each file needs before it is made', async () => {
    const { claims } = await run(series(`diff --git a/x b/x\n${CHANGE}`), { x: 'a\nb\n' });
    const places = 2 * 12;
    expect(claims).toEqual([places, places + 'a\nc\n'.length, 0]);
  });

  it('keeps a file as long as a later commit changes it', async () => {
    const [first, second] = [CHANGE, CHANGE.replace('-b', '-c').replace('+c', '+d')];
    const { claims, read } = await run(
      series(`diff --git a/x b/x\n${first}`, `diff --git a/x b/x\n${second}`),
      { x: 'a\nb\n' },
    );
    const [places, kept] = [2 * 12, 'a\nc\n'.length];
    expect(claims).toEqual([places, places + kept, kept, kept + places, kept + places + kept, 0]);
    expect(read).toEqual(['x']);
  });

  it('does not ask upstream for a file that it adds', async () => {
    const added =
      'diff --git a/y b/y\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1,2 @@\n+a\n+b\n';
    const { read } = await run(series(added, `diff --git a/y b/y\n${CHANGE.replaceAll('/x', '/y')}`), {});
    expect(read).toEqual([]);
  });

  it('is refused when all that is in memory would be too much', async () => {
    const huge = 'b\n'.repeat(1_000_000);
    const many = Array.from({ length: 9 }, (_, index) => `f${index}`);
    const files = Object.fromEntries(many.map((name) => [name, `${name}\n${huge}`]));
    const diff = many.map(
      (name) =>
        `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -1,2 +1,2 @@\n-${name}\n+new\n b\n`,
    );
    await expect(
      run(series(diff.join(''), diff.join('').replaceAll(/^-f.*$/gm, '-new')), files),
    ).rejects.toThrow('too large');
  });

  it('keeps no copies that nothing reads, and refuses more than fit', async () => {
    const size = 1024 * 1024;
    const line = 'y'.repeat(size - 1);
    const many = Array.from({ length: 60 }, (_, index) => `c${index}`);
    const added = `diff --git a/y b/y\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+${line}\n`;
    const copies = many.map(
      (name) => `diff --git a/y b/${name}\nsimilarity index 100%\ncopy from y\ncopy to ${name}\n`,
    );
    const { claims } = await run(series(added, copies.join(''), lineChange('y', line)), {});
    expect(Math.max(...claims)).toBeLessThan(3 * size);
    const used = many.map((name) => lineChange(name, 'x')).join('');
    await expect(run(series(added, copies.join(''), used), {})).rejects.toThrow('too large');
  });

  it('counts a file once that it renames beside other changes', async () => {
    const line = 'y'.repeat(1_000);
    const added = `diff --git a/y b/y\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+${line}\n`;
    const rename = 'diff --git a/y b/x\nsimilarity index 100%\nrename from y\nrename to x\n';
    const { claims } = await run(series(added, rename + lineChange('w', 'w'), lineChange('x', line)), {
      w: 'w\n',
    });
    expect(Math.max(...claims)).toBeLessThan(2 * line.length);
  });

  it('does not read a file that it renames only', async () => {
    const rename = 'diff --git a/y b/x\nsimilarity index 100%\nrename from y\nrename to x\n';
    const files = { y: 'a\nb\n', z: 'z\n' };
    const next = 'diff --git a/z b/w\nsimilarity index 100%\nrename from z\nrename to w\n';
    expect((await run(series(rename, next), files)).read).toEqual([]);
    expect((await run(series(rename, `diff --git a/x b/x\n${CHANGE}`), files)).read).toEqual(['y']);
  });
});
