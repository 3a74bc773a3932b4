/**
 * Compares what a person committed with what the bot pushed: the same work, and nobody's but the
 * bot's name on it.
 */
import { expect } from 'vitest';
import { type CommitParts, listObjects, readHistory } from './objects.ts';
import type { Clone } from './person.ts';
import type { Upstream } from './upstream.ts';

export interface Comparison {
  readonly clone: Clone;
  /** The commit that was pushed. */
  readonly tip: string;
  readonly upstream: Upstream;
  readonly forkPath: string;
  readonly forkTip: string;
}

const ANONYMOUS = /^gitveil-bot <anonymous@gitveil\.invalid> (\d+) \+0000$/;
/** How far the clocks of the test and the service may be apart, plus the longest push. */
const TOLERANCE_SECONDS = 120;

/**
 * Fails unless the fork's history is the person's, commit by commit: same trees, messages,
 * encodings and shape, the bot's identity and the time of the push. Answers the rewritten commits,
 * parents before children.
 */
export async function expectRewritten(compared: Comparison): Promise<CommitParts[]> {
  const { clone, tip, upstream, forkPath, forkTip } = compared;
  const upstreamIds = await listObjects(upstream.path);
  const known = await listObjects(clone.gitFolder);
  const pushedTip = await clone.idOf(tip);
  // Not by revisions: a stale clone has not heard of upstream's tips, nor has a fork that was not
  // synced.
  const originals = (await readHistory(clone.gitFolder, pushedTip)).filter(
    ({ oid }) => !upstreamIds.has(oid),
  );
  // Upstream may have merged some of the rewritten commits before.
  const rewritten = (await readHistory(forkPath, forkTip)).filter(
    ({ oid, author }) => !known.has(oid) && (!upstreamIds.has(oid) || ANONYMOUS.test(author)),
  );
  expect(originals.length, 'the person has pushed something').toBeGreaterThan(0);
  expect(rewritten.length, 'as many commits as were pushed').toBe(originals.length);
  expect(rewritten.at(-1)?.oid).toBe(forkTip);

  const byOid = new Map(originals.map((commit) => [commit.oid, commit]));
  const counterparts = new Map<string, string>();
  const pair = (originalOid: string, rewrittenOid: string): void => {
    const original = byOid.get(originalOid);
    if (original === undefined) {
      expect(rewrittenOid, 'a commit of upstream keeps its id').toBe(originalOid);
      return;
    }
    if (counterparts.get(originalOid) === rewrittenOid) return;
    expect(counterparts.has(originalOid), 'each commit has one counterpart').toBe(false);
    counterparts.set(originalOid, rewrittenOid);
    const anonymous = rewritten.find(({ oid }) => oid === rewrittenOid);
    expect(anonymous, `the counterpart of ${originalOid}`).toBeDefined();
    expectAnonymous(anonymous as CommitParts, original);
    queue.push(
      ...original.parents.map((parent, index) => [parent, anonymous?.parents[index] ?? ''] as const),
    );
  };
  const queue: (readonly [string, string])[] = [[pushedTip, forkTip]];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) pair(...next);
  expect(counterparts.size).toBe(originals.length);
  return rewritten;
}

function expectAnonymous(commit: CommitParts, original: CommitParts): void {
  expect(commit.tree).toBe(original.tree);
  expect(commit.message.equals(original.message), 'the message is kept byte for byte').toBe(true);
  expect(commit.parents.length).toBe(original.parents.length);
  expect(commit.author).toMatch(ANONYMOUS);
  expect(commit.committer).toBe(commit.author);
  const seconds = Number(ANONYMOUS.exec(commit.author)?.[1]);
  expect(Math.abs(seconds - Date.now() / 1000), 'the date is the time of the push').toBeLessThan(
    TOLERANCE_SECONDS,
  );
  const kept = original.headers.filter(([name]) => name === 'encoding');
  const others = commit.headers.filter(([name]) => !['tree', 'parent', 'author', 'committer'].includes(name));
  expect(others, 'no header but the encoding is kept').toEqual(kept);
}
