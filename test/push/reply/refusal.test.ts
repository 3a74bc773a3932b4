/** Words for every kind of failure, and proof that no cause is part of them. */
import { describe, expect, it, beforeEach } from 'vitest';
import type { GitClient } from '../../../src/git/wire/git-client.ts';
import { ProtocolError, type ProtocolErrorCode } from '../../../src/git/wire/protocol-error.ts';
import { busy } from '../../../src/isolate/waiting.ts';
import { Refusal, toRefusal, type HostStep, HostSteps } from '../../../src/push/reply/refusal.ts';
import { BodyError } from '../../../src/streams/body-error.ts';
import type { Clock } from '../../../src/isolate/clock.ts';
import { HostError, type HostErrorCode } from '../../../src/words/host-error.ts';
import { SideBandReply } from '../../../src/push/reply/reply.ts';

const SECRET = new Error('secret: token at 192.0.2.1 of Ada Lovelace');
const shown = ({ finalLine, lines, unpackStatus }: Refusal) => [finalLine, ...lines, unpackStatus].join('\n');

it('a refusal sets its explanation apart from what was said before, if it has one', () => {
  expect(new Refusal('names', 'no', ['Why.', 'And what now.']).paragraph).toEqual([
    '',
    'Why.',
    'And what now.',
    '',
  ]);
  expect(new Refusal('names', 'no', []).paragraph).toEqual([]);
});

describe('toRefusal', () => {
  it.each<[ProtocolErrorCode, string, string]>([
    ['bad-request', 'the request is malformed', 'malformed request'],
    ['bad-pack', 'the pack is invalid', 'invalid pack'],
    ['truncated-pack', 'the pack is invalid', 'invalid pack'],
    ['too-large', 'the push is too large', 'ok'],
  ])('explains %s with its own sentence', (code, reason, unpackStatus) => {
    expect(toRefusal(new ProtocolError(code, 'What is wrong and what to do.'), 'git')).toMatchObject({
      reason,
      finalLine: `push rejected: ${reason}`,
      lines: ['What is wrong and what to do.'],
      unpackStatus,
    });
  });

  it('does not say of a service that is busy that nothing was changed: a row may be missing while it sends', () => {
    expect(toRefusal(busy(), 'git').lines).toEqual([
      'It has no room for this push now. Push again in a minute.',
    ]);
  });

  it.each<[GitClient, string]>([
    ['git', 'git -c pack.useBitmaps=false push'],
    ['libgit2', 'push with the git command'],
    ['other', 'push with the git command'],
  ])('gives %s a remedy that it has', (client, remedy) => {
    const refusal = toRefusal(new ProtocolError('not-rewritable', 'What is wrong.'), client);
    expect(refusal.reason).toBe('the commits cannot be made anonymous');
    expect(refusal.lines[0]).toBe('What is wrong.');
    expect(refusal.lines[1]).toContain(remedy);
  });

  it.each([
    ['timeout', 'the push did not arrive completely', 'too slowly'],
    ['aborted', 'the push did not arrive completely', 'connection broke'],
    ['damaged', 'the push arrived damaged', 'gzip'],
    ['bomb', 'the push is compressed too much', 'without gzip'],
  ] as const)('says of a body with the fault %s that it did not arrive', (code, reason, words) => {
    const refusal = toRefusal(new BodyError(code, SECRET), 'git');
    expect(refusal).toMatchObject({ reason, unpackStatus: 'incomplete pack' });
    expect(refusal.lines.join()).toContain(words);
    expect(refusal.lines.join()).toContain('Push again');
    expect(shown(refusal)).not.toContain('secret');
  });

  it('shows nothing of a failure of our own', () => {
    for (const failure of [SECRET, 'a string', null, undefined, { message: 'secret' }]) {
      const refusal = toRefusal(failure, 'git');
      expect(refusal.reason).toBe('internal error');
      expect(refusal.cause).toBe(failure);
      expect(shown(refusal)).not.toContain('secret');
    }
  });

  it('lets a refusal pass as it is', () => {
    const refusal = new Refusal('archived', 'the repository is archived', ['It accepts no more changes.']);
    expect(toRefusal(refusal, 'git')).toBe(refusal);
  });
});

// Steps that wait for the host: what their failures say, how long they may take, and what is said
// meanwhile.

const STEPS = ['lookup', 'history', 'fork', 'sync', 'push', 'pull-request', 'edit', 'withdrawal'] as const;

