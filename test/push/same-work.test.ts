/** Comparison of a push with pull requests of the service, made again before it is published. */
import { describe, expect, it, vi } from 'vitest';
import { compareWork, type Compared, refuseUntold, wasProposed } from '../../src/push/same-work.ts';
import type { SameWork } from '../../src/push/reply/reply.ts';
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

describe('the commits of a push', () => {
  const { pushed, bot } = knownPush({ commits: [{}, { message: 'Two\n' }] });
  const where = { repository: { owner: 'octo', name: 'hello' }, bot, updates: false };

  it('are hashed once, and looked up each time; an update is not', async () => {
    const hash = vi.fn(async (_: string, text: string) => text.padEnd(20));
    const pullRequestWith = vi.fn(async () => ({ ...OPEN, last: 1 }));
    const run = {
      host: { nameOf: () => 'octo/hello' },
      store: { hash, pullRequestWith },
    } as unknown as Parameters<typeof compareWork>[0];
    const first = await compareWork(run, pushed, where);
    expect(first.found).toEqual({ ...OPEN, shared: 1 });
    const again = await compareWork(run, pushed, where, first);
    expect(again.works).toBe(first.works);
    expect(hash).toHaveBeenCalledTimes(2);
    expect(pullRequestWith).toHaveBeenCalledTimes(2);
    expect((await compareWork(run, pushed, { ...where, updates: true }, first)).found).toBeNull();
    expect(pullRequestWith).toHaveBeenCalledTimes(2);
  });

  it('are proposed if another one has all of them; those of a closed one that is named may come again', () => {
    const push = { commits: pushed.commits, prHash: null };
    expect(wasProposed(push, OPEN)).toBe(true);
    expect(wasProposed(push, { ...OPEN, shared: 1 })).toBe(false);
    const named = { ...push, prHash: OPEN.prHash };
    expect(wasProposed(named, { ...OPEN, state: 'closed' })).toBe(false);
    expect(wasProposed(named, { ...OPEN, state: 'merged' })).toBe(true);
  });
});
