/** Steps that wait for the host: what their failures say, how long they may take, and what is said meanwhile. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/isolate/clock.ts';
import { ProtocolError } from '../../../src/git/wire/protocol-error.ts';
import { HostError, type HostErrorCode } from '../../../src/host-error.ts';
import { type HostStep, HostSteps, type Refusal } from '../../../src/push/reply/refusal.ts';
import { SideBandReply } from '../../../src/push/reply/reply.ts';

const STEPS = ['lookup', 'history', 'fork', 'sync', 'push', 'pull-request', 'edit', 'withdrawal'] as const;
const SECRET = new Error('secret: token at 192.0.2.1 of Ada Lovelace');

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
