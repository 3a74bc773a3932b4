/** Words of a form where a push is told of an option. */
import { expect, it } from 'vitest';
import { withAdvice } from '../../../../src/push/delay/keep.ts';
import type { PushSettings } from '../../../../src/push/push-host.ts';
import { parsePushOptions, type PushOptions } from '../../../../src/push/receive/push-options.ts';
import { Refusal } from '../../../../src/push/reply/refusal.ts';
import { formRefusal, inFormWords } from '../../../../src/routes/forms/change/form-push.ts';

it('names no option that a form does not have', () => {
  const lines = [
    'message of "Mend it": Session: https://agent.test/1',
    'To publish the messages without these trailers and notes, add: -o strip-trails',
    'Remove the line and push again: "git commit --amend" changes the last commit, "git rebase -i" earlier ones.',
    'To publish it anyway, add: -o publish-names',
  ];
  const refusal = new Refusal('trails', 'the id of a session of yours would become public', lines);
  expect(formRefusal(refusal).explanation).toBe(
    [
      'The id of a session of yours would become public.',
      lines[0],
      'Remove the line, and send this form again.',
      'It can be published anyway with Git alone.',
    ].join('\n'),
  );
});

it('shows what to run before the form is sent again, and no command in its place', () => {
  const fetchFirst = new Refusal('fetch-first', 'fetch first', [
    'Run this, and push again:',
    '  git pull --rebase http://service.test/v1/gh/octo/hello main',
  ]);
  expect(formRefusal(fetchFirst).explanation).toBe(
    [
      'Fetch first.',
      'Run this, and push again:',
      '  git pull --rebase http://service.test/v1/gh/octo/hello main',
      'Where this says “push”, send this form again.',
    ].join('\n'),
  );
  const update = [
    'To update that one:',
    '  git push -o pr-hash=1a2b3c4d http://service.test/v1/gh/octo/hello',
  ];
  const merged = [
    'To leave out what is merged:',
    '  git pull --rebase http://service.test/v1/gh/octo/hello main',
  ];
  expect(inFormWords([...update, ...merged])).toEqual([]);
});

it('names the field for a later time, and not the option, if there is no room now', () => {
  const lines = ['Try again in about an hour.'];
  const full = new Refusal('account', 'the bot account has little left', lines, { waitMs: 3_600_000 });
  const run = { settings: { whenBusy: 'refuse', door: 'git' } as PushSettings };
  const parsed = parsePushOptions([]) as { options: PushOptions };
  expect(formRefusal(withAdvice(run, parsed.options, full)).explanation).toBe(
    'The bot account has little left.\nTry again in about an hour.\nOr choose a later time under “When it becomes public”.',
  );
});

it.each([
  [
    'If your work is for another branch of upstream, name that in the command, and push with: -o base=<branch>',
    'If your work is for another branch of upstream, name that in the command and under “Branch”.',
  ],
  ['Name one of them with -o base=<branch>.', 'Name one of them under “Branch”.'],
  ['For another one, add: -o base=<branch>', 'For another one, fill in “Branch”.'],
  ['Give another one: -o title=<title>', 'Give another one under “Title”.'],
  ['Give one: -o description=<line>, once for each line.', 'Give one under “Description”.'],
  ['You need its key: add -o pr-key=<key>.', 'You need its key: fill in “Key of the pull request”.'],
  [
    'Push again later, or publish it at once with -o delay=0s.',
    'Push again later, or publish it at once with “now” under “When it becomes public”.',
  ],
])('names the field in place of an option: %s', (line, words) => {
  expect(inFormWords([line])).toEqual([words]);
});

it('shows no command of an update, nor what introduces it', () => {
  const replacing = [
    'Or replace them with yours:',
    "  curl --data-binary '@<your file>' 'http://s.test/patch?overwrite'",
  ];
  const second = 'If this is a retry because no answer came: it is open, and nothing is left to do.';
  expect(inFormWords([...replacing, second])).toEqual([]);
});