/** A clock on which nothing passes but what is slept; each sleep lets other work go first. */
class FakeClock implements Clock {
  #now = 0;

  now(): number {
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await scheduler.wait(0);
    if (signal?.aborted !== true) this.#now += ms;
  }
}

const hostStep = <T>(step: HostStep, action: () => Promise<T>): Promise<T> =>
  new HostSteps(new FakeClock(), new SideBandReply(new Set()), 'github.com').run(step, action);

const fail = (code: HostErrorCode, step: HostStep = 'lookup') =>
  hostStep(step, () => Promise.reject(new HostError(code, 'The host said so.', SECRET)));

describe('a step', () => {
  it('answers what its action answers', async () => {
    expect(await hostStep('fork', async () => 7)).toBe(7);
  });

  it('names each step in words of its own', async () => {
    const reasons = await Promise.all(
      STEPS.map((step) => fail('unreachable', step).catch((error: Refusal) => error.reason)),
    );
    expect(new Set(reasons).size).toBe(STEPS.length);
  });

  it.each<[HostErrorCode, boolean]>([
    ['unreachable', true],
    ['rate-limited', true],
    ['moved', true],
    ['refused', false],
    ['missing', false],
  ])('says of %s whether pushing again helps: %s', async (code, helps) => {
    const refusal = await fail(code).catch((error: Refusal) => error);
    const { lines } = refusal;
    expect(lines[0]).toBe('The host said so.');
    expect(lines.includes('No pull request was opened or changed. Push again later.')).toBe(helps);
    expect(lines.join()).not.toContain('secret');
  });

  it.each<HostStep>(['sync', 'push'])('does not say of %s what it cannot know', async (step) => {
    const { lines } = await fail('unreachable', step).catch((error: Refusal) => error);
    expect(lines.join()).not.toMatch(/Nothing was changed|No pull request was opened\./);
  });

  it('leaves other errors to whoever knows them', async () => {
    const error = new ProtocolError('bad-pack', 'x');
    await expect(hostStep('push', () => Promise.reject(error))).rejects.toBe(error);
  });
});

const never = () => new Promise<never>(() => {});

describe('HostSteps', () => {
  let clock: FakeClock;
  let written: string;
  let reply: SideBandReply;
  let steps: HostSteps;

  beforeEach(() => {
    clock = new FakeClock();
    written = '';
    reply = new SideBandReply(new Set(['side-band-64k']));
    steps = new HostSteps(clock, reply, 'github.com');
  });

  const open = () =>
    reply.open(async (bytes) => {
      written += new TextDecoder().decode(bytes);
      return true;
    });
  const ending = (step: HostStep, action: () => Promise<unknown>) =>
    steps.run(step, action).catch((error: Refusal) => error.finalLine);

  it('ends a step that takes too long, and says what it waited for every ten seconds', async () => {
    await open();
    expect(await ending('fork', never)).toBe('push rejected: the fork could not be made');
    expect(clock.now()).toBe(75_000);
    expect(written.match(/Still waiting for github\.com to fork the repository \.\.\./g)).toHaveLength(7);
  });

  it('says nothing while the client does not listen', async () => {
    await ending('fork', never);
    await open();
    expect(written).toBe('');
  });

  it('gives the fork, its branches and the pull request 75 seconds together', async () => {
    const slow = (seconds: number) => () => clock.sleep(seconds * 1000).then(() => 'done');
    expect(await ending('fork', slow(30))).toBe('done');
    expect(await ending('sync', slow(30))).toBe('done');
    const before = clock.now();
    expect(await ending('pull-request', never)).toBe('push rejected: the pull request could not be opened');
    expect(clock.now() - before).toBeLessThanOrEqual(15_000);
  });

  it('goes on saying so while the host checks a large pack, and leaves the limit to the upload', async () => {
    await open();
    expect(await ending('push', () => clock.sleep(110_000))).toBeUndefined();
    const long = Promise.withResolvers<string>();
    const waiting = ending('push', () => long.promise);
    await expect.poll(() => written.split('to take the commits').length).toBeGreaterThan(13);
    long.resolve('taken');
    expect(await waiting).toBe('taken');
  });

  it('is silent about a step that is quick', async () => {
    await open();
    expect(await ending('lookup', async () => 7)).toBe(7);
    await scheduler.wait(5);
    expect(written).toBe('');
  });
});
