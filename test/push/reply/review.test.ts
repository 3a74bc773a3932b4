/** Lines on the terminal about a push that is refused: all of it, and the command that passes. */
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../src/push/judge/findings.ts';
import { Refusal } from '../../../src/push/reply/refusal.ts';
import { allLines, isMendable, reviewLines } from '../../../src/push/reply/review.ts';
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
    const refusal = review(...warn('people', 'Bob'), SIGN_OFF, NAMES);
    expect(reviewLines(refusal, COMMAND)).toEqual([
      '',
      'This push is refused for 2 reasons:',
      '1. A sign-off is required.',
      '   Sign it.',
      '2. Your name would become public.',
      '   Ada',
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
    expect(lines.slice(-3)).toEqual(['14. Fault 13.', 'and for 986 more.', '']);
  });

  it('is told in a form without a layout, and what refuses it beside the first reason', () => {
    expect(allLines(review(SIGN_OFF, NAMES, ...warn('people', 'Bob')))).toEqual([
      'Sign it.',
      'Your name would become public.',
      'Ada',
      'Bob',
    ]);
  });
});

it('has a command only where something changes, and all of it can be mended', () => {
  const archived = new Refusal('archived', 'the repository is archived', []);
  const option = new Refusal('options', 'overwrite cannot wait', []);
  expect(isMendable(SIGN_OFF, false)).toBe(true);
  expect(isMendable(review(NAMES, SIGN_OFF), false)).toBe(true);
  expect(isMendable(option, true)).toBe(true);
  for (const refusal of [NAMES, option, review(SIGN_OFF, archived)])
    expect(isMendable(refusal, false)).toBe(false);
});
