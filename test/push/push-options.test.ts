/** `git push -o`: the pull request to update, and what is no option of ours. */
import { describe, expect, it } from 'vitest';
import { parsePushOptions, workBranch } from '../../src/push/push-options.ts';

const HASH = '0123456789ab';

describe('parsePushOptions', () => {
  it.each([
    [[], null],
    [[`pr-hash=${HASH}`], HASH],
    [['pr-hash=0123ABCD'], '0123abcd'],
    [['pr-hash=01234567'], '01234567'],
    [[`pr-hash=${'a'.repeat(40)}`], 'a'.repeat(40)],
    [[`pr-hash=${HASH}`, `pr-hash=${HASH}`], HASH],
  ])('reads the pr-hash of %j', (options, prHash) => {
    expect(parsePushOptions(options)).toEqual({ kind: 'valid', options: { prHash, warnings: [] } });
  });

  it.each([
    ['pr-hash'],
    ['pr-hash='],
    ['pr-hash=0123456'],
    [`pr-hash=${'a'.repeat(41)}`],
    ['pr-hash=0123456g'],
    ['pr-hash= 01234567'],
    ['pr-hash=01234567\n'],
    ['pr-hash=../../../../x'],
    ['pr-hash=0123é567'],
  ])('refuses %j with a sentence that shows none of it', (option) => {
    const result = parsePushOptions([option]);
    expect(result).toEqual({
      kind: 'invalid',
      message: 'pr-hash must be 8 to 40 hexadecimal characters, as the banner shows it',
    });
  });

  it('refuses two pull requests at once', () => {
    expect(parsePushOptions([`pr-hash=${HASH}`, 'pr-hash=ffffffff'])).toMatchObject({ kind: 'invalid' });
  });

  it.each(['ci.skip', 'draft=true', 'PR-HASH=01234567', 'pr-hash-x=01234567', '', '='])(
    'warns of %j without repeating it, and goes on',
    (option) => {
      const result = parsePushOptions([option, `pr-hash=${HASH}`]);
      expect(result).toEqual({
        kind: 'valid',
        options: { prHash: HASH, warnings: [expect.stringContaining('pr-hash=<hash>') as string] },
      });
    },
  );
});

describe('workBranch', () => {
  it('is named after the pr-hash', () => {
    expect(workBranch(HASH)).toBe(`anon-${HASH}`);
  });
});
