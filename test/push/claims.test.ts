/** Claims of a push, and that all of them are given back. */
import { describe, expect, it } from 'vitest';
import type { BeginAnswer, Left, PushIntent } from '../../src/durable/pending-push/pending-push.ts';
import type { ClaimedPullRequest } from '../../src/durable/pull-request/pull-request.ts';
import { Claims } from '../../src/push/push-run.ts';
import type { PushHost, PushStore } from '../../src/push/push-host.ts';

const INTENT = { prHash: 'aaaaaaaaaaaa', committedAt: 1 };
const PR_HASH = '0123456789ab';
const FIRST = { kind: 'begun', lease: 1, intent: INTENT, isRepeated: false, isAnswered: false } as const;
const CLAIMED: ClaimedPullRequest = { kind: 'claimed', lease: 2, recorded: null, dates: [] };

const PUSH_HASH = 'f'.repeat(64);
const TARGET = { owner: 'octo', name: 'hello' };

/** Objects that answer as they are told, and what they were asked. */
function world(
  answers: {
    begun?: BeginAnswer | Promise<BeginAnswer>;
    claimed?: ClaimedPullRequest;
    isListed?: boolean | Promise<boolean>;
  } = {},
) {
  const calls: unknown[][] = [];
  const host = {
    clock: { now: () => 0 },
    pendingPush: (hash: string) => ({
      begin: async (key: string) => (
        expect(key).toBe(hash),
        calls.push(['begin', hash]),
        answers.begun ?? FIRST
      ),
      decide: async (_: string, lease: number, intent: PushIntent) =>
        void calls.push(['decide', lease, intent]),
      end: async (_: string, lease: number, left: Left) => void calls.push(['end', lease, left]),
    }),
    mayBeRecorded: async () => answers.isListed ?? true,
    pullRequest: () => ({
      claim: async () => (calls.push(['claim']), answers.claimed ?? CLAIMED),
      look: async () => CLAIMED,
      release: async (lease: number) => void calls.push(['release', lease]),
    }),
  };
  const claims = new Claims(host as unknown as PushHost, host as unknown as PushStore);
  const of = (name: string) => calls.filter(([called]) => called === name);
  return { claims, calls, of };
}

/** A push that updates a pull request. */
async function claimBoth(claims: Claims) {
  const update = await claims.claimListed(PR_HASH);
  return { update, begun: await claims.begin(PUSH_HASH, TARGET, INTENT) };
}

describe('claims', () => {
  it('of a preview lock nothing, and have nothing to give back', async () => {
    const { claims, calls } = world({ claimed: { kind: 'busy' } });
    claims.lockNothing();
    await expect(claims.claimListed(PR_HASH)).resolves.toMatchObject({ recorded: null });
    await expect(claims.claimPullRequest(PR_HASH)).resolves.toMatchObject({ recorded: null });
    await claims.end(true);
    expect(calls).toEqual([]);
  });

  it.each([true, false])(
    'are given back once, with the word whether the push was answered: %s',
    async (isAnswered) => {
      const { claims, calls } = world();
      await claimBoth(claims);
      calls.length = 0;
      await claims.end(isAnswered);
      await claims.end(isAnswered);
      expect(calls).toHaveLength(2);
      expect(calls).toEqual(
        expect.arrayContaining([
          ['end', 1, isAnswered ? 'nothing' : 'unanswered'],
          ['release', 2],
        ]),
      );
    },
  );

  it('that may have done something are kept for a retry, also if the push was answered', async () => {
    for (const [isRepeated, act, left] of [
      [false, (claims: Claims) => claims.failed(false), 'nothing'],
      [false, (claims: Claims) => claims.failed(true), 'unanswered'],
      [true, (claims: Claims) => claims.failed(false), 'unanswered'],
      [false, (claims: Claims) => claims.opened(), 'answered'],
      // It is open, and could not be recorded.
      [false, (claims: Claims) => (claims.opened(), claims.failed(true)), 'unanswered'],
    ] as const) {
      const { claims, of } = world({ begun: { ...FIRST, isRepeated } });
      await claims.begin(PUSH_HASH, TARGET, INTENT);
      act(claims);
      await claims.end(true);
      expect(of('end')).toEqual([['end', 1, left]]);
    }
  });

  it('that decide anew are not those of the earlier attempt any more', async () => {
    const { claims, of } = world({ begun: { ...FIRST, isRepeated: true, isAnswered: true } });
    await claims.begin(PUSH_HASH, TARGET, INTENT);
    const intent = { prHash: 'bbbbbbbbbbbb', committedAt: 2 };
    await claims.decide(intent);
    claims.failed(false);
    await claims.end(true);
    expect([...of('decide'), ...of('end')]).toEqual([
      ['decide', 1, intent],
      ['end', 1, 'nothing'],
    ]);
  });

  it('of a push that has failed for good are forgotten, also if it was not answered', async () => {
    const { claims, of } = world();
    await claims.begin(PUSH_HASH, TARGET, INTENT);
    claims.failed(false);
    await claims.end(false);
    expect(of('end')).toEqual([['end', 1, 'nothing']]);
  });

  it('fail when someone else is at work', async () => {
    const { claims, of } = world({ claimed: { kind: 'busy' } });
    await expect(claims.claimListed(PR_HASH)).rejects.toThrow(
      'another push to this pull request is in progress',
    );
    await claims.end(true);
    expect(of('release')).toEqual([]);
  });

  it('leave alone the object of a pull request that is not listed', async () => {
    const { claims, of } = world({ isListed: false });
    expect((await claimBoth(claims)).update).toBeNull();
    await claims.end(true);
    expect([of('claim'), of('release')]).toEqual([[], []]);
  });

  it('take nothing of a pull request that is on another code host', async () => {
    const { claims, of } = world({ claimed: { kind: 'elsewhere' } });
    expect(await claims.claimListed(PR_HASH)).toBeNull();
    await expect(claims.claimPullRequest(PR_HASH)).rejects.toThrow('belongs to another code host');
    await claims.end(true);
    expect(of('release')).toEqual([]);
  });

  it('are given back also if the push ends before they are answered', async () => {
    const { promise: isListed, resolve: list } = Promise.withResolvers<boolean>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<BeginAnswer>();
    const { claims, of } = world({ begun, isListed });
    const both = [claims.claimListed(PR_HASH), claims.begin(PUSH_HASH, TARGET, INTENT)];
    const ended = claims.end(true);
    list(true);
    begin(FIRST);
    await ended;
    await Promise.all(both);
    expect([of('end'), of('release')]).toEqual([[['end', 1, 'nothing']], [['release', 2]]]);
  });

  it('fail when the same push is under way, and leave that alone', async () => {
    const { claims, of } = world({ begun: { kind: 'busy' } });
    const beginning = claims.begin(PUSH_HASH, TARGET, INTENT);
    await expect(beginning).rejects.toThrow('this push is already in progress');
    await expect(beginning).rejects.toMatchObject({ code: 'in-progress' });
    await claims.end(true);
    expect(of('end')).toEqual([]);
  });
});
