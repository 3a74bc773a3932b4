/** Files of upstream that a series of mails reads, and memory that it claims before it is used. */
import { describe, expect, it } from 'vitest';
import { latin1, utf8 } from '../../src/git/bytes.ts';
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
  await seriesOn(
    { tip: '1'.repeat(40), tree, committedAt: 1 },
    latin1(utf8(patch)),
    readMails(patch),
    read,
    memory,
  );
  return { read: asked.flatMap((oid) => names.get(oid) ?? []), claims };
}

describe('a series', () => {
  it('claims what each file needs before it is made', async () => {
    const { claims } = await run(series(`diff --git a/x b/x\n${CHANGE}`), { x: 'a\nb\n' });
    const hunk = ' a\n-b\n+c\n'.length;
    expect(claims[0]).toBe(3 * 'a\nb\n'.length + 2 * 16 + 4 * hunk);
    expect(claims).toHaveLength(2);
  });

  it('does not read a file that it renames only', async () => {
    const rename = 'diff --git a/y b/x\nsimilarity index 100%\nrename from y\nrename to x\n';
    const files = { y: 'a\nb\n', z: 'z\n' };
    const next = 'diff --git a/z b/w\nsimilarity index 100%\nrename from z\nrename to w\n';
    expect((await run(series(rename, next), files)).read).toEqual([]);
    expect((await run(series(rename, `diff --git a/x b/x\n${CHANGE}`), files)).read).toEqual(['y']);
  });
});
