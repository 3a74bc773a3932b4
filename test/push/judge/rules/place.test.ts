/** Rules that a repository's policy makes for a push. */
import { expect, it } from 'vitest';
import { NO_FILES } from '../../../../src/policy/community-files.ts';
import { OPEN_POLICY, type Policy } from '../../../../src/policy/policy.ts';
import type { Place } from '../../../../src/push/judge/questions.ts';
import { gate, signOff, statements } from '../../../../src/push/judge/rules/place.ts';
import { codesOf, knownPush } from '../../../support/known-push.ts';

const place = (policy: Partial<Policy>, why: string | null = null) =>
  ({
    repository: { owner: 'octo', name: 'hello' },
    policy: { ...OPEN_POLICY, ...policy },
    ask: { issue: async () => why },
  }) as unknown as Place;

it('refuses commits without a sign-off where one is required', () => {
  const strict = place({ requiresSignOff: true });
  expect(codesOf(signOff(strict, { isSignedOff: false }))).toEqual(['refuse sign-off']);
  expect(signOff(strict, { isSignedOff: true })).toEqual([]);
  expect(signOff(place({}), { isSignedOff: false })).toEqual([]);
});

it('refuses what is not stated, and an issue that is not open', async () => {
  const strict = place({ requiresAi: true, requiresIssue: true });
  const [missing] = await statements(strict, { ai: null, issue: null });
  expect(missing).toMatchObject({ code: 'stated', lines: [expect.stringMatching(/ai=none.*issue=/)] });
  expect(await statements(strict, { ai: 'none', issue: 7 })).toEqual([]);
  const closed = place({}, 'is closed');
  expect(await statements(closed, { ai: null, issue: 7 })).toMatchObject([
    { reason: 'the issue is not open', lines: [expect.stringContaining('octo/hello#7 is closed')] },
  ]);
});

it('says that a gate may close a new pull request', () => {
  const standing = { kind: 'unlisted', path: 'VOUCHED.td', bot: 'bot', reason: null } as const;
  const gated = place({ community: { ...NO_FILES, standing } });
  expect(codesOf(gate({ ...knownPush(), place: gated }))).toEqual(['say gate']);
  expect(gate({ ...knownPush({ destination: { updates: true } }), place: gated })).toEqual([]);
});
