/** What a push lays hold of, and that all of it is given back. */
import { describe, expect, it } from 'vitest';
import type { BegunPush } from '../../../src/durable/pending-push.ts';
import type { ClaimedPullRequest } from '../../../src/durable/pull-request.ts';
import { Claims, type PushSubject } from '../../../src/push/pull-request/claims.ts';
import { parsePushOptions } from '../../../src/push/command/push-options.ts';
import type { PushHost } from '../../../src/push/push-host.ts';
import { oidNumber } from '../../support/objects.ts';

const INTENT = { prHash: 'aaaaaaaaaaaa', committedAt: 1 };
const PR_HASH = 'pr-hash=0123456789ab';
const BEGUN: BegunPush = { kind: 'begun', lease: 1, intent: INTENT, isRepeated: false };
const CLAIMED: ClaimedPullRequest = { kind: 'claimed', lease: 2, isRecorded: true, dates: [] };

/** A push of HEAD:topic to octo/hello. */
function subject(pushOptions: string[] = [], changes: Partial<PushSubject> = {}): PushSubject {
  const parsed = parsePushOptions(pushOptions);
  if (parsed.kind === 'invalid') throw new Error(parsed.message);
  const target = { owner: 'octo', name: 'hello' };
  return { target, tip: oidNumber(1), refName: 'refs/heads/topic', options: parsed.options, ...changes };
}

/** Objects that answer as they are told, and what they were asked. */
function world(
  answers: {
    begun?: BegunPush | Promise<BegunPush>;
    claimed?: ClaimedPullRequest;
    isListed?: boolean | Promise<boolean>;
  } = {},
) {
  const calls: unknown[][] = [];
  const host = {
    clock: { now: () => 0 },
    secret: async () => 's'.repeat(64),
    pendingPush: (hash: string) => ({
      begin: async () => (calls.push(['begin', hash]), answers.begun ?? BEGUN),
      end: async (lease: number, isAnswered: boolean) => void calls.push(['end', lease, isAnswered]),
    }),
    mayBeRecorded: async () => answers.isListed ?? true,
    pullRequest: () => ({
      claim: async (_: string, key: string | null) => (
        calls.push(['claim', key]),
        answers.claimed ?? CLAIMED
      ),
      release: async (lease: number) => void calls.push(['release', lease]),
    }),
  };
  const claims = new Claims(host as unknown as PushHost);
  const of = (name: string) => calls.filter(([called]) => called === name);
  return { claims, calls, of };
}

async function hashOf(pushed: PushSubject): Promise<unknown> {
  const { claims, of } = world();
  await claims.claim(pushed, INTENT, false);
  return of('begin')[0]?.[1];
}

describe('claims', () => {
  it('know a push by repository, tip, ref, base and pull request, and tell none of them', async () => {
    const others = [
      subject([], { target: { owner: 'octo', name: 'other' } }),
      subject([], { tip: oidNumber(2) }),
      subject([], { refName: 'refs/heads/other' }),
      subject(['base=next']),
      subject([PR_HASH]),
    ];
    const hashes = await Promise.all([subject(), ...others].map(hashOf));
    expect(new Set(hashes).size).toBe(hashes.length);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await hashOf(subject(['title=x'], { target: { owner: 'OCTO', name: 'Hello' } }))).toBe(hashes[0]);
  });

  it('ask for a pull request only where one is named, and for its key only where it is needed', async () => {
    for (const [options, needsKey, asked] of [
      [[], true, []],
      [[PR_HASH], false, [['claim', null]]],
      [[PR_HASH], true, [['claim', '']]],
      [[PR_HASH, `pr-key=${'b'.repeat(32)}`], true, [['claim', 'b'.repeat(32)]]],
    ] as const) {
      const { claims, of } = world();
      await claims.claim(subject([...options]), INTENT, needsKey);
      expect(of('claim')).toEqual(asked);
    }
  });

  it.each([true, false])(
    'are given back once, with the word whether the push was answered: %s',
    async (isAnswered) => {
      const { claims, calls } = world();
      await claims.claim(subject([PR_HASH]), INTENT, false);
      calls.length = 0;
      await claims.end(isAnswered);
      await claims.end(isAnswered);
      expect(calls).toHaveLength(2);
      expect(calls).toEqual(
        expect.arrayContaining([
          ['end', 1, isAnswered],
          ['release', 2],
        ]),
      );
    },
  );

  it.each<[string, ClaimedPullRequest, string]>([
    ['at work', { kind: 'busy' }, 'another push to this pull request is in progress'],
    ['in the way', { kind: 'wrong-key' }, 'the pr-key is missing or wrong'],
  ])('fail when someone else is %s, and give back what comes later', async (_what, claimed, reason) => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<BegunPush>();
    const { claims, of } = world({ begun, claimed });
    await expect(claims.claim(subject([PR_HASH]), INTENT, true)).rejects.toThrow(reason);
    const ended = claims.end(true);
    begin(BEGUN);
    await ended;
    expect([of('end'), of('release')]).toEqual([[['end', 1, true]], []]);
  });

  it('leave alone the object of a pull request that is not listed', async () => {
    const { claims, of } = world({ isListed: false });
    expect((await claims.claim(subject([PR_HASH]), INTENT, true)).update).toBeNull();
    await claims.end(true);
    expect([of('claim'), of('release')]).toEqual([[], []]);
  });

  it('take nothing of a pull request that is on another code host', async () => {
    const { claims, of } = world({ claimed: { kind: 'elsewhere' } });
    expect((await claims.claim(subject([PR_HASH]), INTENT, true)).update).toBeNull();
    await expect(claims.claimPullRequest('0123456789ab', null)).rejects.toThrow('of another code host');
    await claims.end(true);
    expect(of('release')).toEqual([]);
  });

  it('are given back also if the push ends before it is known whether the pull request is listed', async () => {
    const { promise: isListed, resolve: list } = Promise.withResolvers<boolean>();
    const { claims, of } = world({ begun: { kind: 'busy' }, isListed });
    await expect(claims.claim(subject([PR_HASH]), INTENT, false)).rejects.toThrow('already in progress');
    const ended = claims.end(true);
    list(true);
    await ended;
    expect([of('claim'), of('release')]).toEqual([[['claim', null]], [['release', 2]]]);
  });

  it('fail when the same push is under way, and leave that alone', async () => {
    const { claims, of } = world({ begun: { kind: 'busy' } });
    await expect(claims.claim(subject(), INTENT, false)).rejects.toThrow('this push is already in progress');
    await claims.end(true);
    expect(of('end')).toEqual([]);
  });
});
