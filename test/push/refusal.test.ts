/** What every kind of failure says to the person, and that no cause is part of it. */
import { describe, expect, it } from 'vitest';
import { ProtocolError, type ProtocolErrorCode } from '../../src/git/protocol-error.ts';
import { HostError, type HostErrorCode } from '../../src/host/host-error.ts';
import { HOST_STEPS, type HostStep, hostStep, Refusal, toRefusal } from '../../src/push/refusal.ts';
import { BodyError } from '../../src/streams.ts';

const SECRET = new Error('secret: token at 192.0.2.1 of Ada Lovelace');
const shown = ({ finalLine, lines, unpackStatus }: Refusal) => [finalLine, ...lines, unpackStatus].join('\n');

it('a refusal sets its explanation apart from what was said before, if it has one', () => {
  expect(new Refusal('no', ['Why.', 'And what now.']).paragraph).toEqual(['', 'Why.', 'And what now.', '']);
  expect(new Refusal('no', []).paragraph).toEqual([]);
});

describe('toRefusal', () => {
  it.each<[ProtocolErrorCode, string, string]>([
    ['bad-request', 'the pack is invalid', 'invalid pack'],
    ['bad-pack', 'the pack is invalid', 'invalid pack'],
    ['truncated-pack', 'the pack is invalid', 'invalid pack'],
    ['too-large', 'the push is too large', 'ok'],
    ['not-rewritable', 'the commits cannot be made anonymous', 'ok'],
  ])('explains %s with its own sentence', (code, reason, unpackStatus) => {
    expect(toRefusal(new ProtocolError(code, 'What is wrong and what to do.'))).toMatchObject({
      reason,
      finalLine: `push rejected: ${reason}`,
      lines: ['What is wrong and what to do.'],
      unpackStatus,
    });
  });

  it.each([
    ['timeout', 'too slowly'],
    ['aborted', 'broke off'],
  ] as const)('says of a body with a %s that it did not arrive', (code, words) => {
    const refusal = toRefusal(new BodyError(code, SECRET));
    expect(refusal).toMatchObject({
      reason: 'the push did not arrive completely',
      unpackStatus: 'incomplete pack',
    });
    expect(refusal.lines.join()).toContain(words);
  });

  it('shows nothing of a failure of our own', () => {
    for (const failure of [SECRET, 'a string', null, undefined, { message: 'secret' }]) {
      const refusal = toRefusal(failure);
      expect(refusal.reason).toBe('internal error');
      expect(refusal.cause).toBe(failure);
      expect(shown(refusal)).not.toContain('secret');
    }
  });

  it('lets a refusal pass as it is', () => {
    const refusal = new Refusal('the repository is archived', ['It takes no more changes.']);
    expect(toRefusal(refusal)).toBe(refusal);
  });
});

const fail = (code: HostErrorCode, step: HostStep = 'fork') =>
  hostStep(step, () => Promise.reject(new HostError(code, 'The host said so.', SECRET)));

describe('hostStep', () => {
  it('answers what its action answers', async () => {
    expect(await hostStep('fork', async () => 7)).toBe(7);
  });

  it.each(Object.entries(HOST_STEPS))('names the step %s', async (step, reason) => {
    await expect(fail('unreachable', step as HostStep)).rejects.toMatchObject({ reason });
  });

  it.each<[HostErrorCode, boolean]>([
    ['unreachable', true],
    ['rate-limited', true],
    ['moved', true],
    ['refused', false],
    ['missing', false],
  ])('says of %s whether pushing again helps: %s', async (code, helps) => {
    const refusal = await fail(code).catch((error: unknown) => error as Refusal);
    expect(refusal?.lines[0]).toBe('The host said so.');
    expect(refusal?.lines.includes('Nothing was changed. Push again later.')).toBe(helps);
    expect(shown(refusal)).not.toContain('secret');
  });

  it('leaves other errors to whoever knows them', async () => {
    const error = new ProtocolError('bad-pack', 'x');
    await expect(hostStep('push', () => Promise.reject(error))).rejects.toBe(error);
  });
});
