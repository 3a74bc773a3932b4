/** Comparison of a push with pull requests of the service, made again before it is published. */
import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import {
  compareWork,
  type Compared,
  type ComparedAs,
  refuseUntold,
  wasProposed,
} from '../../src/push/same-work.ts';
import type { SameWork } from '../../src/push/reply/reply.ts';
import type { commitContent } from '../support/objects.ts';
import { knownPush } from '../support/known-push.ts';

const OPEN: SameWork = {
  prHash: '0123456789ab',
  number: 7,
  url: 'https://git.test/octo/hello/pull/7',
  state: 'open',
  endedOn: null,
  shared: 2,
};
const compared = (found: Compared['found']) => ({ found, works: [] }) as unknown as Compared;

describe('a push that has been told what its commits are in', () => {
  it.each([
    ['nothing', null, null],
    ['one that is still there', OPEN, OPEN],
    ['one that is gone since', OPEN, null],
    ['one that its author has withdrawn since', OPEN, { ...OPEN, state: 'withdrawn' } as const],
    ['what can no longer be read', OPEN, undefined],
  ])('goes on: %s', (_, told, found) => {
    expect(() => refuseUntold(compared(told), compared(found))).not.toThrow();
  });

  it.each([
    ['has opened', null, OPEN],
    ['has opened, which could not be read before', undefined, OPEN],
    ['was closed', OPEN, { ...OPEN, state: 'closed' } as const],
    ['is another one', OPEN, { ...OPEN, prHash: 'fedcba987654' }],
  ])('ends with its address if one %s meanwhile', (_, told, found) => {
    const refused = () => refuseUntold(compared(told), compared(found));
    expect(refused).toThrow(expect.objectContaining({ code: 'double' }));
    expect(refused).toThrow(
      expect.objectContaining({ lines: [expect.stringContaining(OPEN.url), expect.anything()] }),
    );
  });
});

/** Looks for the commits of a push in records that answer `found`. */
function comparing(commits: readonly Parameters<typeof commitContent>[0][], entryCount = 1) {
  const { pushed, bot } = knownPush({ commits, pushed: { entryCount } });
  const hash = vi.fn(async (_: string, text: string) => createHash('sha256').update(text).digest('hex'));
  const pullRequestWith = vi.fn(async () => ({ ...OPEN, last: 1 }));
  const run = {
    host: { nameOf: () => 'octo/hello' },
    store: { hash, pullRequestWith },
  } as unknown as Parameters<typeof compareWork>[0];
  const compare = (given: Partial<ComparedAs> = {}, earlier?: Compared) =>
    compareWork(
      run,
      pushed,
      { repository: { owner: 'octo', name: 'hello' }, bot, updates: false, boundaryTree: null, ...given },
      earlier,
    );
  return { pushed, hash, pullRequestWith, compare };
}

/** The hashes under which the commits of a push are recorded. */
async function recordedOf(...given: Parameters<typeof comparing>): Promise<(string | undefined)[]> {
  const { works } = await comparing(...given).compare();
  return works.map(([recorded]) => recorded);
}

const [TREE, OTHER_TREE] = ['a'.repeat(40), 'b'.repeat(40)];
const [BOUNDARY, OTHER_BOUNDARY] = ['1'.repeat(40), '2'.repeat(40)];

describe('the commits of a push', () => {
  const one = { tree: TREE, parents: [BOUNDARY], message: 'One\n' };

  it('are hashed once, and looked up each time; an update is not', async () => {
    const { hash, pullRequestWith, compare } = comparing([
      { tree: TREE },
      { tree: OTHER_TREE, message: 'Two\n' },
    ]);
    const first = await compare();
    expect(first.found).toEqual({ ...OPEN, shared: 1 });
    const again = await compare({}, first);
    expect(again.works).toBe(first.works);
    expect(hash).toHaveBeenCalledTimes(4);
    expect(pullRequestWith).toHaveBeenCalledTimes(2);
    expect((await compare({ updates: true }, first)).found).toBeNull();
    expect(pullRequestWith).toHaveBeenCalledTimes(2);
  });

  it('are the same with other messages, and others with other files or on another commit', async () => {
    const recorded = await recordedOf([one]);
    expect(await recordedOf([{ ...one, message: 'Another way\n' }])).toEqual(recorded);
    expect(await recordedOf([{ ...one, tree: OTHER_TREE }])).not.toEqual(recorded);
    expect(await recordedOf([{ ...one, parents: [OTHER_BOUNDARY] }])).not.toEqual(recorded);
  });

  it('are looked for as 1.0.0 has recorded them, too', async () => {
    const { works } = await comparing([one]).compare();
    const { works: inWords } = await comparing([one], 0).compare();
    expect(works).toEqual([[expect.any(String), inWords[0]?.[0]]]);
  });

  it('count with their messages where they leave the files as they were', async () => {
    const other = { ...one, message: 'Another way\n' };
    expect(await recordedOf([one], 0)).not.toEqual(await recordedOf([other], 0));
    const [mine, theirs] = await Promise.all(
      [one, other].map((commit) => comparing([commit]).compare({ boundaryTree: TREE })),
    );
    expect(mine?.works).not.toEqual(theirs?.works);
  });

  it('are proposed if another one has all of them; those of a closed one that is named may come again', () => {
    const push = { commits: comparing([{}, {}]).pushed.commits, prHash: null };
    expect(wasProposed(push, OPEN)).toBe(true);
    expect(wasProposed(push, { ...OPEN, shared: 1 })).toBe(false);
    const named = { ...push, prHash: OPEN.prHash };
    expect(wasProposed(named, { ...OPEN, state: 'closed' })).toBe(false);
    expect(wasProposed(named, { ...OPEN, state: 'merged' })).toBe(true);
  });
});
