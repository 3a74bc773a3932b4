/** Files of a repository, read with Git as the public sees it. */
import { expect, it } from 'vitest';
import { utf8 } from '../../src/git/bytes.ts';
import { hashObject, type Oid } from '../../src/git/objects/oid.ts';
import { encodeTree } from '../../src/git/objects/tree.ts';
import type { KeptObject } from '../../src/git/pack/kept-objects.ts';
import type { ObjectRequest } from '../../src/git/wire/protocol-v2.ts';
import { publicFiles } from '../../src/policy/public-files.ts';
import { CountedMemory } from '../support/counted-memory.ts';

const HELLO = { owner: 'octo', name: 'hello' };

/** A repository with so many files at its root; answers what reads it. */
function repositoryOf(names: readonly string[]) {
  const objects = new Map<Oid, KeptObject>();
  const add = (type: KeptObject['type'], content: Uint8Array): Oid => {
    const oid = hashObject(type, content);
    objects.set(oid, { type, oid, content });
    return oid;
  };
  const blob = add('blob', utf8('accept: false\n'));
  const tree = add(
    'tree',
    encodeTree(names.map((name) => ({ mode: '100644', name: utf8(name), oid: blob }))),
  );
  const headTip = add(
    'commit',
    utf8(`tree ${tree}\nauthor A <a@a> 1 +0000\ncommitter A <a@a> 1 +0000\n\nA\n`),
  );
  return {
    listRefs: async () => ({ refs: [], head: 'refs/heads/main', headTip, hasAllBranches: true }),
    readObjects: async (_: object, { wants }: ObjectRequest) =>
      new Map(
        wants
          .flatMap((oid) => [...objects.values()].filter((object) => object.oid === oid))
          .map((o) => [o.oid, o]),
      ),
  };
}

it('is counted in memory with the folder that it stands in, which may be large', async () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `file-${index}`);
  const memory = new CountedMemory();
  const files = await publicFiles(repositoryOf(['.gitveil.yml', ...names]), memory, HELLO);
  expect(await files.file('.gitveil.yml')).toEqual({ kind: 'file', content: utf8('accept: false\n') });
  expect(memory.mostBytes).toBeGreaterThan(10_000 * 250);
});
