/** Rules that a repository's policy makes for a push. */
import { expect, it } from 'vitest';
import { NO_FILES } from '../../../../src/policy/community-files.ts';
import { OPEN_POLICY, type Policy } from '../../../../src/policy/policy.ts';
import type { Place } from '../../../../src/push/judge/questions.ts';
import { demands, gate } from '../../../../src/push/judge/rules/place.ts';
import { codesOf, knownPush } from '../../../support/known-push.ts';

const SILENT = { isSignedOff: false, stated: { ai: null, issue: null } };

const place = (policy: Partial<Policy>, why: string | null = null) =>
  ({
    repository: { owner: 'octo', name: 'hello' },
    policy: { ...OPEN_POLICY, ...policy },
    ask: { issue: async () => why },
  }) as unknown as Place;

it('refuses commits without a sign-off where one is required, also in an update', async () => {
  const strict = place({ requiresSignOff: true });
  for (const describes of [true, false]) {
    const [missing] = await demands(strict, SILENT, describes);
    expect(missing).toMatchObject({
      code: 'sign-off',
      reason: 'a sign-off is required',
      needs: ['sign-off'],
    });
    expect(missing?.lines[0]).toBe('octo/hello asks for one thing (.gitveil.yml):');
    expect(await demands(strict, { ...SILENT, isSignedOff: true }, describes)).toEqual([]);
  }
  expect(await demands(place({}), SILENT, true)).toEqual([]);
});

it('refuses what is not stated in a description, all of it in one answer', async () => {
  const strict = place({ requiresSignOff: true, requiresAi: true, requiresIssue: true });
  const [missing, ...others] = await demands(strict, SILENT, true);
  expect(missing).toMatchObject({
    code: 'stated',
    needs: ['sign-off', 'ai=<none, assisted or generated>', 'issue=<number>'],
    lines: [
      'octo/hello asks for three things (.gitveil.yml):',
      expect.stringMatching(/-o sign-off$/),
      expect.stringMatching(/-o ai=none, /),
      expect.stringMatching(/-o issue=/),
    ],
  });
  expect(others).toEqual([]);
  expect(codesOf(await demands(strict, SILENT, false))).toEqual(['refuse sign-off']);
  expect(await demands(strict, { isSignedOff: true, stated: { ai: 'none', issue: 7 } }, true)).toEqual([]);
});

it('refuses an issue that is not open', async () => {
  const closed = place({ requiresSignOff: true }, 'is closed');
  const stated = { ai: null, issue: 7 };
  expect(await demands(closed, { isSignedOff: false, stated }, true)).toMatchObject([
    { code: 'sign-off' },
    { reason: 'the issue is not open', lines: [expect.stringContaining('octo/hello#7 is closed')] },
  ]);
  expect(await demands(closed, { isSignedOff: true, stated }, false)).toEqual([]);
});

it('says that a gate may close a new pull request', () => {
  const standing = { kind: 'unlisted', path: 'VOUCHED.td', bot: 'bot', reason: null } as const;
  const gated = place({ community: { ...NO_FILES, standing } });
  expect(codesOf(gate({ ...knownPush(), place: gated }))).toEqual(['say gate']);
  expect(gate({ ...knownPush({ destination: { updates: true } }), place: gated })).toEqual([]);
});
