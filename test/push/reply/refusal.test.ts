/** What every kind of failure says to the person, and that no cause is part of it. */
import { describe, expect, it } from 'vitest';
import type { GitClient } from '../../../src/git/wire/git-client.ts';
import { ProtocolError, type ProtocolErrorCode } from '../../../src/git/wire/protocol-error.ts';
import { busy } from '../../../src/isolate/memory-budget.ts';
import { Refusal, toRefusal } from '../../../src/push/reply/refusal.ts';
import { BodyError } from '../../../src/streams/body-error.ts';

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
