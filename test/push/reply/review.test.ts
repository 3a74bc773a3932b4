/** Lines on the terminal about a push that is refused: all of it, and the command that passes. */
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../src/push/judge/findings.ts';
import type { Pushed, PushRun } from '../../../src/push/push-run.ts';
import { faultsIn, parsePushOptions } from '../../../src/push/receive/push-options.ts';
import { repeatCommand } from '../../../src/push/reply/commands.ts';
import { Refusal, refusedOptions } from '../../../src/push/reply/refusal.ts';
import { allLines, isMendable, needsOnlyOptions, reviewLines } from '../../../src/push/reply/review.ts';
import { type Finding, warn } from '../../../src/words/finding.ts';

const SIGN_OFF = new Refusal('sign-off', 'a sign-off is required', ['Sign it.'], { needs: ['sign-off'] });
const NAMES = new Refusal('names', 'your name would become public', ['Ada']);
const COMMAND = 'git push -o sign-off https://x.test HEAD:topic';

const review = (...found: Finding[]) => refusalOf(found) as Refusal;

describe('a push that is refused', () => {
  it('for one reason is told as ever', () => {
    expect(reviewLines(NAMES, null)).toEqual(['', 'Ada', '']);
    expect(reviewLines(new Refusal('internal', 'internal error', []), null)).toEqual([]);
  });

  it('for several is told each, then the warnings, then the command', () => {
    const internal = new Refusal('internal', 'internal error', ['It was logged.']);
    const refusal = review(...warn('people', 'Bob'), SIGN_OFF, NAMES, internal);
    expect(reviewLines(refusal, COMMAND)).toEqual([
      '',
      'This push is refused for 3 reasons:',
      '1. Sign it.',
      '2. Ada',
      '3. Internal error.',
      '   It was logged.',
      '',
      'Bob',
      '',
      'When the rest is done, push with:',
      `  ${COMMAND}`,
      '',
    ]);
    expect(refusal.finalLine).toBe('push rejected: a sign-off is required');
  });

  it('for its options alone is told the command that passes at once', () => {
    expect(reviewLines(SIGN_OFF, COMMAND)).toEqual([
      '',
      'Sign it.',
      '',
      'Push again with:',
      `  ${COMMAND}`,
      '',
    ]);
  });

  it('for a thousand reasons is told fourteen, and how many more there are', () => {
    const faults = Array.from({ length: 1_000 }, (_, at) => new Refusal('options', `fault ${at}`, []));
    const lines = reviewLines(review(...faults), null);
    expect(lines).toHaveLength(18);
    expect(lines.slice(-3)).toEqual(['14. fault 13.', 'and for 986 more.', '']);
  });

  it('is told in a form without a layout, and what refuses it beside the first reason', () => {
    expect(allLines(review(SIGN_OFF, NAMES, ...warn('people', 'Bob')))).toEqual(['Sign it.', 'Ada', 'Bob']);
  });
});

it('has a command only where something changes, and all of it can be mended', () => {
  const archived = new Refusal('archived', 'the repository is archived', []);
  const option = new Refusal('options', 'overwrite cannot wait', []);
  const described = new Refusal('trails', 'the id of a session would become public', []);
  expect(isMendable(SIGN_OFF)).toBe(true);
  expect(isMendable(review(NAMES, SIGN_OFF))).toBe(true);
  for (const refusal of [NAMES, option, review(SIGN_OFF, archived), review(SIGN_OFF, described)])
    expect(isMendable(refusal)).toBe(false);
});

/** The words of the command, as the answer to a push with these options shows it. */
function commandFor(...pushOptions: readonly string[]): string {
  const parsed = parsePushOptions(pushOptions);
  const refusal = review(...refusedOptions(faultsIn(parsed)));
  expect(isMendable(refusal)).toBe(true);
  const run = {
    settings: { remoteUrl: () => 'https://x.test', door: 'git' },
    target: {},
  } as unknown as PushRun;
  const command = { oldId: '0'.repeat(40), newId: 'a'.repeat(40), refName: 'refs/heads/main' };
  const pushed = { options: parsed.options, taken: { command } } as unknown as Pushed;
  const { prHash, prKey } = parsed.options;
  const isSame = needsOnlyOptions(refusal);
  const needs = refusal.all.flatMap((each) => each.needs);
  return repeatCommand(run, pushed, { prHash, prKey, isSame }, needs);
}

it.each([
  [['dry-run'], '-o preview'],
  [['previw'], '-o preview'],
  [['sqash', 'drft'], '-o squash -o draft'],
  [['dealy=2h'], "-o 'delay=<value>'"],
  [['delay=1h', 'delay=2h'], "-o 'delay=<value>'"],
  [['prhash=0123456789ab'], "-o 'pr-hash=<value>'"],
])('has a command with what %j means, which pushes the same commits', (given, words) => {
  expect(commandFor(...given)).toBe(`git push ${words} https://x.test aaaaaaaaaaaa:refs/heads/main`);
});

it.each([['titel=A'], ['title=A', 'title=B'], ['publish-names=false'], ['sign-off=no'], ['drft=0']])(
  'has no command for %s, which might publish something else than was meant',
  (...given) => {
    expect(isMendable(review(...refusedOptions(faultsIn(parsePushOptions(given)))))).toBe(false);
  },
);

it('has a command with each option once, as the last reason names it, and what is checked out if commits change', () => {
  const run = {
    settings: { remoteUrl: () => 'https://x.test', door: 'git' },
    target: {},
  } as unknown as PushRun;
  const command = { oldId: '0'.repeat(40), newId: 'a'.repeat(40), refName: 'refs/heads/main' };
  const { options } = parsePushOptions([]);
  const pushed = { options, taken: { command } } as unknown as Pushed;
  const again = { prHash: null, prKey: null, isSame: needsOnlyOptions(review(NAMES, SIGN_OFF)) };
  expect(repeatCommand(run, pushed, again, ['issue=<value>', 'sign-off', 'issue=<number>'])).toBe(
    "git push -o 'issue=<number>' -o sign-off https://x.test HEAD:refs/heads/main",
  );
});
