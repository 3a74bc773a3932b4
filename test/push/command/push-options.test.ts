/** `git push -o`: what the options ask for, and what is no option of ours. */
import { describe, expect, it } from 'vitest';
import { parsePushOptions, type PushOptions, workBranch } from '../../../src/push/command/push-options.ts';

const HASH = '0123456789ab';
const KEY = '0123456789abcdef0123456789abcdef';
const NONE: PushOptions = {
  prHash: null,
  prKey: null,
  title: null,
  description: null,
  base: null,
  squash: false,
  preview: false,
  publishNames: false,
  warnings: [],
};

describe('parsePushOptions', () => {
  it.each<[string[], Partial<PushOptions>]>([
    [[], {}],
    [[`pr-hash=${HASH}`], { prHash: HASH }],
    [['pr-hash=0123ABCD'], { prHash: '0123abcd' }],
    [[`pr-hash=${'a'.repeat(40)}`], { prHash: 'a'.repeat(40) }],
    [[`pr-hash=${HASH}`, `pr-hash=${HASH}`], { prHash: HASH }],
    [[`pr-key=${KEY.toUpperCase()}`], { prKey: KEY }],
    [['title=Grüße = 🐙'], { title: 'Grüße = 🐙' }],
    [[`title=${'🐙'.repeat(256)}`], { title: '🐙'.repeat(256) }],
    [['description='], { description: '' }],
    [['base=release/1.x', 'squash'], { base: 'release/1.x', squash: true }],
    [['squash=true'], { squash: true }],
  ])('reads %j', (options, expected) => {
    expect(parsePushOptions(options)).toEqual({ kind: 'valid', options: { ...NONE, ...expected } });
  });

  it.each<[rule: string, options: string[]]>([
    [
      'pr-hash must be 8 to 40 hexadecimal characters, as the banner shows it',
      ['pr-hash', 'pr-hash=', 'pr-hash=0123456', `pr-hash=${'a'.repeat(41)}`, 'pr-hash=0123456g'],
    ],
    [
      'pr-hash must be 8 to 40 hexadecimal characters, as the banner shows it',
      ['pr-hash= 01234567', 'pr-hash=01234567\n', 'pr-hash=../../../../x', 'pr-hash=0123é567'],
    ],
    ['pr-key must be 32 hexadecimal characters, as the banner showed it', ['pr-key', `pr-key=${HASH}`]],
    [
      'title must be one line of 1 to 256 characters',
      ['title', 'title=', 'title= ', `title=${'x'.repeat(257)}`, 'title=a\0b', 'title=a\u0085b'],
    ],
    [
      'description must be one line of at most 4000 characters',
      ['description', 'description=\u001b[2J', `description=${'x'.repeat(4001)}`],
    ],
    [
      'base must be the name of a branch',
      ['base', 'base=', 'base=a..b', 'base=a b', 'base=x.lock', 'base=/x'],
    ],
    ['squash takes no value', ['squash=no', 'squash=']],
  ])('refuses with a sentence that shows nothing of the value: %s', (message, options) => {
    for (const option of options) expect(parsePushOptions([option])).toEqual({ kind: 'invalid', message });
  });

  it.each([
    [[`pr-hash=${HASH}`, 'pr-hash=ffffffff'], 'pr-hash'],
    [['title=One', 'title=Two'], 'title'],
  ])('refuses two answers to one question: %j', (options, name) => {
    const message = `${name} is given twice with different values: give it once`;
    expect(parsePushOptions(options)).toEqual({ kind: 'invalid', message });
  });

  it.each(['ci.skip', 'draft=true', 'PR-HASH=01234567', 'pr-hash-x=01234567', 'constructor=x', '', '='])(
    'warns of %j without repeating it, and goes on',
    (option) => {
      const result = parsePushOptions([option, `pr-hash=${HASH}`]);
      const warnings = [expect.stringContaining('pr-hash=<hash>') as string];
      expect(result).toEqual({ kind: 'valid', options: { ...NONE, prHash: HASH, warnings } });
    },
  );
});

describe('workBranch', () => {
  it('is named after the pr-hash', () => {
    expect(workBranch(HASH)).toBe(`anon-${HASH}`);
  });
});
