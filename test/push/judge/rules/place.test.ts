/** Rules that a repository's policy makes for a push, and checks that its own files show. */
import { describe, expect, it } from 'vitest';
import { NO_FILES } from '../../../../src/policy/community-files.ts';
import { OPEN_POLICY, type Policy } from '../../../../src/policy/policy.ts';
import type { Place } from '../../../../src/push/judge/questions.ts';
import type { Gate } from '../../../../src/policy/gates.ts';
import type { Known } from '../../../../src/push/judge/known.ts';
import { changelogGate } from '../../../../src/push/judge/rules/changes.ts';
import {
  demands,
  gate as vouchGate,
  messagesGate,
  otherGates,
  signOffGate,
  titleGate,
} from '../../../../src/push/judge/rules/place.ts';
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
  const listed = place({ community: { ...NO_FILES, standing } });
  expect(codesOf(vouchGate({ ...knownPush(), place: listed }))).toEqual(['say gate']);
  expect(vouchGate({ ...knownPush({ destination: { updates: true } }), place: listed })).toEqual([]);
});

const WORKFLOW = '.github/workflows/pr.yml';

/** A push to a repository with this gate. */
function gated(gate: Gate, facts: Parameters<typeof knownPush>[0] = {}, policy = {}): Known {
  const known = { policy: { ...OPEN_POLICY, ...policy, community: { ...NO_FILES, gates: [gate] } } };
  return { ...knownPush(facts), place: known } as unknown as Known;
}

describe('a gate for titles', () => {
  const title: Gate = { asks: 'title', isConventional: true, path: WORKFLOW };

  it('warns of another title, and is silent where it fits', () => {
    const [found] = titleGate(gated(title, { commits: [{ message: 'Mend the door\n' }] }));
    expect(found).toMatchObject({
      severity: 'warn',
      code: 'title-gate',
      lines: [
        `The ${WORKFLOW} of octo/hello checks titles of pull requests: they begin with a type, such as "fix: Correct a typo". Yours is: Mend the door`,
        'Give another one, with a type that fits: -o title="fix: …"',
      ],
    });
    expect(titleGate(gated(title, { commits: [{ message: 'fix: Mend the door\n' }] }))).toEqual([]);
  });

  it('is no matter of an update, and only told where it has its own pattern', () => {
    expect(titleGate(gated(title, { destination: { updates: true } }))).toEqual([]);
    expect(codesOf(titleGate(gated({ ...title, isConventional: false })))).toEqual(['say title-gate']);
  });
});

it('a gate for messages warns of those that miss it, but not of merges', () => {
  const gate: Gate = { asks: 'messages', isConventional: true, path: WORKFLOW };
  const commits = [{ message: 'Mend\n' }, { message: 'fix: Mend\n' }, { message: 'Mend more\n' }];
  const [found] = messagesGate(gated(gate, { commits }));
  expect(found?.lines[0]).toMatch(/ 2 of yours do not, such as: Mend$/);
  const parents = ['1', '2'].map((digit) => digit.repeat(40));
  expect(messagesGate(gated(gate, { commits: [{ message: 'Merge it\n', parents }] }))).toEqual([]);
  expect(codesOf(messagesGate(gated({ ...gate, isConventional: false }, { commits })))).toEqual([
    'say messages-gate',
  ]);
});

it('a gate for sign-offs warns of a push without, unless the policy refuses it already', () => {
  const gate: Gate = { asks: 'sign-off', path: '.github/dco.yml' };
  expect(signOffGate(gated(gate))).toMatchObject([
    {
      severity: 'warn',
      lines: [expect.stringContaining('.github/dco.yml'), expect.stringContaining('-o sign-off')],
    },
  ]);
  expect(signOffGate(gated(gate, { pushed: { isSignedOff: true } }))).toEqual([]);
  expect(signOffGate(gated(gate, {}, { requiresSignOff: true }))).toEqual([]);
});

it('rules about AI are told to who has not said what they used; so is that signatures go', () => {
  const ai: Gate = { asks: 'ai', path: 'AI_POLICY.md' };
  expect(otherGates(gated(ai))).toMatchObject([
    {
      severity: 'say',
      code: 'ai-gate',
      lines: [expect.stringContaining('/blob/HEAD/AI_POLICY.md'), expect.any(String)],
    },
  ]);
  expect(otherGates(gated(ai, { pushed: { stated: { ai: 'none', issue: null } } }))).toEqual([]);
  expect(codesOf(otherGates(gated({ asks: 'signature', path: WORKFLOW })))).toEqual(['say signature-gate']);
});

function askedToChange(file: string, changed: readonly string[] | null) {
  const gates: Gate[] = [{ asks: 'changelog', file, path: WORKFLOW }];
  const entries = changed?.map((path) => ({ path, oid: '1'.repeat(40), isSubmodule: false })) ?? null;
  const policy = { ...OPEN_POLICY, community: { ...NO_FILES, gates } };
  return codesOf(changelogGate(entries, { owner: 'octo', name: 'hello' }, policy));
}

it('a gate for a changelog warns where the file stays as it was, and says where nobody knows', () => {
  expect(askedToChange('CHANGELOG.md', ['a.txt'])).toEqual(['warn changelog-gate']);
  expect(askedToChange('CHANGELOG.md', ['CHANGELOG.md'])).toEqual([]);
  expect(askedToChange('CHANGELOG.md', null)).toEqual(['say changelog-gate']);
  expect(askedToChange('docs/CHANGELOG.md', ['a.txt'])).toEqual(['say changelog-gate']);
});

it('a push that is published later asks for none of them', () => {
  const known = knownPush();
  expect([titleGate(known), messagesGate(known), signOffGate(known), otherGates(known)].flat()).toEqual([]);
});
