/** What of a push is searched, and when a find counts. Real pushes: test/e2e/identity-guard.test.ts. */
import { describe, expect, it } from 'vitest';
import { parseCommit } from '../../../src/git/commit.ts';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import type { KeptObject } from '../../../src/git/pack/kept-objects.ts';
import { IdentityGuard } from '../../../src/push/rewriting/identity-guard.ts';
import { commitContent } from '../../support/objects.ts';
import { buildPack, type Entry, makeDelta, oidOf } from '../../support/pack-builder.ts';

const REFUSED = 'your name would become public';

/** @param authors of the commits, the last one of the pushed commit. */
async function guardOf(authors: readonly string[], memory = UNCOUNTED): Promise<IdentityGuard> {
  const contents = new Map(
    authors.map((author) => {
      const content = commitContent({
        author: `${author} 1 +0000`,
        committer: 'bot <bot@x.example> 1 +0000',
      });
      return [oidOf('commit', content), content] as const;
    }),
  );
  const commits = Array.from(contents, ([oid, content]) => ({ oid, commit: parseCommit(content) }));
  const guard = new IdentityGuard(['bot', 'bot@x.example'], true);
  await guard.learn(commits, ({ oid }) => contents.get(oid), [], [], memory);
  return guard;
}

/** Upstream's file, the change of it as a delta, and both as a push has them. */
function changed(before: string, after: string) {
  const filler = 'a line that stays as it is\n'.repeat(9);
  const [base, result] = [before, after].map((line) => Buffer.from(`${filler}${line}\n${filler}`)) as [
    Buffer,
    Buffer,
  ];
  const upstreams: KeptObject = { type: 'blob', oid: oidOf('blob', base), content: base };
  const entry: Entry = { type: 'ref-delta', base: upstreams.oid, delta: makeDelta(base, result) };
  return { upstreams, pack: [buildPack([entry]).bytes.subarray(0, -20)] };
}

describe('what a delta inserts', () => {
  const WHITE = 'Paul White <paul@x.example>';

  it('counts only as a part of the whole file, where that is known', async () => {
    const { upstreams, pack } = changed('color: black;', 'color: white;');
    const guard = await guardOf([WHITE]);
    guard.checkPack(pack, true);
    expect(guard.findings).toEqual([]);
    await guard.checkDeltas(pack, UNCOUNTED, async () => [upstreams]);
    expect(guard.findings).toEqual([]);
  });

  it('counts as it is where the host does not send the file, and in a large push', async () => {
    const { pack } = changed('color: black;', 'color: white;');
    const guard = await guardOf([WHITE]);
    guard.checkPack(pack, true);
    await guard.checkDeltas(pack, UNCOUNTED, async () => []);
    expect(() => guard.decide()).toThrow(REFUSED);
    const other = await guardOf([WHITE]);
    other.checkPack(pack, false);
    expect(() => other.decide()).toThrow(REFUSED);
  });

  it('counts where the whole file has the name', async () => {
    const { upstreams, pack } = changed('by Paul Black;', 'by Paul White;');
    const guard = await guardOf([WHITE]);
    guard.checkPack(pack, true);
    await guard.checkDeltas(pack, UNCOUNTED, async () => [upstreams]);
    expect(() => guard.decide()).toThrow(REFUSED);
  });
});

it('a small change of a large file waits for memory, and is not refused at once', async () => {
  const { upstreams, pack } = changed(
    `${'x'.repeat(200_000)} by Paul Black`,
    `${'x'.repeat(200_000)} by Paul White`,
  );
  const guard = await guardOf(['Paul White <paul@x.example>']);
  let room = 64 * 1024;
  const memory = {
    makeRoom: async (bytes: number) => void (room = Math.max(room, bytes)),
    use: (bytes: number) => {
      room -= bytes;
      if (room < 0) throw new Error('busy');
    },
    free: () => {},
  };
  guard.checkPack(pack, true);
  await guard.checkDeltas(pack, memory, async () => [upstreams]);
  expect(() => guard.decide()).toThrow(REFUSED);
});

describe('the names to search for', () => {
  it('are first those of the pushed commit, if there are too many', async () => {
    const others = Array.from({ length: 1_000 }, (_, at) => `Person Number${at} <person${at}@x.example>`);
    const guard = await guardOf([...others, 'Ada Lovelace <ada@x.example>']);
    guard.checkText('title', 'By Ada Lovelace');
    expect(() => guard.decide()).toThrow(REFUSED);
    expect(guard.gaps.join()).toContain('more people than the service can search for');
  });

  it('are counted in memory before their table is built', async () => {
    let used = 0;
    let most = 0;
    const memory = {
      makeRoom: async () => {},
      use: (bytes: number) => (most = Math.max(most, (used += bytes))),
      free: (bytes: number) => (used -= bytes),
    };
    await guardOf(['Ada Lovelace <ada@x.example>'], memory);
    expect(used).toBeGreaterThan(10_000);
    expect(most).toBeGreaterThanOrEqual(2 * used);
  });

  it('that would take too large a table stop the push', async () => {
    const letters = Array.from({ length: 44 }, (_, at) => ((at * at) % 7 < 3 ? 'ø' : 'ÿ')).join('');
    const authors = Array.from(
      { length: 9 },
      (_, at) => `aaaaa ${letters.slice(at)}${letters.slice(0, at)} <a>`,
    );
    await expect(guardOf(authors)).rejects.toThrow('the authors’ names cannot be searched for');
  });
});
