/** Rules for commit messages, one by one. */
import { expect, it } from 'vitest';
import {
  loudMessages,
  nulCharacters,
  peopleNamed,
  squashedMessage,
} from '../../../../src/push/judge/rules/messages.ts';
import { codesOf, knownPush } from '../../../support/known-push.ts';

it('refuses a NUL character, with the title of its message', () => {
  expect(nulCharacters(knownPush())).toEqual([]);
  const push = knownPush({ commits: [{ message: 'First\n' }, { message: 'Second\n\na\0b\n' }] });
  expect(() => nulCharacters(push)).toThrow(
    expect.objectContaining({ code: 'not-rewritable', lines: [expect.stringContaining('"Second"')] }),
  );
});

it('warns of people that messages name, but not of the sign-off that the service adds', () => {
  const message = 'Mend it\n\nSigned-off-by: bot <bot@x.example>\n';
  const signed = knownPush({ commits: [{ message }], pushed: { isSignedOff: true } });
  expect(peopleNamed(signed)).toEqual([]);
  expect(codesOf(peopleNamed(knownPush({ commits: [{ message }] })))).toEqual(['warn people']);
});

it('warns of messages that would disturb many', () => {
  expect(loudMessages(knownPush())).toEqual([]);
  const loud = knownPush({ commits: [{ message: 'Mend it\n\n@a @b @c @d @e @f\n' }] });
  expect(loudMessages(loud)).toMatchObject([
    {
      severity: 'warn',
      lines: [/become public/, '  Mend it'].map((line) =>
        typeof line === 'string' ? line : expect.stringMatching(line),
      ),
    },
  ]);
});

it('says that a squashed merge has the message of the newest other commit', () => {
  const commits = [{ message: 'Work\n' }, { message: 'Merge\n', parents: ['1'.repeat(40), '2'.repeat(40)] }];
  expect(codesOf(squashedMessage(knownPush({ commits, options: { squash: true } })))).toEqual(['say squash']);
  expect(squashedMessage(knownPush({ commits, options: { squash: true, title: 'Other' } }))).toEqual([]);
  expect(squashedMessage(knownPush({ commits }))).toEqual([]);
});
