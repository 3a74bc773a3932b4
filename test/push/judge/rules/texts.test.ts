/** Title and description of a pull request, rule by rule. */
import { expect, it } from 'vitest';
import { NO_FILES } from '../../../../src/policy/community-files.ts';
import { OPEN_POLICY } from '../../../../src/policy/policy.ts';
import type { Place } from '../../../../src/push/judge/questions.ts';
import {
  idleOptions,
  keyForLaterTexts,
  missingDescription,
  noise,
  signing,
  unreadableTitle,
} from '../../../../src/push/judge/rules/texts.ts';
import { codesOf, knownPush } from '../../../support/known-push.ts';

const update = { destination: { updates: true } };

it('refuses a text that would notify many people; an update keeps the text that is there', () => {
  const commits = [{ message: 'Mend it\n\n@a @b @c @d @e @f\n' }];
  expect(() => noise(knownPush({ commits }))).toThrow(expect.objectContaining({ code: 'noise' }));
  expect(noise(knownPush({ commits, ...update }))).toEqual([]);
  expect(noise(knownPush())).toEqual([]);
});

it('says which options an update does not heed', () => {
  const pushed = { isDraft: true, stated: { ai: 'none', issue: null } };
  expect(codesOf(idleOptions(knownPush({ pushed, ...update })))).toEqual(['say draft', 'say stated']);
  expect(idleOptions(knownPush({ pushed }))).toEqual([]);
});

it('points to a template if there is no description; a sign-off is none', () => {
  const policy = { ...OPEN_POLICY, community: { ...NO_FILES, template: 'pr.md' } };
  const place = { policy } as unknown as Place;
  const described = (message: string) => ({ ...knownPush({ commits: [{ message }] }), place });
  expect(codesOf(missingDescription(described('Mend it\n\nSigned-off-by: A <a@x.example>\n')))).toEqual([
    'say description',
  ]);
  expect(missingDescription(described('Mend it\n\nBecause it broke.\n'))).toEqual([]);
  expect(missingDescription(knownPush())).toEqual([]);
});

it('warns of a title that nobody can read', () => {
  const commits = [{ message: Buffer.from('Gr\xfc\xdfe\n', 'latin1') }];
  expect(unreadableTitle(knownPush({ commits }))).toMatchObject([
    { severity: 'warn', lines: [expect.stringContaining('is not UTF-8')] },
  ]);
  expect(unreadableTitle(knownPush())).toEqual([]);
});

it('says who signs off', () => {
  expect(signing(knownPush())).toEqual([]);
  expect(signing(knownPush({ pushed: { isSignedOff: true } }))).toMatchObject([
    { lines: [expect.stringContaining('bot <bot@x.example>')] },
  ]);
});

it('refuses other texts for an open pull request without its key, where nobody was asked', () => {
  const later = knownPush({ options: { title: 'Other' }, ...update });
  expect(codesOf(keyForLaterTexts(later))).toEqual(['refuse pr-key']);
  const keyed = knownPush({ options: { title: 'Other', prKey: 'k' }, ...update });
  expect(keyForLaterTexts(keyed)).toEqual([]);
});
